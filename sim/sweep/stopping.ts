/**
 * Stopping rule. A cell is tested at thirty runs, and again each time the number of runs has grown
 * by half. Each test is another chance to stop at an interval that is narrow by chance. For skewed
 * data, the mean of such a sample tends to be too low as well. With nominal 95 % intervals, 90 of
 * 100 cells with exponential data contained the mean. Two rules limit this effect:
 *
 * - The first test is late. The variance is then known well enough that nearly all cells stop
 *   at one of two adjacent tests.
 * - Intervals in such a sweep have the level 97.5 %, in its tests and in its tables (Bonferroni's
 *   inequality over two tests; see Jennison and Turnbull 1999, Group Sequential Methods).
 *
 * `npm run validate -- -t stopping` measures the coverage, which is at least 95 of 100. A test uses
 * all runs up to that test and nothing else, so its result does not depend on the number of jobs.
 */
import { LEVEL_95, LEVEL_97_5, type Level } from '../numbers.js';
import type { Sweep } from '../scenario/schema/scenario.js';
import { computeStatistics, type IntervalKind, Sample, type Statistics } from './statistics.js';

const FIRST_LOOK = 30;
const GROWTH = 1.5;

type Stopping = Pick<Sweep, 'replicates' | 'until'>;

/** Interval level in a sweep, chosen for a coverage of 95 %. */
export const getLevel = ({ until }: Pick<Sweep, 'until'>): Level => (until ? LEVEL_97_5 : LEVEL_95);

/** Minimum number of runs per cell. */
export const firstReplicates = ({ until, replicates }: Stopping): number =>
  until ? Math.min(until.most, Math.max(FIRST_LOOK, replicates)) : replicates;

/** Number of runs at the next test; null if there is no further test. */
export function nextReplicates({ until }: Pick<Sweep, 'until'>, replicates: number): number | null {
  if (!until || replicates >= until.most) return null;
  return Math.min(until.most, Math.ceil(GROWTH * replicates));
}

export const stoppingResponse = ({ until, responses }: Sweep): string =>
  until?.response ?? responses[0]!;

/** Responses of a sweep, including that of the stopping rule. */
export const allResponses = (sweep: Sweep): string[] => [
  ...new Set([...sweep.responses, stoppingResponse(sweep)]),
];

/** Returns true if the interval is narrow enough. A cell without an interval is not narrow. */
export function isNarrow(
  { half_width: width, percent }: NonNullable<Sweep['until']>,
  { mean, low, high }: Statistics,
): boolean {
  if (mean === null || low === null || high === null) return false;
  return (high - low) / 2 <= (width ?? (Math.abs(mean) * percent!) / 100);
}

/** Number of runs per cell, as far as known. */
export class Replicates {
  readonly #sweep: Stopping;
  /** Counts by cell number. */
  readonly #counts: Uint32Array;
  readonly #finished: Uint8Array;

  constructor(sweep: Stopping, cells: number) {
    this.#sweep = sweep;
    this.#counts = new Uint32Array(cells + 1).fill(firstReplicates(sweep));
    this.#finished = new Uint8Array(cells + 1);
  }

  of(cell: number): number {
    return this.#counts[cell]!;
  }

  /**
   * Tests each cell. All planned runs must be finished.
   *
   * @param valuesOf returns the response's values in the cell's runs, or null for a cell in a
   * different shard, which is skipped.
   * @returns true if a cell needs more runs.
   */
  finishCells(
    valuesOf: (cell: number, replicates: number) => number[] | null,
    kind: IntervalKind,
  ): boolean {
    const { until } = this.#sweep;
    if (!until) return false;
    let more = false;
    for (let cell = 1; cell < this.#counts.length; cell += 1) {
      if (this.#finished[cell]) continue;
      const count = this.of(cell);
      const next = nextReplicates(this.#sweep, count);
      const values = valuesOf(cell, count);
      const found = values && computeStatistics(Sample.of(values), kind, getLevel(this.#sweep));
      const isEnough = !found || isNarrow(until, found);
      if (next === null || isEnough) this.#finished[cell] = 1;
      else {
        this.#counts[cell] = next;
        more = true;
      }
    }
    return more;
  }
}
