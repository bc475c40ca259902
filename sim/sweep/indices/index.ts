/** What a design of samples says of each factor: the same for a sweep's runs and any function. */
import { Streams } from '../../rng.js';
import type { Sweep } from '../../scenario/schema/sweep.js';
import { cellsPerSample } from '../design/cells.js';
import { STANDARD_LEVELS, trajectory } from '../design/morris.js';
import { elementaryEffects } from './effects.js';
import type { IndexRow } from './row.js';
import { varianceIndices } from './variance.js';

export type { IndexRow } from './row.js';

/**
 * The indices of each factor of a morris or sobol design.
 *
 * @param values the response in each cell, in their order: the mean of its runs, or what a function
 * of the factors' values is there; null where it cannot be said.
 * @param name of the response, by which draws of the intervals are told apart.
 */
export function indicesOf(
  sweep: Sweep,
  seed: string,
  name: string,
  values: readonly (number | null)[],
): IndexRow[] {
  const { design, factors, levels = STANDARD_LEVELS } = sweep;
  const each = cellsPerSample(sweep);
  const count = Math.floor(values.length / each);
  const samples = Array.from({ length: count }, (_, at) =>
    values.slice(at * each, (at + 1) * each),
  );
  const rng = new Streams(seed).of('world', `bootstrap/${name}`);
  if (design === 'sobol') return varianceIndices({ samples }, factors.length, rng);
  const stepsOf = (at: number) => trajectory(factors, levels, seed, at + 1).steps;
  return elementaryEffects({ samples }, factors.length, stepsOf, rng);
}
