/** The design of a sweep: which combinations of values are run, and with which seeds. */
import type { Factor, Sweep } from '../../scenario/schema/sweep.js';
import { hypercube } from './hypercube.js';
import { STANDARD_LEVELS, trajectory } from './morris.js';
import type { FactorValue } from './place.js';
import { saltelli } from './saltelli.js';

/** One combination. */
export interface Cell {
  /** From 1. */
  number: number;
  /** Of each factor, in the order of the design. */
  values: readonly FactorValue[];
  /**
   * What the seeds of its runs begin with. Cells that are compared have the same one (common random
   * numbers), so that they differ by their values and not by their luck: all of a grid or a list,
   * the points of one trajectory, of one block. Samples that are averaged over have one each, or
   * the luck of a few seeds would be in all of them.
   */
  seed: string;
}

export const columnOf = ({ name, path }: Factor): string => name ?? path;

/** Of a replicate, from 1, of a cell. */
export const seedOf = (begin: string, replicate: number): string => `${begin}/${replicate}`;

/** How many cells a sample, a trajectory or a block has; 0 where there are none. */
export function cellsPerSample({ design, factors }: Sweep): number {
  if (design === 'lhs') return 1;
  if (design === 'morris') return factors.length + 1;
  return design === 'sobol' ? factors.length + 2 : 0;
}

export function countCells(sweep: Sweep): number {
  const { design, factors, samples = 0 } = sweep;
  const each = cellsPerSample(sweep);
  if (each > 0) return samples * each;
  const lengths = factors.map(({ values }) => values?.length ?? 0);
  if (design === 'list') return lengths[0] ?? 0;
  return lengths.reduce((product, length) => product * length, 1);
}

/** Made one after another: a grid may have more cells than memory holds. */
export function* cellsOf(sweep: Sweep, seed: string): Generator<Cell> {
  const each = cellsPerSample(sweep);
  const of = each > 0 ? samplesOf(sweep, seed) : null;
  const count = countCells(sweep);
  let sample: FactorValue[][] = [];
  for (let index = 0; index < count; index += 1) {
    const number = index + 1;
    if (!of) {
      yield { number, values: chosen(sweep.design, sweep.factors, index), seed };
      continue;
    }
    const at = Math.floor(index / each);
    if (index % each === 0) sample = of(at);
    yield { number, values: sample[index % each]!, seed: seedOf(seed, at + 1) };
  }
}

/** Gives the points of a sample by its index. */
function samplesOf(sweep: Sweep, seed: string): (index: number) => FactorValue[][] {
  const { design, factors, samples = 0, levels = STANDARD_LEVELS } = sweep;
  if (design === 'sobol') return saltelli(factors, seed);
  if (design === 'morris') return (at) => trajectory(factors, levels, seed, at + 1).points;
  const of = hypercube(factors, samples, seed);
  return (at) => [of(at)];
}

/** In a grid the last factor varies fastest. */
function chosen(design: Sweep['design'], factors: readonly Factor[], index: number) {
  if (design === 'list') return factors.map(({ values }) => values![index]!);
  let rest = index;
  const reversed = factors.toReversed().map((factor) => {
    const values = factor.values!;
    const value = values[rest % values.length]!;
    rest = Math.floor(rest / values.length);
    return value;
  });
  return reversed.reverse();
}
