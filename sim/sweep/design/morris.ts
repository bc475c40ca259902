/**
 * Trajectories of Morris (1991): from a random point, one factor after another takes one step of
 * somewhat more than half its range, so that each trajectory has one elementary effect of each.
 */
import { type Stream, Streams, shuffled } from '../../rng.js';
import type { Factor } from '../../scenario/schema/sweep.js';
import { type FactorValue, settled, valueAt } from './place.js';

export const STANDARD_LEVELS = 4;

export interface Trajectory {
  /** Of each factor, at each point; one point more than there are factors. */
  points: FactorValue[][];
  /** Which factor steps to the next point, and by how much of its range, as its values have it. */
  steps: { factor: number; by: number }[];
}

/** @param number from 1; each follows from the seed and its number, so that more can be added. */
export function trajectory(
  factors: readonly Factor[],
  levels: number,
  seed: string,
  number: number,
): Trajectory {
  const rng = new Streams(seed).of('world', `morris/${number}`);
  const half = levels / 2;
  const size = half / (levels - 1);
  const starts = factors.map(() => startOf(rng, half, levels));
  const places = starts.map(({ place }) => place);
  const valuesNow = () => factors.map((factor, index) => valueAt(factor, places[index]!));
  const points = [valuesNow()];
  const steps = Array.from(shuffled(factors.length, rng), (factor) => {
    const before = places[factor]!;
    const after = before + (starts[factor]!.up ? size : -size);
    places[factor] = after;
    points.push(valuesNow());
    const [from, to] = [before, after].map((place) => settled(factors[factor]!, place));
    return { factor, by: to! - from! };
  });
  return { points, steps };
}

/** A level of the lower half that goes up, or one of the upper half that goes down. */
function startOf(rng: Stream, half: number, levels: number) {
  const level = rng.int(half);
  const up = rng.int(2) === 0;
  return { place: (up ? level : level + half) / (levels - 1), up };
}
