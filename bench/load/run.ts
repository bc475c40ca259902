/** One load run. Every wait has a deadline, and events that were not seen are not counted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { abortAfter } from '../../api/client/http.js';
import { judge, type Threshold } from './conditions.js';
import { peak } from './executors.js';
import { type Clocks, createResult, type Findings, resultSoFar } from './findings.js';
import { Measurement, type MeasurementHooks } from './measurement.js';
import { loadError, note } from './messages.js';
import {
  type LoadOptions,
  type QuotaUse,
  scenariosOf,
  serversOf,
  sharesOf,
  signsIn,
} from './options.js';
import type { LoadResult, Second } from './result.js';
import { readClock, readTarget, readTargets, type Target } from './server.js';
import { Workload } from './workloads/mix.js';

export interface LoadProgress {
  phase: 'warm-up' | 'measured' | 'draining';
  /** Milliseconds since the start of the measured time; negative during the warm-up. */
  elapsedMs: number;
  second: Second | null;
  /**
   * Computes the result as if all open requests succeeded, without means, histograms and halves.
   */
  soFar(): LoadResult;
}

export interface LoadHooks extends MeasurementHooks {
  onTarget?(server: LoadResult['server']): void;
  /** Reports slow steps before the warm-up. */
  onPreparing?(line: string): void;
  /** Called once per second from the warm-up on. */
  onSecond?(progress: LoadProgress): void;
  /** Ends the run early, with the figures measured so far. */
  signal?: AbortSignal;
  commit?: string;
  r?: number | null;
  /** Conditions that can end the run. */
  thresholds?: readonly Threshold[];
}

/** Extra wait after the longest deadline, so that every missed deadline is detected. */
const GRACE_MS = 500;
const INTERRUPTED_MS = 1_000;
/** Time before the start at which a generator begins its schedule. */
const EARLY_MS = 5;
/** Time limit for a workload's `close`, which sets the agents inactive. */
const CLOSE_MS = 10_000;

/** @throws {Failure} if the run cannot start: no server, or rate limits below the load. */
export async function runLoad(options: LoadOptions, hooks: LoadHooks = {}): Promise<LoadResult> {
  const target = await readTargets(serversOf(options), signsIn(options));
  hooks.onTarget?.(target.server);
  assertQuotas(target, options);
  const run = new Run(options, hooks, target);
  try {
    await run.prepare();
    await run.awaitStart();
    await run.measure();
    await run.drain();
    await run.assertEpoch();
    await run.readClockAfter();
    run.noteAgents();
    return run.result();
  } finally {
    await run.close();
  }
}

class Run {
  readonly #options: LoadOptions;
  readonly #hooks: LoadHooks;
  readonly #target: Target;
  readonly #workload: Workload;
  readonly #measurement: Measurement;
  readonly #end = new AbortController();
  #ended: LoadResult['ended'] = 'complete';
  #notes: string[] = [];
  #subscribers = 0;
  readonly #clocks: Clocks = { before: null, after: null };

