/**
 * 95 % intervals of a mean over independent runs, by the kind of the measure: samples, their
 * moments, and Student's t. docs/simulating.md lists the families of distributions for which at
 * least 93 of 100 intervals hold the mean.
 */
import type { MeasureKind } from '../../report/shared/measures.js';
import { exp } from '../numbers.js';

/** How an interval is made, as the tables name it. */
export type IntervalKind = 'wilson' | 'share' | 't_log' | 't_skew';

interface Interval {
  low: number;
  high: number;
}

/** Of a sample; what cannot be said about so few numbers is null. */
export interface Statistics {
  n: number;
  mean: number | null;
  sd: number | null;
  low: number | null;
  high: number | null;
  /** Null where there is no interval. */
  interval: IntervalKind | null;
}

/** The interval of a measure. A count, a mean and a percentile are alike: of runs, not of votes. */
export const toIntervalKind = (measure: MeasureKind): IntervalKind =>
  measure === 'share' ? 'share' : 't_log';

/** Runs without spread say nothing about what another one might do, unless a share is bounded. */
const makers: Record<IntervalKind, (moments: Moments, level: Level) => Interval | null> = {
  wilson: (moments, level) => wilson(moments.mean, moments.n, level),
  share: clusteredShare,
  t_log: (moments, level) => (moments.sd === 0 ? null : studentAndLog(moments, level)),
  t_skew: (moments, level) => (moments.sd === 0 ? null : studentAndSkewed(moments, level)),
};

/** @param level of the interval; where looks chose the number of runs it must be higher. */
export function computeStatistics(
  sample: Sample,
  kind: IntervalKind,
  level: Level = LEVEL_95,
): Statistics {
  const moments = sample.moments();
  const { n } = sample;
  if (!moments) return { n, mean: null, sd: null, low: null, high: null, interval: null };
  const mean = roundFigure(moments.mean);
  const sd = n < 2 ? null : roundFigure(moments.sd);
  const used = kind === 't_log' && moments.least < 0 ? 't_skew' : kind;
  const found = n < 2 ? null : makers[used](moments, level);
  if (!found) return { n, mean, sd, low: null, high: null, interval: null };
  return {
    n,
    mean,
    sd,
    low: roundFigure(found.low),
    high: roundFigure(found.high),
    interval: used,
  };
}

/**
 * Bounds of the mean over all runs, the missing ones included, if each run lies between two numbers
 * (Manski 1989): both are the number of a run that is known. Null where a side is not bounded.
 */
export function boundsOfMean(ranges: readonly Interval[]): {
  mean_least: number | null;
  mean_most: number | null;
} {
  const meanOf = (ends: number[]) => {
    if (!ends.every(Number.isFinite)) return null;
    return roundFigure(Sample.of(ends).moments()?.mean ?? Number.NaN);
  };
  if (ranges.length === 0) return { mean_least: null, mean_most: null };
  return {
    mean_least: meanOf(ranges.map(({ low }) => low)),
    mean_most: meanOf(ranges.map(({ high }) => high)),
  };
}

/** No mean lies where no number can: an interval ends where these do. */
export function clampInterval(found: Statistics, least: number, most: number): Statistics {
  const { low, high } = found;
  if (low === null || high === null) return found;
  return { ...found, low: Math.max(low, least), high: Math.min(high, most) };
}

/**
 * Of a share of independent trials, with Yates's continuity correction (Newcombe 1998, method 4):
 * without it, one success in five covers .84 where .95 is claimed.
 */
export function wilson(share: number, trials: number, { normal }: Level = LEVEL_95): Interval {
  const low = Math.min(share, Math.max(0, wilsonEnd(share, trials, normal)));
  const high = Math.max(share, Math.min(1, 1 - wilsonEnd(1 - share, trials, normal)));
  return { low, high };
}

/** The lower end. The correction takes half a hit off: of fewer, nothing is left. */
function wilsonEnd(share: number, trials: number, z: number): number {
  const hits = trials * share;
  if (hits <= 0.5) return 0;
  const root = z * z - 2 - 1 / trials + 4 * share * (trials - hits + 1);
  return (2 * hits + z * z - 1 - z * Math.sqrt(Math.max(0, root))) / (2 * (trials + z * z));
}

