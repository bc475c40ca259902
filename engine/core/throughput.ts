/** Transactions finalized in the last minute of engine time, and when to report the rate next. */
import { limits } from '../protocol/limits.js';

export interface FinalizedCount {
  at: number;
  count: number;
}

/** Per second, two decimals, over (now - window, now]. */
export function computeTps(recent: readonly FinalizedCount[], now: number): number {
  const after = now - limits.throughputWindowMs;
  const sum = recent.reduce((all, { at, count }) => (at > after ? all + count : all), 0);
  return Math.trunc((sum * 100) / (limits.throughputWindowMs / 1000)) / 100;
}

export class Throughput {
  /** Replaced, never changed: a committed view keeps the one of its time. */
  recent: readonly FinalizedCount[] = [];

  /** Times never descend; what is finalized at one instant is kept as one. */
  add(at: number, count: number): void {
    if (count === 0) return;
    const kept = this.recent.filter((one) => one.at > at - limits.throughputWindowMs);
    const last = kept.at(-1)?.at === at ? kept.pop() : undefined;
    this.recent = [...kept, { at, count: count + (last?.count ?? 0) }];
  }

  /**
   * The next report at or after `from`: the next multiple of the interval, or the instant at which
   * the rate becomes zero when that is sooner; 0 when the rate is zero and has been told so.
   */
  nextReport(from: number): number {
    const last = this.recent.at(-1);
    const zeroAt = (last?.at ?? 0) + limits.throughputWindowMs;
    if (!last || zeroAt <= from) return 0;
    const interval = limits.metricsIntervalMs;
    return Math.min(Math.ceil(from / interval) * interval, zeroAt);
  }
}
