/**
 * The indices of a design of samples, by Morris or by Sobol, and their intervals by bootstrap: they
 * say how much each factor matters, for a sweep's runs as for any function.
 */
import { percentile } from '../measure/statistics.js';
import { type Stream, Streams } from '../rng.js';
import type { Sweep } from '../scenario/schema/scenario.js';
import { cellsPerSample, STANDARD_LEVELS, trajectory } from './design.js';
import { computeStatistics, roundFigure, Sample } from './statistics.js';

/**
 * The indices of each factor of a morris or sobol design.
 *
 * @param values the response in each cell, in their order: the mean of its runs, or what a function
 * of the factors' values is there; null where it cannot be said.
 * @param name of the response, by which draws of the intervals are told apart.
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
  if (design === 'sobol') return varianceIndices({ samples }, factors.length, rng);
  const stepsOf = (at: number) => trajectory(factors, levels, seed, at + 1).steps;
  return elementaryEffects({ samples }, factors.length, stepsOf, rng);
}

/** A response by samples: of a trajectory or a block, at each of its points; null if unsaid. */
interface Response {
  samples: readonly (readonly (number | null)[])[];
}

interface IndexEstimate {
  /** Samples that it is made of. */
  n: number;
  value: number | null;
  /** The 95 % interval; null where there is none. */
  low: number | null;
  high: number | null;
}

interface IndexRow extends IndexEstimate {
  /** From 0, in the order of the design. */
  factor: number;
  /** first, total; mean, mean_absolute, deviation. */
  index: string;
}

/*
 * Elementary effects of Morris (1991): what one step of a factor changes, per whole range of it. Of
 * each factor their mean (in which signs cancel), the mean of their sizes (Campolongo et al. 2007),
 * and their deviation, which is large where it depends on the other factors what a step does.
 *
 * All points of a trajectory share their seed: an effect is a difference of two of its points, in
 * which what chance does to both cancels. Trajectories are averaged over, and have a seed each.
 */

/** @param stepsOf which factor steps after each point of a trajectory, and by how much. */
function elementaryEffects(
  { samples }: Response,
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
 * Sobol's indices: which share of the variance of a response a factor accounts for, by itself (the
 * first-order index, after Saltelli et al. 2010) and with all that it has to do with (the total
 * index, after Jansen 1999).
 *
 * All runs of a block share their seed. Chance is then one more input, alike in A, B and the points
 * between, and so drops out of every difference: with seeds of their own, each total index would
 * hold the whole variance of chance. What chance alone accounts for is in the variance and in no
 * index; what a factor does together with it counts for the factor.
 */

/** Of all blocks, one after another: the response at A, at B, and at A with a factor of B. */
interface Columns {
  a: Float64Array;
  b: Float64Array;
  mixed: Float64Array[];
}

const kinds = ['first', 'total'] as const;

/** Of each factor its two indices, of those blocks in which all could be said. */
function varianceIndices(response: Response, factors: number, rng: Stream): IndexRow[] {
  const blocks = response.samples.filter((block): block is number[] =>
    block.every((value) => value !== null),
  );
  const column = (at: number) => Float64Array.from(blocks, (block) => block[at]!);
  const mixed = Array.from({ length: factors }, (_, factor) => column(factor + 2));
  const columns = { a: column(0), b: column(1), mixed };
  const found = resampled(blocks.length, (drawn) => estimates(columns, drawn), rng);
  return found.map((estimate, at) => {
    return { factor: Math.floor(at / 2), index: kinds[at % 2]!, ...estimate };
  });
}

/** Of each factor the first-order and the total index. */
function estimates({ a, b, mixed }: Columns, drawn: Uint32Array): (number | null)[] {
  let sum = 0;
  for (const at of drawn) sum += a[at]! + b[at]!;
  const mean = sum / (2 * drawn.length);
  let squares = 0;
  for (const at of drawn) {
    const [x, y] = [a[at]! - mean, b[at]! - mean];
    squares += x * x + y * y;
  }
  // Without variance there is nothing to have a share of.
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

/** Of the ends, 2.5 % lie beyond each. */
const DRAWS = 999;
/** Fewer samples say nothing about what others might be. */
const LEAST = 4;

/** Figures of samples, by their indices: each may be there several times, or not at all. */
type Estimate = (drawn: Uint32Array) => (number | null)[];

/** By percentiles (Efron 1979), all figures of the same draws; empty where these are all alike. */
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
