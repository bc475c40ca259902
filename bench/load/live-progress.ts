/** Progress of a load run, from its hooks. Figures are computed only for a requested snapshot. */
import type { LoadPhase, LoadState } from '../../api/contract/load.js';
import { describeOptions } from './findings.js';
import { createState, type KnownRun, toLoadState } from './model.js';
import type { LoadOptions } from './options.js';
import type { Bracket, LoadResult, Probe } from './result.js';
import type { LoadProgress } from './run.js';
import type { SaturateHooks } from './saturation.js';

interface WatchedOptions {
  load: LoadOptions;
  /** URL of the network's explorer; null if unknown. */
  page: string | null;
  /** Search settings; null unless the run searches for the highest rate. */
  search: { slo: string[]; repeat: number } | null;
  onChange(): void;
}

const LEAST_S = 1;

export class LiveProgress {
  readonly #options: WatchedOptions;
  /** Probes of each bracket. */
  readonly #probes: Probe[][] = [];
  #server: LoadResult['server'];
  #rate: number | null = null;
  #phase: LoadPhase = 'preparing';
  #said = '';
  #progress: LoadProgress | null = null;
  #over: LoadState | null = null;

  constructor(options: WatchedOptions) {
    const { url } = options.load;
    this.#options = options;
    this.#server = {
      ...{ url, version: null, limits_profile: null },
      ...{ durable: null, network_id: null, epoch: null },
    };
  }

  readonly hooks: Required<
    Pick<SaturateHooks, 'onTarget' | 'onPreparing' | 'onSecond' | 'onProbing' | 'onProbe'>
  > = {
    onTarget: (server) => {
      this.#server = server;
      this.#progress = null;
      this.prepares('');
    },
    onPreparing: (line) => this.prepares(line),
    onSecond: (progress) => {
      this.#progress = progress;
      this.#is(progress.phase, '');
    },
    onProbing: (rate) => {
      this.#rate = rate;
      this.prepares('checking the server');
    },
    onProbe: (probe, bracket, leftMs) => {
      this.#probes[bracket] = [...(this.#probes[bracket] ?? []), probe];
      this.#rate = null;
      this.#progress = null;
      const seconds = Math.ceil(leftMs / 1_000);
      this.prepares(`waiting until other programs leave the CPU idle; about ${seconds} s left`);
    },
  };

  waits(): void {
    this.#is('waiting', '');
  }

  prepares(what: string): void {
    this.#is('preparing', what);
  }

  over(result: LoadResult): void {
    this.#over = toLoadState(result, this.#options.page);
    this.#options.onChange();
  }

  failed({ message }: Error): void {
    this.#progress = null;
    this.#is('failed', message);
  }

  get state(): LoadState {
    if (this.#over) return this.#over;
    const { load, page, search } = this.#options;
    const soFar = this.#progress?.phase === 'warm-up' ? null : (this.#progress?.soFar() ?? null);
    const known = soFar !== null && soFar.measured_s >= LEAST_S;
    const asked = {
      ...describeOptions(load),
      ...(this.#rate === null ? {} : { rate: this.#rate }),
    };
    const bracket = Math.max(1, this.#probes.length);
    return createState({ asked, server: this.#server, saturation: this.#search() }, soFar, {
      ...{ phase: this.#phase, said: this.#said, ...this.#time(), page },
      ...{ judged: known ? soFar : null, ended: null },
      search: search && { bracket, repeat: search.repeat, rate: this.#rate },
    });
  }

  #is(phase: LoadPhase, said: string): void {
    this.#phase = phase;
    this.#said = said;
    this.#options.onChange();
  }

  #time(): Pick<LoadState, 'passed_ms' | 'of_ms'> {
    const { warmupMs, durationMs } = this.#options.load;
    const elapsedMs = this.#progress?.elapsedMs ?? 0;
    if (this.#phase === 'warm-up') return { passed_ms: elapsedMs + warmupMs, of_ms: warmupMs };
    if (this.#phase === 'measured') {
      return { passed_ms: Math.min(elapsedMs, durationMs), of_ms: durationMs };
    }
    const passed_ms = this.#phase === 'draining' ? Math.max(0, elapsedMs - durationMs) : null;
    return { passed_ms, of_ms: null };
  }

  #search(): KnownRun['saturation'] {
    const { search } = this.#options;
    return search && { slo: search.slo, brackets: this.#probes.map(bracketOf), overlap: null };
  }
}

/** Returns the range that the probes so far leave. */
function bracketOf(probes: Probe[]): Bracket {
  const rates = (held: boolean) =>
    probes.filter(({ holds }) => holds === held).map(({ rate }) => rate);
  const holds = Math.max(0, ...rates(true));
  const above = rates(false).filter((rate) => rate > holds);
  const fails = above.length > 0 ? Math.min(...above) : null;
  return { holds, fails, unstable: false, probes };
}
