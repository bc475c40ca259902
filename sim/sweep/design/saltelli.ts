/**
 * The design of Saltelli et al. (2010): rows of two matrices A and B, and for each factor the row
 * of A with its value of B. A row, its partner and these are one block.
 */
import { Streams } from '../../rng.js';
import type { Factor } from '../../scenario/schema/sweep.js';
import { type FactorValue, valueAt } from './place.js';
import { sobolPoints } from './sequence.js';

/** Gives the points of a block by its index, from 0: A, B, and A with each factor of B. */
export function saltelli(
  factors: readonly Factor[],
  seed: string,
): (index: number) => FactorValue[][] {
  const count = factors.length;
  const pointOf = sobolPoints(2 * count, new Streams(seed).of('world', 'sobol'));
  return (index) => {
    const point = pointOf(index);
    const a = factors.map((factor, at) => valueAt(factor, point[at]!));
    const b = factors.map((factor, at) => valueAt(factor, point[at + count]!));
    return [a, b, ...factors.map((_, at) => a.with(at, b[at]!))];
  };
}
