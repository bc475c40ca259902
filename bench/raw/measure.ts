/** How rates are measured: benchmark.js repeats the work, each time on an item it never had. */
import Benchmark from 'benchmark';

// It would compile our functions from their text, far from what they refer to.
Benchmark.support.decompilation = false;

export interface Rate {
  /** By the clock, on one thread. */
  perSecond: number;
  /** CPU time of each, microseconds: hardly moved by other programs. */
  cpuUs: number;
}

/**
 * How often a second `work` is done, and what it costs.
 * @param prepare makes the items of one sample, outside of the measured time: nothing is worked on
 * twice, so no result comes out of a cache.
 */
export function rateOf<T>(
  prepare: (count: number) => readonly T[],
  work: (item: T) => unknown,
  seconds = 0.3,
): Rate {
  let items: readonly T[] = [];
  let next = 0;
  let done = 0;
  let cpu = 0;
  let before = process.cpuUsage();
  const measured = new Benchmark({
    maxTime: seconds,
    setup(this: Benchmark) {
      items = prepare(this.count);
      next = 0;
      before = process.cpuUsage();
    },
    fn() {
      work(items[next++]!);
    },
    teardown() {
      cpu += cpuSeconds(process.cpuUsage(before));
      done += next;
    },
  });
  measured.run();
  // benchmark.js keeps what was thrown for itself.
  if (measured.error) throw measured.error;
  return { perSecond: measured.hz, cpuUs: (1e6 * cpu) / done };
}

/** The same on a few items in turn, again and again: for work that remembers nothing. */
export function rateOver<T>(
  items: readonly T[],
  work: (item: T) => unknown,
  seconds: number,
): Rate {
  const around = (count: number) =>
    Array.from({ length: count }, (_, at) => items[at % items.length]!);
  return rateOf(around, work, seconds);
}

/** How long work that waits takes, with the CPU time of all threads; both in seconds. */
export async function timed(work: () => Promise<void>): Promise<{ wall: number; cpu: number }> {
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  await work();
  const wall = (performance.now() - start) / 1000;
  return { wall, cpu: cpuSeconds(process.cpuUsage(cpuBefore)) };
}

export const cpuSeconds = ({ user, system }: { user: number; system: number }): number =>
  (user + system) / 1e6;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}