/**
 * Of a share that every run has by itself. Votes or blocks of one run are alike, so their counts
 * must not be pooled: the spread between runs says how many independent trials they are worth
 * (Korn and Graubard 1998). A share is never spread more widely than yes and no, so these are at
 * least as many as there are runs; without spread, a run is one trial.
 */
function clusteredShare({ n, mean, sd }: Moments, level: Level): Interval {
  if (sd === 0) return wilson(mean, n, level);
  const factor = level.normal / studentQuantile(n - 1, level);
  const effective = ((mean * (1 - mean)) / (sd * sd)) * n * factor * factor;
  return wilson(mean, Math.max(n, effective), level);
}

const halfOf = ({ n, sd }: Moments, level: Level): number =>
  (studentQuantile(n - 1, level) * sd) / Math.sqrt(n);

/**
 * Of counts, times and other numbers that are never negative: the hull of Student's interval and
 * of Student's interval of the logarithm of the mean, which leans to where skewed numbers are. Of
 * numbers that lean down, as below a largest value, Hall's is in the hull too.
 */
function studentAndLog(moments: Moments, level: Level): Interval {
  const { mean, skewness } = moments;
  const half = halfOf(moments, level);
  const ratio = exp(half / mean);
  const { low, high } =
    skewness < 0 ? studentAndSkewed(moments, level) : { low: mean - half, high: mean + half };
  return { low: Math.max(0, Math.min(low, mean / ratio)), high: Math.max(high, mean * ratio) };
}

/** Of either sign: the hull of Student's interval and of Hall's: it knows skewness. */
function studentAndSkewed(moments: Moments, level: Level): Interval {
  const { mean } = moments;
  const half = halfOf(moments, level);
  const ends = [mean - half, mean + half, hallEnd(moments, half), hallEnd(moments, -half)];
  return { low: Math.min(...ends), high: Math.max(...ends) };
}

/** Hall 1992: the cubic transformation that takes the skewness out, inverted. */
function hallEnd({ n, mean, sd, skewness }: Moments, distance: number): number {
  // What is not a number: spread so small that its cube is none.
  if (!(Math.abs(skewness) >= 1e-6)) return mean - distance;
  const inner = 1 + skewness * (distance / sd - skewness / (6 * n));
  return mean - (3 * sd * (cubeRoot(inner) - 1)) / skewness;
}

/** Beyond these, digits are rounding of the arithmetic. */
const DIGITS = 9;

/** A mean that is smaller than this share of the largest number is rounding of the arithmetic. */
const CANCELLED = 1e-14;

/** The difference of two figures, without the digits that rounding leaves behind their last. */
export function subtractRounded(a: number, b: number): number {
  const size = Math.max(Math.abs(a), Math.abs(b));
  if (!Number.isFinite(size)) return a - b;
  const places = 14 - Number(size.toExponential().split('e')[1]);
  return places < 0 || places > 100 ? a - b : Number((a - b).toFixed(places)) || 0;
}

/** As tables show a figure. */
export const roundFigure = (value: number): number => Number(value.toPrecision(DIGITS));

interface Moments {
  n: number;
  mean: number;
  /** Standard deviation (n - 1); 0 when n < 2. */
  sd: number;
  /** Corrected for few numbers (the G1 of Joanes and Gill 1998); 0 when n < 3 or without spread. */
  skewness: number;
  least: number;
  most: number;
}

/** Welford's method, with Terriberry's third moment: one pass, and no digits lost where all are
 * large and alike. */
export class Sample {
  #n = 0;
  #mean = 0;
  /** Sums of squared and cubed distances from the mean. */
  #squares = 0;
  #cubes = 0;
  #least = Number.POSITIVE_INFINITY;
  #most = Number.NEGATIVE_INFINITY;

  static of(values: Iterable<number>): Sample {
    const sample = new Sample();
    for (const value of values) sample.add(value);
    return sample;
  }

  add(value: number): void {
    this.#n += 1;
    const n = this.#n;
    const distance = value - this.#mean;
    const step = distance / n;
    const square = distance * step * (n - 1);
    this.#mean += step;
    this.#cubes += square * step * (n - 2) - 3 * step * this.#squares;
    this.#squares += square;
    this.#least = Math.min(this.#least, value);
    this.#most = Math.max(this.#most, value);
  }

  get n(): number {
    return this.#n;
  }