  constructor(options: LoadOptions, hooks: LoadHooks, target: Target) {
    this.#options = options;
    this.#hooks = hooks;
    this.#target = target;
    this.#workload = new Workload(options);
    this.#measurement = new Measurement(options, hooks, ({ text }) => this.#fail(text));
    if (hooks.signal?.aborted) this.#interrupt();
    hooks.signal?.addEventListener('abort', this.#interrupt);
  }

  async prepare(): Promise<void> {
    const context = this.#measurement.context((reason) => this.#fail(reason));
    const preparing = this.#workload.prepare(context, (line) => this.#hooks.onPreparing?.(line));
    const prepared = await Promise.race([preparing, aborted(this.#end.signal)]);
    if (prepared === null || this.#end.signal.aborted) {
      throw loadError('NOTHING_MEASURED', { reason: this.#notes.join('; ') });
    }
    this.#subscribers = prepared;
  }

  /** Waits for the common start of several generators. @throws {Failure} `START_MISSED` */
  async awaitStart(): Promise<void> {
    const { shard, url } = this.#options;
    if (!shard) return;
    this.#clocks.before = await readClock(url);
    const leftMs = shard.startAtMs - Date.now();
    if (leftMs < 0) throw loadError('START_MISSED', { late: (-leftMs / 1_000).toFixed(1) });
    this.#hooks.onPreparing?.(`ready; the run starts in ${(leftMs / 1_000).toFixed(1)} s`);
    await sleep(Math.max(0, leftMs - EARLY_MS), null, { signal: this.#end.signal }).catch(() => {});
  }

  async readClockAfter(): Promise<void> {
    const { shard, url } = this.#options;
    if (shard) this.#clocks.after = await readClock(url);
  }

  async measure(): Promise<void> {
    const reporting = setInterval(() => this.#report('measured'), 1000);
    try {
      await this.#measurement.run(this.#workload);
    } finally {
      clearInterval(reporting);
    }
  }

  async drain(): Promise<void> {
    const reporting = setInterval(() => this.#report('draining'), 1000);
    const isOver = this.#ended === 'complete' ? this.#end.signal : undefined;
    const stop = abortAfter(this.#drainMs(), isOver);
    const drained = [this.#workload.drain(stop), this.#measurement.answered(stop)];
    if (this.#ended !== 'failed') await Promise.race([Promise.all(drained), aborted(stop)]);
    clearInterval(reporting);
    this.#measurement.abandon();
  }

  /** Checks the epoch. A server that restarted with new data has lost the run's entries. */
  async assertEpoch(): Promise<void> {
    const { epoch } = this.#target.server;
    if (epoch === null || this.#ended !== 'complete') return;
    const reads = serversOf(this.#options).map(readTarget);
    const after = await Promise.any(reads).catch(
      ({ errors }: AggregateError) => errors[0] as Error,
    );
    if (after instanceof Error) {
      this.#notes.push(note('NO_META', { reason: after.message }).text);
    } else if (after.server.epoch !== epoch) {
      const values = { before: epoch, after: after.server.epoch ?? 'none' };
      this.#fail(note('EPOCH_CHANGED', values).text);
    }
  }

  /** Notes how to retire agents that the end of a failed run may not reach. */
  noteAgents(): void {
    const { seed, url, agents, keepAgents } = this.#options;
    const isGone = this.#ended === 'failed' || this.#measurement.isDown;
    if (!isGone || agents === 0 || keepAgents) return;
    this.#notes.push(note('AGENTS_LEFT', { seed, url }).text);
  }

  result(): LoadResult {
    this.#notes.push(...this.#workload.notes());
    return createResult(this.#findings());
  }

  #findings(): Findings {
    const { recorder, startedAt, utilization } = this.#measurement;
    const nowMs = performance.now();
    return {
      options: this.#options,
      held: this.#measurement.held,
      limit: (scenario, perS) => this.#workload.limit(scenario, perS),
      target: this.#target,
      ...{ recorder, startedAt },
      measuredMs: this.#measurement.measuredMs(nowMs),
      utilization,
      ...{ stoppedMs: nowMs, ended: this.#ended, clocks: this.#clocks, notes: this.#notes },
      ...{ subscribers: this.#subscribers, signed: this.#workload.signed() },
      ...{ commit: this.#hooks.commit ?? 'unknown', r: this.#hooks.r ?? null },
    };
  }

  async close(): Promise<void> {
    this.#hooks.signal?.removeEventListener('abort', this.#interrupt);
    await Promise.race([this.#workload.close(), sleep(CLOSE_MS, null, { ref: false })]);
    this.#measurement.close();
  }

  readonly #interrupt = () => this.#endEarly('interrupted', note('INTERRUPTED', {}).text);

  /** Ends the run if a threshold that can end it does not hold. */
  #checkThresholds(elapsedMs: number, soFar: () => LoadResult): void {
    const due = (this.#hooks.thresholds ?? []).filter(
      ({ abortOnFail, delayMs }) => abortOnFail && elapsedMs >= delayMs,
    );
    if (due.length === 0 || this.#ended !== 'complete') return;
    const result = { ...soFar(), ended: 'complete' } as const;
    const failed = due.flatMap(({ condition }) => judge(condition, result).met ?? []);
    if (failed.length === 0) return;
    const values = { seconds: (elapsedMs / 1_000).toFixed(1), reason: failed.join('; ') };
    this.#endEarly('interrupted', note('THRESHOLD_CROSSED', values).text);
  }

  #fail(reason: string): void {
    this.#endEarly('failed', reason);
  }

  #endEarly(ended: 'failed' | 'interrupted', why: string): void {
    if (this.#ended === 'failed') return;
    this.#ended = ended;
    this.#notes.push(why);
    this.#measurement.cut();
    this.#end.abort();
  }

  #drainMs(): number {
    if (this.#ended === 'interrupted') return INTERRUPTED_MS;
    return Math.max(this.#options.timeoutMs, this.#options.finalityTimeoutMs) + GRACE_MS;
  }

  #report(phase: 'measured' | 'draining'): void {
    const elapsedMs = performance.now() - this.#measurement.startMs;
    const { last: second } = this.#measurement.recorder;
    const shown = phase === 'measured' && elapsedMs < 0 ? 'warm-up' : phase;
    const soFar = () => resultSoFar(this.#findings(), phase === 'measured');
    if (shown === 'measured') this.#checkThresholds(elapsedMs, soFar);
    this.#hooks.onSecond?.({ phase: shown, elapsedMs, second, soFar });
  }
}

function aborted(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

/** @throws {Failure} `RATE_LIMITED`, with every limit that the run would exceed. */
export function assertQuotas({ server, perMinute }: Target, options: LoadOptions): void {
  const profile = server.limits_profile ?? 'unknown';
  const hits = usesOf(options).flatMap((use) => {
    const quota = perMinute[use.limit] ?? Number.POSITIVE_INFINITY;
    return use.perMinute > quota ? [quotaSentence(use, quota)] : [];
  });
  if (hits.length === 0) return;
  const option = profile === 'spec' ? '--limits bench or --limits off' : '--limits off';
  throw loadError('RATE_LIMITED', { profile, limits: hits.join('; '), option });
}

function quotaSentence({ limit, whom, perMinute }: QuotaUse, quota: number): string {
  const needed = Math.ceil(perMinute).toLocaleString('en-US');
  const each = (quota / 60).toLocaleString('en-US', { maximumFractionDigits: 2 });
  const allowed = `${quota.toLocaleString('en-US')} a minute (${each} a second)`;
  return `${limit}: ${needed} a minute from one ${whom} needed, ${allowed} allowed`;
}

/** Returns the peak use of each rate limit. Of a closed loop, only its registrations are known. */
function usesOf(options: LoadOptions): QuotaUse[] {
  const { agents, batch, durationMs, warmupMs } = options;
  const seconds = Math.min(60, (durationMs + warmupMs) / 1000);
  const register: QuotaUse = { limit: 'register', whom: 'address', perMinute: agents };
  const uses = scenariosOf(options).flatMap(({ plan, mix }) => {
    const perS = plan.of === 'arrivals' ? peak(plan) : 0;
    return sharesOf(mix).flatMap(({ share, row }) =>
      row.uses({ agents, batch, perMinute: share * perS * seconds }),
    );
  });
  return [...(signsIn(options) ? [register] : []), ...added(uses)];
}

function added(uses: readonly QuotaUse[]): QuotaUse[] {
  const sums = new Map<string, QuotaUse>();
  for (const use of uses) {
    const known = sums.get(use.limit)?.perMinute ?? 0;
    sums.set(use.limit, { ...use, perMinute: known + use.perMinute });
  }
  return [...sums.values()];
}
