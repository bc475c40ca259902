/**
 * The seconds of a run in a few hundred steps, however long it is. Steps whose seconds are over are
 * made once, until they get too many: then each holds twice as many seconds.
 */
import type { LoadSeconds } from '../../../api/view/load.js';
import { mean, type Step, worst } from '../figures/seconds.js';
import type { Second } from '../result.js';

/** More could not be told apart in a picture. */
const MOST_STEPS = 400;
/** A generator that stood still counts what it missed in seconds that are over. */
const SETTLED_S = 2;

const counts = ['intended', 'accepted', 'failed', 'finalized_transactions'] as const;
const times = ['response_p50', 'response_p95', 'response_p99', 'lag_max'] as const;

type Point = Record<(typeof counts)[number], number> &
  Record<(typeof times)[number], number | null>;

export class Steps {
  #width = 1;
  #made: Point[] = [];

  /** @param seconds of one run, from its first on: as before, and more of them */
  of(seconds: readonly Second[]): LoadSeconds {
    while (Math.ceil(seconds.length / this.#width) > MOST_STEPS) {
      this.#width *= 2;
      this.#made = [];
    }
    const step = (index: number): Step =>
      seconds.slice(index * this.#width, (index + 1) * this.#width);
    const settled = Math.floor(Math.max(0, seconds.length - SETTLED_S) / this.#width);
    while (this.#made.length < settled) this.#made.push(pointOf(step(this.#made.length)));
    const all = Math.ceil(seconds.length / this.#width);
    const rest = Array.from({ length: all - settled }, (_, index) =>
      pointOf(step(settled + index)),
    );
    return columnsOf(this.#width, [...this.#made, ...rest]);
  }
}

const pointOf = (step: Step): Point =>
  Object.fromEntries([
    ...counts.map((name) => [name, rounded(mean(name)(step))]),
    ...times.map((name) => [name, rounded(worst(step, name))]),
  ]) as Point;

/** Microseconds are exact; a mean need not be more so. */
const rounded = (value: number | null) => (value === null ? null : Math.round(value * 1e3) / 1e3);

const columnsOf = (width: number, points: readonly Point[]): LoadSeconds =>
  ({
    width,
    ...Object.fromEntries(
      [...counts, ...times].map((name) => [name, points.map((point) => point[name])]),
    ),
  }) as unknown as LoadSeconds;