  /** Null of nothing. */
  moments(): Moments | null {
    const n = this.#n;
    if (n === 0) return null;
    const [least, most] = [this.#least, this.#most];
    // What rounding leaves of the sums where all numbers are the same is not spread.
    if (least === most) return { n, mean: least, sd: 0, skewness: 0, least, most };
    const sd = Math.sqrt(this.#squares / (n - 1));
    const corrected = n < 3 ? 0 : Math.sqrt(n * (n - 1)) / (n - 2);
    const spread = Math.sqrt(this.#squares / n);
    const skewness = (corrected * this.#cubes) / n / (spread * spread * spread);
    // Rounding leaves a last digit of the largest number where the numbers cancel.
    const cancels = Math.abs(this.#mean) < CANCELLED * Math.max(Math.abs(least), Math.abs(most));
    return { n, mean: cancels ? 0 : this.#mean, sd, skewness, least, most };
  }
}

/*
 * The quantile of Student's t, and the few functions that intervals need, out of + - * / and the
 * square root alone: IEEE 754 fixes these to the bit, so tables are the same on every machine.
 */

/** The share of a distribution that an interval encloses, two-sided. */
export interface Level {
  share: number;
  /** The quantile of the normal distribution that encloses it. */
  normal: number;
}

export const LEVEL_95: Level = { share: 0.95, normal: 1.959963984540054 };
export const LEVEL_97_5: Level = { share: 0.975, normal: 2.2414027276049464 };

const known = new Map<Level, Map<number, number>>();

/** The t that encloses `level` on both sides, with `freedom` degrees of freedom, from 1. */
export function studentQuantile(freedom: number, level: Level = LEVEL_95): number {
  const ofLevel = known.get(level) ?? new Map<number, number>();
  known.set(level, ofLevel);
  const found = ofLevel.get(freedom);
  if (found !== undefined) return found;
  const quantile = freedom > EXACT ? expanded(freedom, level) : bisected(freedom, level);
  ofLevel.set(freedom, quantile);
  return quantile;
}

/** Beyond this the expansion is right to 12 digits, and the sum would be long. */
const EXACT = 2_000;

function bisected(freedom: number, { share }: Level): number {
  let low = 0;
  // The quantile of 97.5 % with one degree of freedom is 25.5.
  let high = 32;
  for (let step = 0; step < 80; step += 1) {
    const middle = (low + high) / 2;
    if (within(middle, freedom) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The chance to be within t on both sides (Abramowitz and Stegun 26.7.3 and 26.7.4). */
function within(t: number, freedom: number): number {
  const slope = t / Math.sqrt(freedom);
  const cosine = 1 / Math.sqrt(1 + slope * slope);
  const sine = slope * cosine;
  const odd = freedom % 2;
  let term = odd ? cosine : 1;
  let sum = 0;
  for (let power = odd; power <= freedom - 2; power += 2) {
    sum += term;
    term *= (cosine * cosine * (power + 1)) / (power + 2);
  }
  if (!odd) return sine * sum;
  return (2 / Math.PI) * (arcTangent(slope) + sine * sum);
}

/** Halved until the series is short. */
function arcTangent(slope: number): number {
  let x = slope;
  let scale = 1;
  for (; x > 0.05; scale *= 2) x /= 1 + Math.sqrt(1 + x * x);
  let term = x;
  let sum = 0;
  for (let power = 1; power < 25; power += 2) {
    sum += term / power;
    term *= -x * x;
  }
  return scale * sum;
}

/** Cornish and Fisher's expansion about the normal quantile (Abramowitz and Stegun 26.7.5). */
function expanded(freedom: number, { normal: x }: Level): number {
  const squared = x * x;
  const first = ((squared + 1) * x) / 4;
  const second = (((5 * squared + 16) * squared + 3) * x) / 96;
  const third = ((((3 * squared + 19) * squared + 17) * squared - 15) * x) / 384;
  return x + (first + (second + third / freedom) / freedom) / freedom;
}

/** Newton's method, from above. */
export function cubeRoot(x: number): number {
  if (x === 0) return 0;
  const size = Math.abs(x);
  let root = Math.max(1, size);
  for (let next = nearer(root, size); next < root; next = nearer(root, size)) root = next;
  return x < 0 ? -root : root;
}

const nearer = (root: number, size: number): number => (2 * root + size / (root * root)) / 3;
