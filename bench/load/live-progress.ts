/**
 * Progress of a load run in flight. Collects hook calls, and builds a snapshot when the page
 * requests one. Figures are computed only for a snapshot.
 */
import type { LoadPhase, LoadSearch, LoadState } from '../../api/contract/load.js';
import { wholeSeconds } from './figures.js';
import { describeOptions } from './measurement.js';
import type { LoadOptions } from './options.js';
import {
  type BracketSearch,
  cutText,
  Steps,
  toBrackets,
  toLoadFigures,
  toLoadState,
  toLoadTarget,
  toLoadVerdict,
  toProbes,
} from './page-data.js';
import type { LoadResult, Probe } from './result.js';
import type { LoadProgress } from './run.js';
import type { SaturateHooks } from './saturation.js';

interface WatchedOptions {
  load: LoadOptions;
  /** URL of the network's explorer; null if unknown. */
  page: string | null;
  /** Search settings; null unless the run searches for the highest rate. */
  search: { slo: string[]; repeat: number } | null;
  /** Called when a new snapshot is available. */
  onChange(): void;
}

/** Minimum measured time for meaningful figures. */
const LEAST_S = 1;

export class LiveProgress {
  readonly #options: WatchedOptions;
  readonly #probes: BracketSearch[] = [];
  #server: LoadResult['server'];
  #rate: number | null = null;
  #r: number | null = null;
  #phase: LoadPhase = 'preparing';
  #said = '';
  #progress: LoadProgress | null = null;
  #steps = new Steps();
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
      this.#steps = new Steps();
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
    onProbe: (probe, bracket) => {
      this.#probes.push({ probe, bracket: bracket + 1 });
      this.#rate = null;
      this.#r = probe.r_after;
      this.#progress = null;
      this.prepares('waiting until other programs leave the CPU idle');
    },
  };

  waits(): void {
    this.#is('waiting', '');
  }

  prepares(what: string): void {
    this.#is('preparing', what);
  }

  measured(r: number | null): void {
    this.#r = r;
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
    const { load, page } = this.#options;
    const soFar = this.#progress?.phase === 'warm-up' ? null : (this.#progress?.soFar() ?? null);
    const known = soFar !== null && soFar.measured_s >= LEAST_S;
    return {
      ...{ phase: this.#phase, said: cutText(this.#said), ...this.#time() },
      asked: { ...describeOptions(load), ...(this.#rate === null ? {} : { rate: this.#rate }) },
      server: toLoadTarget(this.#server, page),
      r: soFar?.r ?? this.#r,
      verdict: known ? toLoadVerdict(soFar, null) : null,
      figures: soFar && toLoadFigures(soFar, this.#steps.of(wholeSeconds(soFar))),
      search: this.#search(),
    };
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

  #search(): LoadSearch | null {
    const { search } = this.#options;
    if (!search) return null;
    const brackets = rangesOf(this.#probes);
    return {
      ...search,
      rate: this.#rate,
      brackets: toBrackets(brackets),
      ...toProbes(this.#probes),
    };
  }
}

function rangesOf(all: readonly BracketSearch[]): { holds: number; fails: number | null }[] {
  const last = all.at(-1)?.bracket ?? 0;
  return Array.from({ length: last }, (_, index) => {
    const probes = all.filter(({ bracket }) => bracket === index + 1).map(({ probe }) => probe);
    const rates = (held: boolean) =>
      probes.filter(({ holds }) => holds === held).map(({ rate }: Probe) => rate);
    const holds = Math.max(0, ...rates(true));
    const above = rates(false).filter((rate) => rate > holds);
    return { holds, fails: above.length > 0 ? Math.min(...above) : null };
  });
}
