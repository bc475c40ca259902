/** Sweep design: its cells, their seeds, the baseline, and the checks before the first run. */
import { getBounds, isMeasure, measures, OWN, parseOwn } from '../../report/shared/measures.js';
import { sweepTables } from '../measure/dictionary.js';
import { type Stream, Streams, shuffle } from '../rng.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Factor, Sweep } from '../scenario/schema/scenario.js';

/** Combination of factor values. */
export interface Cell {
  /** Cell number, from 1. */
  number: number;
  /** Values in factor order. */
  values: readonly FactorValue[];
  /**
   * Seed prefix for the cell's runs. Cells that are compared share a prefix (common random
   * numbers), so that they differ by their values and not by chance. These are all cells in a grid
   * or list, and all points in one trajectory or block. Independent samples use different prefixes,
   * because a few seeds must not determine all samples.
   */
  seed: string;
}

export const getColumn = ({ name, path }: Factor): string => name ?? path;

/** Formats the seed for a replicate, counted from 1. */
export const formatSeed = (begin: string, replicate: number): string => `${begin}/${replicate}`;

/** Number of cells per sample, trajectory or block; 0 for other designs. */
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

/** Generates the cells one by one, because a grid may have more cells than fit in memory. */
export function* generateCells(sweep: Sweep, seed: string): Generator<Cell> {
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
    yield { number, values: sample[index % each]!, seed: formatSeed(seed, at + 1) };
  }
}

/** Returns a function from a sample's index to its points. */
function samplesOf(sweep: Sweep, seed: string): (index: number) => FactorValue[][] {
  const { design, factors, samples = 0, levels = STANDARD_LEVELS } = sweep;
  if (design === 'sobol') return saltelli(factors, seed);
  if (design === 'morris') return (at) => trajectory(factors, levels, seed, at + 1).points;
  const of = hypercube(factors, samples, seed);
  return (at) => [of(at)];
}

/** Returns the values of a grid's cell. In a grid, the last factor varies fastest. */
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

/** Value that a sweep assigns to a scenario key. @useDeclaredType */
export type FactorValue = NonNullable<Factor['values']>[number];

/** Index of the equal-width step that contains a place from 0 to 1. */
const stepOf = (place: number, count: number) => Math.min(count - 1, Math.floor(place * count));

/** Maps a place from 0 to 1 to a factor value. */
function valueAt({ values, from = 0, to = 0, whole }: Factor, place: number): FactorValue {
  if (values) return values[stepOf(place, values.length)]!;
  if (whole) return from + stepOf(place, to - from + 1);
  return from + place * (to - from);
}

/** Maps a place to its value's position: 0 for the first, 1 for the last, evenly spaced between. */
function settled({ values, from = 0, to = 0, whole }: Factor, place: number): number {
  const count = values ? values.length : whole ? to - from + 1 : 0;
  return count < 2 ? place : stepOf(place, count) / (count - 1);
}

/*
 * Latin hypercube: each factor's range is divided into as many strata as there are samples, and
 * each stratum is sampled once, in random order (McKay, Beckman and Conover 1979).
 */

/** Returns a function from a sample's index to its values. The draws depend only on the seed. */
function hypercube(
  factors: readonly Factor[],
  samples: number,
  seed: string,
): (index: number) => FactorValue[] {
  const streams = new Streams(seed);
  const columns = factors.map((factor) => {
    const rng = streams.of('world', `lhs/${factor.path}`);
    const strata = shuffle(samples, rng);
    // Discrete values use the middle of each stratum, so that all values occur equally often.
    const within = () => (isEven(factor, samples) ? 0.5 : rng.real());
    const places = Float64Array.from(strata, (stratum) => (stratum + within()) / samples);
    return { factor, places };
  });
  return (index) => columns.map(({ factor, places }) => valueAt(factor, places[index]!));
}

function isEven({ values, from = 0, to = 0, whole = false }: Factor, samples: number): boolean {
  return values !== undefined || (whole && to - from < samples);
}

/*
 * Morris trajectories (1991). From a random point, one factor after another takes a step of
 * slightly more than half its range. Each trajectory gives one elementary effect per factor.
 */

export const STANDARD_LEVELS = 4;

interface Trajectory {
  /** Factor values at each point. There is one point more than there are factors. */
  points: FactorValue[][];
  /** Factor that changes before the next point, and the change as a fraction of its range. */
  steps: { factor: number; by: number }[];
}

/**
 * @param number trajectory number, from 1. A trajectory depends only on the seed and its number, so
 * that trajectories can be added.
 */
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
  const steps = Array.from(shuffle(factors.length, rng), (factor) => {
    const before = places[factor]!;
    const after = before + (starts[factor]!.up ? size : -size);
    places[factor] = after;
    points.push(valuesNow());
    const [from, to] = [before, after].map((place) => settled(factors[factor]!, place));
    return { factor, by: to! - from! };
  });
  return { points, steps };
}

