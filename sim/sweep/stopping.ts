/**
 * When a cell has runs enough: its interval is looked at when it has ten, and each time it has half
 * as many again. Every further look is another chance to stop where the interval is narrow by luck,
 * so they are few, and the first comes late; tests of it count the cost.
 * A look needs all runs up to it and nothing else, so it is the same for any number of jobs.
 */
import type { Sweep } from '../scenario/schema/sweep.js';
import { type Statistics, statisticsOf } from './statistics/interval.js';
import { Sample } from './statistics/sample.js';

const FIRST_LOOK = 10;
const GROWTH = 1.5;

/** How many runs a cell has at least. */
export const firstReplicates = ({ until, replicates }: Sweep): number =>
  until ? Math.min(until.most, Math.max(FIRST_LOOK, replicates)) : replicates;

/** How many it has at the next look; null when there is none. */
export function nextReplicates({ until }: Sweep, replicates: number): number | null {
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
  readonly #sweep: Sweep;
  /** By the number of the cell. */
  readonly #counts: Uint32Array;
  readonly #settled: Uint8Array;

  constructor(sweep: Sweep, cells: number) {
    this.#sweep = sweep;
    this.#counts = new Uint32Array(cells + 1).fill(firstReplicates(sweep));
    this.#settled = new Uint8Array(cells + 1);
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
  look(valuesOf: (cell: number, replicates: number) => number[] | null, kind: Kind): boolean {
    const { until } = this.#sweep;
    if (!until) return false;
    let more = false;
    for (let cell = 1; cell < this.#counts.length; cell += 1) {
      if (this.#settled[cell]) continue;
      const count = this.of(cell);
      const next = nextReplicates(this.#sweep, count);
      const values = valuesOf(cell, count);
      const isEnough = !values || isNarrow(until, statisticsOf(Sample.of(values), kind));
      if (next === null || isEnough) this.#settled[cell] = 1;
      else {
        this.#counts[cell] = next;
        more = true;
      }
    }
    return more;
  }
}

type Kind = Parameters<typeof statisticsOf>[1];
