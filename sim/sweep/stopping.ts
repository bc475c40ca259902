/**
 * When a cell has runs enough. A cell is looked at when it has thirty runs, and each time it has
 * half as many again. Each look is one more chance to stop at an interval that is narrow by luck,
 * and of skewed data such a sample has too low a mean as well. A nominal 95 % interval held the
 * mean of exponential data in 90 of 100 cells so. Two rules bound the cost:
 *
 * - The first look comes late: the variance is known well enough then that nearly all cells stop
 *   at one of two neighbouring looks.
 * - Intervals of such a sweep are made at 97.5 %, in its looks and in its tables (Bonferroni's
 *   inequality over two looks; see Jennison and Turnbull 1999, Group Sequential Methods).
 *
 * `npm run validate -- -t stopping` counts the coverage: 95 of 100 at least.
 * A look needs all runs up to it and nothing else, so it is the same for any number of jobs.
 */
import type { Sweep } from '../scenario/schema/scenario.js';
import {
  computeStatistics,
  type IntervalKind,
  LEVEL_95,
  LEVEL_97_5,
  type Level,
  Sample,
  type Statistics,
} from './statistics.js';

const FIRST_LOOK = 30;
const GROWTH = 1.5;

/** The part of a sweep that says how many runs a cell has. */
type Stopping = Pick<Sweep, 'replicates' | 'until'>;

/** The level at which the intervals of a sweep are made, so that they hold the mean in 95 %. */
export const getLevel = ({ until }: Pick<Sweep, 'until'>): Level => (until ? LEVEL_97_5 : LEVEL_95);

/** How many runs a cell has at least. */
export const firstReplicates = ({ until, replicates }: Stopping): number =>
  until ? Math.min(until.most, Math.max(FIRST_LOOK, replicates)) : replicates;

/** How many it has at the next look; null when there is none. */
export function nextReplicates({ until }: Pick<Sweep, 'until'>, replicates: number): number | null {
  if (!until || replicates >= until.most) return null;
  return Math.min(until.most, Math.ceil(GROWTH * replicates));
}

export const stoppingResponse = ({ until, responses }: Sweep): string =>
  until?.response ?? responses[0]!;

/** Where there is no interval, it is not narrow. */
export function isNarrow(
  { half_width: width, percent }: NonNullable<Sweep['until']>,
  { mean, low, high }: Statistics,
): boolean {
  if (mean === null || low === null || high === null) return false;
  return (high - low) / 2 <= (width ?? (Math.abs(mean) * percent!) / 100);
}

/** How many runs each cell has, as far as that is known. */
export class Replicates {
  readonly #sweep: Stopping;
  /** By the number of the cell. */
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
   * Looks at each cell; all runs that it should have so far must be there.
   *
   * @param valuesOf the response in these runs of the cell, where it could be said; null for a
   * cell of another shard, which is left alone.
   * @returns whether some cell needs more.
   */
  checkCells(
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