/** Starts in the lower half with a step up, or in the upper half with a step down. */
function startOf(rng: Stream, half: number, levels: number) {
  const level = rng.int(half);
  const up = rng.int(2) === 0;
  return { place: (up ? level : level + half) / (levels - 1), up };
}

/*
 * Design by Saltelli et al. (2010): rows from two matrices A and B, and per factor the row of A
 * with that factor's value from B. These rows form a block.
 */

/** Returns a function from a block's index to its points: A, B, and A with each factor from B. */
function saltelli(factors: readonly Factor[], seed: string): (index: number) => FactorValue[][] {
  const count = factors.length;
  const pointOf = sobolPoints(2 * count, new Streams(seed).of('world', 'sobol'));
  return (index) => {
    const point = pointOf(index);
    const a = factors.map((factor, at) => valueAt(factor, point[at]!));
    const b = factors.map((factor, at) => valueAt(factor, point[at + count]!));
    return [a, b, ...factors.map((_, at) => a.with(at, b[at]!))];
  };
}

/*
 * Sobol sequence in up to 20 dimensions, with Joe and Kuo's direction numbers (2008,
 * new-joe-kuo-6). Each dimension has a random digital shift, which preserves the even distribution
 * of prefixes and moves points away from corners.
 */

const BITS = 32;
const TWO_32 = 4_294_967_296;

/** Degree and coefficients of the polynomial and the values m, per dimension after the first. */
const directions: readonly (readonly [s: number, a: number, ...m: number[]])[] = [
  [1, 0, 1],
  [2, 1, 1, 3],
  [3, 1, 1, 3, 1],
  [3, 2, 1, 1, 1],
  [4, 1, 1, 1, 3, 3],
  [4, 4, 1, 3, 5, 13],
  [5, 2, 1, 1, 5, 5, 17],
  [5, 4, 1, 1, 5, 5, 5],
  [5, 7, 1, 1, 7, 11, 19],
  [5, 11, 1, 1, 5, 1, 1],
  [5, 13, 1, 1, 1, 3, 11],
  [5, 14, 1, 3, 5, 5, 31],
  [6, 1, 1, 3, 3, 9, 7, 49],
  [6, 13, 1, 1, 1, 15, 21, 21],
  [6, 16, 1, 3, 1, 13, 27, 49],
  [6, 19, 1, 1, 1, 15, 7, 5],
  [6, 22, 1, 3, 1, 15, 13, 25],
  [6, 25, 1, 1, 5, 5, 19, 61],
  [7, 1, 1, 3, 7, 11, 23, 15, 103],
];

export const MOST_DIMENSIONS = directions.length + 1;

/** Columns of a dimension's generator matrix, as 32-bit integers. */
function columnsOf(dimension: number): number[] {
  if (dimension === 0) return Array.from({ length: BITS }, (_, bit) => (1 << (31 - bit)) >>> 0);
  const [s, a, ...m] = directions[dimension - 1]!;
  const columns = m.map((value, bit) => (value << (31 - bit)) >>> 0);
  for (let bit = s; bit < BITS; bit += 1) {
    let column = columns[bit - s]! ^ (columns[bit - s]! >>> s);
    for (let back = 1; back < s; back += 1) {
      if ((a >>> (s - 1 - back)) & 1) column ^= columns[bit - back]!;
    }
    columns.push(column >>> 0);
  }
  return columns;
}

/**
 * Returns a function from an index (from 0) to a point with coordinates in [0, 1).
 *
 * @param rng draws each dimension's shift. Without it, points are not shifted.
 */
export function sobolPoints(dimensions: number, rng?: Stream): (index: number) => number[] {
  const columns = Array.from({ length: dimensions }, (_, dimension) => columnsOf(dimension));
  const shifts = columns.map(() => rng?.int(TWO_32) ?? 0);
  return (index) => {
    const gray = index ^ (index >>> 1);
    return columns.map((of, dimension) => {
      let bits = shifts[dimension]!;
      for (let bit = 0; gray >>> bit > 0; bit += 1) if ((gray >>> bit) & 1) bits ^= of[bit]!;
      return (bits >>> 0) / TWO_32;
    });
  };
}

/** Returns the baseline's cell. Returns null if no baseline is set or no cell matches it. */
export function findBaseline(sweep: Sweep, seed: string): Cell | null {
  const { baseline, factors } = sweep;
  if (!baseline) return null;
  for (const cell of generateCells(sweep, seed)) {
    if (factors.every((factor, at) => cell.values[at] === baseline[getColumn(factor)])) return cell;
  }
  return null;
}

const taken = new Set([measures, ...Object.values(sweepTables)].flatMap((one) => Object.keys(one)));

