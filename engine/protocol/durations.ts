/** Counts of durations by size, for metrics. Cheap enough for every request. */

/** Upper bounds of the buckets, in ms. A last bucket counts all longer durations. */
export const durationBoundsMs = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000,
] as const;

/** Number of durations by size, and their sum. */
export class Durations {
  /**
   * Number of durations in each bucket: those above the previous bucket's bound, up to and
   * including the bucket's own bound.
   */
  readonly counts: number[] = new Array(durationBoundsMs.length + 1).fill(0);
  /** Sum of all durations, in milliseconds. */
  sumMs = 0;

  /** Counts a duration. */
  add(ms: number): void {
    let bucket = 0;
    while (bucket < durationBoundsMs.length && ms > durationBoundsMs[bucket]!) bucket += 1;
    this.counts[bucket]! += 1;
    this.sumMs += ms;
  }

  /** Adds all durations of `other`. */
  merge(other: Durations): void {
    for (const [bucket, count] of other.counts.entries()) this.counts[bucket]! += count;
    this.sumMs += other.sumMs;
  }
}
