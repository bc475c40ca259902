/**
 * Faults of a run, and what the responses show of each. Its effect lasts from its begin to ten
 * seconds after its end, or to the next fault. The times outside of all effects are the comparison.
 */
import type { Histogram } from './bundled/hdr.js';
import type { FaultPlan } from './options.js';
import {
  areaBetween,
  newHistogram,
  record,
  type Timed,
  toScore,
  type Usual,
} from './percentiles.js';
import type { LoadResult } from './result.js';

/*
 * Recovery: the rate before an outage is the mean of the last ten seconds before it, and of at
 * least one. It is regained at the start of the first second that reaches 90 % of it.
 */
export const PACE = { beforeMs: 10_000, leastMs: 1_000, share: 0.9, bucketMs: 100 };

/** Counts of transactions or arrivals in buckets of 100 ms. */
export class Counts {
  readonly #startMs: () => number;
  readonly #buckets: number[] = [];

  constructor(startMs: () => number) {
    this.#startMs = startMs;
  }

  add(atMs: number, count: number): void {
    const index = this.#bucketAt(atMs);
    while (this.#buckets.length <= index) this.#buckets.push(0);
    this.#buckets[index]! += count;
  }

  /** Returns the rate per second, or null if the time is too short. */
  perS(fromMs: number, toMs: number): number | null {
    const [from, to] = [this.#bucketAt(fromMs), this.#bucketAt(toMs)];
    if ((to - from) * PACE.bucketMs < PACE.leastMs) return null;
    return this.#sum(from, to) / (((to - from) * PACE.bucketMs) / 1_000);
  }

  /** Returns the start of the first second with this rate, or null. */
  regained(perS: number, fromMs: number, toMs: number): number | null {
    const second = 1_000 / PACE.bucketMs;
    const last = this.#bucketAt(toMs) - second;
    for (let index = this.#bucketAt(fromMs); index <= last; index += 1) {
      if (this.#buckets[index] && this.#sum(index, index + second) >= perS) {
        return this.#startMs() + index * PACE.bucketMs;
      }
    }
    return null;
  }

  #bucketAt(atMs: number): number {
    return Math.max(0, Math.floor((atMs - this.#startMs()) / PACE.bucketMs));
  }

  #sum(from: number, to: number): number {
    return this.#buckets.slice(from, to).reduce((all, one) => all + one, 0);
  }
}

/** Longest time after a fault that still counts as its effect. */
const SETTLE_MS = 10_000;

/** A planned fault of a load run or of a simulation. */
interface Plan extends Pick<FaultPlan, 'name' | 'server' | 'atMs' | 'durationMs'> {
  action: string;
}

interface Fault extends Plan {
  startMs: number;
  endMs: number;
  /** End of its effect. */
  untilMs: number;
  times: Histogram;
  arrivals: number;
  failed: number;
  /** Last accepted response of its time, and the longest time without one. */
  respondedMs: number;
  gapMs: number;
  /** Accepted arrivals that were scheduled after its end. */
  after: Counts;
}

export class FaultRecord {
  readonly #faults: readonly Fault[];
  readonly #window: Readonly<{ startMs: number; endMs: number }>;
  readonly #usual = newHistogram();

  /** @param begunMs start of the run, from which the times of faults count. */
  constructor(
    plans: readonly Plan[],
    begunMs: number,
    window: { startMs: number; endMs: number },
    settleMs = SETTLE_MS,
  ) {
    const sorted = [...plans].sort((a, b) => a.atMs - b.atMs);
    this.#window = window;
    this.#faults = sorted.map((plan, index) => {
      const startMs = begunMs + plan.atMs;
      const nextMs = begunMs + (sorted[index + 1]?.atMs ?? Number.POSITIVE_INFINITY);
      const endMs = startMs + plan.durationMs;
      return {
        ...{ ...plan, startMs, endMs, untilMs: Math.min(nextMs, endMs + settleMs) },
        ...{ times: newHistogram(), arrivals: 0, failed: 0, respondedMs: startMs, gapMs: 0 },
        after: new Counts(() => endMs),
      };
    });
  }

  /** Records an arrival of the measured time. */
  completed(accepted: boolean, intendedMs: number, atMs: number): void {
    if (this.#faults.length === 0) return;
    if (accepted) this.#responded(intendedMs, atMs);
    const own = this.#at(intendedMs);
    if (accepted) record(own?.times ?? this.#usual, atMs - intendedMs);
    if (!own) return;
    own.arrivals += 1;
    if (!accepted) own.failed += 1;
  }

  get failed(): number {
    return this.#faults.reduce((sum, { failed }) => sum + failed, 0);
  }

  /** @param base times without the faults (default: those of the run outside of their effects) */
  result(all: readonly Timed[], stoppedMs: number, base?: Usual): Pick<LoadResult, 'faults'> {
    if (this.#faults.length === 0) return {};
    const { startMs } = this.#window;
    const own = all.filter(({ second }) => !this.#at(startMs + (second + 0.5) * 1_000));
    const usual = base ?? { seconds: own, times: this.#usual };
    return { faults: this.#faults.map((one) => this.#describe(one, usual, stoppedMs)) };
  }

  #describe(fault: Fault, usual: Usual, stoppedMs: number) {
    const { seconds } = usual;
    const accepted = seconds.reduce((sum, one) => sum + one.accepted, 0);
    const perS = accepted / Math.max(1, seconds.length);
    const { times, after, endMs, respondedMs, gapMs } = fault;
    const untilMs = Math.min(fault.untilMs, this.#window.endMs, stoppedMs);
    const since = (ms: number) => Math.round(ms - this.#window.startMs);
    const lastMs = Math.max(0, untilMs - respondedMs);
    // Responses are sparse at low rates, so a short time without one says nothing.
    const recoveredMs = perS > 0 ? after.regained(PACE.share * perS, endMs, untilMs) : null;
    const isKnown = times.totalCount > 0 && usual.times.totalCount > 0;
    const ms = isKnown ? areaBetween(usual.times, times) : null;
    const sizes = { seconds: (untilMs - fault.startMs) / 1_000, count: times.totalCount };
    return {
      ...{ name: fault.name, action: fault.action, server: fault.server },
      ...{ start_ms: since(fault.startMs), end_ms: since(endMs), until_ms: since(untilMs) },
      ...{ arrivals: fault.arrivals, errors: fault.failed },
      downtime_ms: Math.round(Math.max(gapMs, lastMs)),
      recovery_ms: recoveredMs === null ? null : Math.round(Math.max(0, recoveredMs - endMs)),
      sensitivity: ms === null ? null : toScore(ms, usual, sizes),
    };
  }

  /** Fault whose effect an arrival of this time shows. */
  #at(ms: number): Fault | undefined {
    return this.#faults.find(({ startMs, untilMs }) => ms >= startMs && ms < untilMs);
  }

  #responded(intendedMs: number, atMs: number): void {
    const fault = this.#at(atMs);
    if (!fault) return;
    fault.gapMs = Math.max(fault.gapMs, atMs - fault.respondedMs);
    fault.respondedMs = atMs;
    if (intendedMs >= fault.endMs) fault.after.add(atMs, 1);
  }
}
