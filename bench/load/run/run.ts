/**
 * One load run, from a look at the server to what was found. Whatever the server does, it ends:
 * each wait has a deadline, and what was not seen is not counted.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { LoadError } from '../error.js';
import type { LoadOptions } from '../options.js';
import type { LoadResult, Second } from '../result.js';
import { lookAt, type Target } from '../server/target.js';
import type { Prepared, Workload } from '../workload.js';
import { createWorkload } from '../workloads/index.js';
import { Measurement } from './measurement.js';
import { resultOf } from './outcome.js';
import { checkQuotas } from './quotas.js';

export interface LoadProgress {
  phase: 'warm-up' | 'measured' | 'draining';
  /** Since the measured time began; below zero in the warm-up. */
  elapsedMs: number;
  /** The last second of the measured time that is over. */
  second: Second | null;
}

export interface LoadHooks {
  onTarget?(server: LoadResult['server']): void;
  /** What takes long before the warm-up. */
  onPreparing?(line: string): void;
  /** Once a second from the warm-up on. */
  onSecond?(progress: LoadProgress): void;
  /** Ends the run early, with what was measured by then. */
  signal?: AbortSignal;
  /** Of folkmoot, for the result. */
  commit?: string;
  /** R, where it was measured before. */
  r?: number | null;
}

/** Beyond all deadlines, so that each is seen to pass. */
const GRACE_MS = 500;
/** How long answers are waited for after an interruption. */
const INTERRUPTED_MS = 1_000;
/** How long a workload may take to leave the network. */
const CLOSE_MS = 10_000;

/** @throws {LoadError} when it cannot begin: nobody answers, or the server's limits forbid it. */
export async function runLoad(options: LoadOptions, hooks: LoadHooks = {}): Promise<LoadResult> {
  const target = await lookAt(options.url);
  hooks.onTarget?.(target.server);
  checkQuotas(target, options);
  const run = new Run(options, hooks, await createWorkload(options));
  try {
    const prepared = await run.prepare();
    await run.measure();
    await run.drain();
    await run.checkEpoch(target);
    return run.result(target, prepared);
  } finally {
    await run.close();
  }
}

class Run {
  readonly #options: LoadOptions;
  readonly #hooks: LoadHooks;
  readonly #workload: Workload;
  readonly #measurement: Measurement;
  /** Aborted when the run must end early. */
  readonly #end = new AbortController();
  #ended: LoadResult['ended'] = 'complete';
  #notes: string[] = [];

  constructor(options: LoadOptions, hooks: LoadHooks, workload: Workload) {
    this.#options = options;
    this.#hooks = hooks;
    this.#workload = workload;
    this.#measurement = new Measurement(options, (forMs) => {
      const seconds = (forMs / 1000).toFixed(1);
      this.#fail(`the server is gone: nobody listened for ${seconds} s`);
    });
    if (hooks.signal?.aborted) this.#interrupt();
    hooks.signal?.addEventListener('abort', this.#interrupt);
  }

  async prepare(): Promise<Prepared> {
    const context = this.#measurement.context((reason) => this.#fail(reason));
    const preparing = this.#workload.prepare(context, (line) => this.#hooks.onPreparing?.(line));
    const prepared = await Promise.race([preparing, aborted(this.#end.signal)]);
    if (prepared && !this.#end.signal.aborted) return prepared;
    throw new LoadError(`nothing was measured: ${this.#notes.join('; ')}`);
  }

  async measure(): Promise<void> {
    const reporting = setInterval(() => this.#report('measured'), 1000);
    try {
      await this.#measurement.run(this.#workload);
    } finally {
      clearInterval(reporting);
    }
  }

  /** Waits for answers and finality, as long as deadlines allow. */
  async drain(): Promise<void> {
    const reporting = setInterval(() => this.#report('draining'), 1000);
    const hard = AbortSignal.timeout(this.#drainMs());
    const stop = this.#ended === 'complete' ? AbortSignal.any([this.#end.signal, hard]) : hard;
    const drained = [this.#workload.drain(stop), this.#measurement.answered(stop)];
    if (this.#ended !== 'failed') await Promise.race([Promise.all(drained), aborted(stop)]);
    clearInterval(reporting);
    this.#measurement.abandon();
  }

  /** A server that began anew in between has lost what was measured. */
  async checkEpoch({ server }: Target): Promise<void> {
    if (server.epoch === null || this.#ended !== 'complete') return;
    const { url, epoch } = server;
    const after = await lookAt(url).catch((error: Error) => error);
    if (after instanceof Error) this.#notes.push(`after the run, ${after.message}`);
    else if (after.server.epoch !== epoch) {
      this.#fail(`the server changed its epoch from ${epoch} to ${after.server.epoch}`);
    }
  }

  result(target: Target, { subscribers }: Prepared): LoadResult {
    const { recorder, startedAt, measuredMs, utilization } = this.#measurement;
    return resultOf({
      options: this.#options,
      target,
      recorder,
      startedAt,
      measuredMs,
      utilization,
      stoppedMs: performance.now(),
      ended: this.#ended,
      notes: this.#notes,
      subscribers,
      signed: this.#workload.signed(),
      commit: this.#hooks.commit ?? 'unknown',
      r: this.#hooks.r ?? null,
    });
  }

  async close(): Promise<void> {
    this.#hooks.signal?.removeEventListener('abort', this.#interrupt);
    await Promise.race([this.#workload.close(), delay(CLOSE_MS, null, { ref: false })]);
    this.#measurement.close();
  }

  readonly #interrupt = () => this.#endEarly('interrupted', 'it was interrupted');

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
    this.#hooks.onSecond?.({ phase: shown, elapsedMs, second });
  }
}

/** Resolves, with nothing, when the signal aborts. */
function aborted(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
