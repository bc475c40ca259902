/** Transactions finalized in the last minute of engine time, and the time of the next report. */
import { limits } from '../protocol/limits.js';

export interface FinalizedCount {
  at: number;
  count: number;
}

/** Computes transactions per second over (now - window, now], truncated to two decimals. */
export function computeTps(recent: readonly FinalizedCount[], now: number): number {
  const after = now - limits.throughputWindowMs;
  const sum = recent.reduce((all, { at, count }) => (at > after ? all + count : all), 0);
  return Math.trunc((sum * 100) / (limits.throughputWindowMs / 1000)) / 100;
}

export class Throughput {
  /** Replaced, never mutated, because committed views keep a reference to the array. */
  recent: readonly FinalizedCount[] = [];

  /** Adds a count. Times never decrease, and counts for the same instant are merged. */
  add(at: number, count: number): void {
    if (count === 0) return;
    const kept = this.recent.filter((one) => one.at > at - limits.throughputWindowMs);
    const last = kept.at(-1)?.at === at ? kept.pop() : undefined;
    this.recent = [...kept, { at, count: count + (last?.count ?? 0) }];
  }

  /**
   * Returns the time of the next report at or after `from`: the next multiple of the interval, or
   * the instant at which the rate drops to zero if that is sooner. Returns 0 if the rate is zero
   * and a report has said so.
   */
  nextReport(from: number): number {
    const last = this.recent.at(-1);
    const zeroAt = (last?.at ?? 0) + limits.throughputWindowMs;
    if (!last || zeroAt <= from) return 0;
    const interval = limits.metricsIntervalMs;
    return Math.min(Math.ceil(from / interval) * interval, zeroAt);
  }
}
