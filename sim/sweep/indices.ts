/** Morris or Sobol indices with bootstrap intervals: how strongly factors affect a response. */
import { percentile } from '../measure/statistics.js';
import { type Stream, Streams } from '../rng.js';
import type { Sweep } from '../scenario/schema/scenario.js';
import { cellsPerSample, STANDARD_LEVELS, trajectory } from './design.js';
import { computeStatistics, roundFigure, Sample } from './statistics.js';

/**
 * Returns each factor's indices in a morris or sobol design.
 *
 * @param values response in each cell, in cell order: the mean over the cell's runs, or null
 * without a value.
 * @param name response name, which seeds the bootstrap.
 */
export function computeIndices(
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
  if (design === 'sobol') return varianceIndices(samples, factors.length, rng);
  const stepsOf = (at: number) => trajectory(factors, levels, seed, at + 1).steps;
  return elementaryEffects(samples, factors.length, stepsOf, rng);
}

/** Response at each point of each sample (trajectory or block); null without a value. */
type Samples = readonly (readonly (number | null)[])[];

interface IndexEstimate {
  /** Number of samples used. */
  n: number;
  value: number | null;
  /** 95 % interval; null if there is no interval. */
  low: number | null;
  high: number | null;
}

interface IndexRow extends IndexEstimate {
  /** Factor index from 0, in design order. */
  factor: number;
  /** Sobol: first, total. Morris: mean, mean_absolute, deviation. */
  index: string;
}

/*
 * Morris's elementary effects (1991): the change in the response per full range of a factor. Three
 * indices are computed per factor: the effects' mean, in which opposite effects cancel; the mean of
 * their absolute values (Campolongo et al. 2007); and their standard deviation, which is large if
 * the effect depends on the other factors.
 *
 * All points in a trajectory share a seed, so that common random variation cancels in each effect.
 * Different trajectories use different seeds.
 */

/** @param stepsOf returns the factor and size of each step in a trajectory. */
function elementaryEffects(
  samples: Samples,
  factors: number,
  stepsOf: (trajectory: number) => { factor: number; by: number }[],
  rng: Stream,
): IndexRow[] {
  const effects: number[][] = Array.from({ length: factors }, () => []);
  for (const [trajectory, values] of samples.entries()) {
    for (const [point, { factor, by }] of stepsOf(trajectory).entries()) {
      const [before, after] = [values[point], values[point + 1]];
      if (typeof before === 'number' && typeof after === 'number') {
        effects[factor]!.push((after - before) / by);
      }
    }
  }
  return effects.flatMap((found, factor) => [
    { factor, index: 'mean', ...ofMean(found, 't_skew') },
    { factor, index: 'mean_absolute', ...ofMean(found.map(Math.abs), 't_log') },
    { factor, index: 'deviation', ...deviationOf(found, rng) },
  ]);
}

function ofMean(effects: readonly number[], kind: 't_skew' | 't_log') {
  const { n, mean, low, high } = computeStatistics(Sample.of(effects), kind);
  return { n, value: mean, low, high };
}

function deviationOf(effects: readonly number[], rng: Stream) {
  const deviation = (drawn: Uint32Array) => {
    if (drawn.length < 2) return [null];
    return [Sample.of(Array.from(drawn, (at) => effects[at]!)).moments()!.sd];
  };
  return resampled(effects.length, deviation, rng)[0]!;
}

/*
 * Sobol indices: the share of a response's variance that a factor explains, alone (first-order
 * index, Saltelli et al. 2010) and together with its interactions (total index, Jansen 1999).
 *
 * All runs in a block share a seed. The random variation is then one more input, equal in A, B and
 * the points between, and cancels in every difference. With separate seeds, each total index would
 * include the whole random variance. Random variance is part of the total variance but of no index.
 * Its interaction with a factor is part of that factor's index.
 */

/** Response at A, at B, and at A with one factor from B, per block. */
interface Columns {
  a: Float64Array;
  b: Float64Array;
  mixed: Float64Array[];
}

const kinds = ['first', 'total'] as const;

/** Computes the indices from the blocks that have a value at every point. */
function varianceIndices(samples: Samples, factors: number, rng: Stream): IndexRow[] {
  const blocks = samples.filter((block): block is number[] => !block.includes(null));
  const column = (at: number) => Float64Array.from(blocks, (block) => block[at]!);
  const mixed = Array.from({ length: factors }, (_, factor) => column(factor + 2));
  const columns = { a: column(0), b: column(1), mixed };
  const found = resampled(blocks.length, (drawn) => estimates(columns, drawn), rng);
  return found.map((estimate, at) => {
    return { factor: Math.floor(at / 2), index: kinds[at % 2]!, ...estimate };
  });
}

/** Estimates each factor's first-order and total index. */
function estimates({ a, b, mixed }: Columns, drawn: Uint32Array): (number | null)[] {
  let sum = 0;
  for (const at of drawn) sum += a[at]! + b[at]!;
  const mean = sum / (2 * drawn.length);
  let squares = 0;
  for (const at of drawn) {
    const [x, y] = [a[at]! - mean, b[at]! - mean];
    squares += x * x + y * y;
  }
  // Shares are undefined if the variance is zero.
  if (!(squares > 0)) return mixed.flatMap(() => [null, null]);
  return mixed.flatMap((column) => {
    let first = 0;
    let total = 0;
    for (const at of drawn) {
      const change = column[at]! - a[at]!;
      first += (b[at]! - mean) * change;
      total += change * change;
    }
    return [(2 * first) / squares, total / squares];
  });
}

/** Number of bootstrap draws, chosen so that 2.5 % of the draws lie outside each end. */
const DRAWS = 999;
/** Smallest number of samples for which an interval is computed. */
const LEAST = 4;

/** Computes estimates from samples by index. An index may occur several times or not at all. */
type Estimate = (drawn: Uint32Array) => (number | null)[];

/** Percentile bootstrap (Efron 1979), same draws for all estimates; no interval of equal draws. */
function resampled(n: number, estimate: Estimate, rng: Stream): IndexEstimate[] {
  const values = estimate(Uint32Array.from({ length: n }, (_, index) => index));
  const drawn: number[][] = values.map(() => []);
  const indices = new Uint32Array(n);
  for (let draw = 0; n >= LEAST && draw < DRAWS; draw += 1) {
    for (let at = 0; at < n; at += 1) indices[at] = rng.int(n);
    for (const [figure, found] of estimate(indices).entries()) {
      if (found !== null) drawn[figure]!.push(found);
    }
  }
  return values.map((value, figure) => ({ n, ...withEnds(value, drawn[figure]!) }));
}

function withEnds(value: number | null, drawn: readonly number[]) {
  if (value === null) return { value, low: null, high: null };
  const sorted = Float64Array.from(drawn).sort();
  const [low, high] = [percentile(sorted, 2.5), percentile(sorted, 97.5)];
  const shown = roundFigure(value);
  if (low === null || high === null || low === high) return { value: shown, low: null, high: null };
  return { value: shown, low: roundFigure(low), high: roundFigure(high) };
}