/** @throws {ScenarioError} for the first problem with the design. */
export function assertDesign(sweep: Sweep): void {
  const { design, factors } = sweep;
  const sampled = cellsPerSample(sweep) > 0;
  const columns = new Set<string>();
  for (const [index, factor] of factors.entries()) {
    const problem =
      findPathProblem(factor, columns) ??
      (sampled ? findRangeProblem(factor) : findValuesProblem(factor, factors[0]!, design));
    if (problem) throw new ScenarioError(`sweep.factors.${index} (${factor.path}) ${problem}`);
    columns.add(getColumn(factor)).add(factor.path);
  }
  const problem =
    findResponsesProblem(sweep) ??
    findSamplesProblem(sweep, sampled) ??
    findUntilProblem(sweep) ??
    findBaselineProblem(sweep, sampled);
  if (problem) throw new ScenarioError(`sweep.${problem}`);
}

/** Returns true for a possible response. Names of script measures are known only after a run. */
export const isResponse = (name: string) => isMeasure(name) || parseOwn(name) !== null;

function findResponsesProblem({ responses }: Sweep): string | null {
  const unknown = responses.find((name) => !isResponse(name));
  if (unknown === undefined) return null;
  return `responses: ${unknownMeasure(unknown)}`;
}

const unknownMeasure = (name: string): string =>
  `unknown measure: ${name}; expected one of ${Object.keys(measures).join(', ')}, ` +
  'reported.NAME or reported.NAME@GROUP';

const samplesAre: Partial<Record<Sweep['design'], string>> = {
  lhs: 'the number of samples',
  morris: 'the number of trajectories, 10 or more',
  sobol: 'the number of rows of a matrix, such as 64, 128 or 256',
};

function findSamplesProblem({ design, samples, levels }: Sweep, sampled: boolean): string | null {
  if (sampled && samples === undefined) return `samples is missing; expected ${samplesAre[design]}`;
  if (!sampled && samples !== undefined) {
    return `samples applies to the designs lhs, morris and sobol, not to ${design}`;
  }
  if (levels === undefined) return null;
  if (design !== 'morris') return `levels applies to the design morris, not to ${design}`;
  return levels % 2 === 0 ? null : `invalid levels: ${levels}; expected an even number`;
}

function findUntilProblem({ design, until, responses }: Sweep): string | null {
  if (!until) return null;
  const { half_width: width, percent, response = responses[0]! } = until;
  if (design === 'morris' || design === 'sobol') {
    return `until applies to the mean of a cell; raise samples for the design ${design}`;
  }
  if ((width === undefined) === (percent === undefined)) {
    return 'until needs either half_width or percent';
  }
  if (!isResponse(response)) return `until.response: ${unknownMeasure(response)}`;
  const { least, most } = getBounds(response);
  if (width === undefined || most === null || width < (most - least) / 2) return null;
  const expected = `a number below ${(most - least) / 2}, such as ${most / 50}`;
  return (
    `until.half_width is ${width}, and ${response} is always from ${least} to ${most}; expected ` +
    `${expected}, or percent of the mean, such as --until-interval 5%`
  );
}

function findBaselineProblem(
  { design, baseline, factors }: Sweep,
  sampled: boolean,
): string | null {
  if (!baseline) return null;
  if (sampled)
    return `baseline applies to the designs grid and list; samples of ${design} differ in seed`;
  const names = factors.map(getColumn);
  const expected = `expected a value for each of ${names.join(', ')}`;
  const unknown = Object.keys(baseline).find((name) => !names.includes(name));
  if (unknown !== undefined) return `baseline: unknown factor: ${unknown}; ${expected}`;
  const missing = names.find((name) => !(name in baseline));
  return missing === undefined ? null : `baseline: ${missing} is missing; ${expected}`;
}

function findPathProblem(factor: Factor, columns: ReadonlySet<string>): string | null {
  if (columns.has(factor.path) || columns.has(getColumn(factor))) return 'is a duplicate';
  if (factor.path === 'seed') return 'cannot vary; use replicates';
  if (factor.path.split('.')[0] === 'sweep') return 'cannot vary: it is part of the sweep';
  if (!taken.has(getColumn(factor)) && !getColumn(factor).startsWith(OWN)) return null;
  return `has the name of an existing column: ${getColumn(factor)}; set another name`;
}

function findValuesProblem({ values, from, to, whole }: Factor, first: Factor, design: string) {
  if (from !== undefined || to !== undefined || whole !== undefined) {
    const designs = 'for the designs lhs, morris and sobol';
    return `has from, to or whole, which are ${designs}; expected values for ${design}`;
  }
  if (!values) return `has no values; the design ${design} requires them`;
  const expected = first.values?.length;
  if (design !== 'list' || values.length === expected) return null;
  return `has ${values.length} values; expected ${expected}, as for the first factor`;
}

function findRangeProblem({ values, from, to, whole }: Factor): string | null {
  if (values) {
    const both = from !== undefined || to !== undefined || whole !== undefined;
    return both ? 'has values and a range; expected one of them' : null;
  }
  if (from === undefined || to === undefined) return 'needs values, or from and to';
  if (from > to) return `has the range ${from} to ${to}; expected from to be at most to`;
  if (!whole || (Number.isSafeInteger(from) && Number.isSafeInteger(to))) return null;
  return `is whole with the range ${from} to ${to}; expected integers`;
}
