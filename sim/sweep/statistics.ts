/**
 * 95 % intervals for a mean over independent runs, by kind of measure. docs/simulating.md lists the
 * families of distributions for which at least 93 of 100 intervals contain the mean.
 */
import type { MeasureKind } from '../../report/shared/measures.js';
import { exp, LEVEL_95, type Level, studentQuantile } from '../numbers.js';

/** Interval method, as named in the tables. */
export type IntervalKind = 'wilson' | 'share' | 't_log' | 't_skew';

interface Interval {
  low: number;
  high: number;
}

/** Sample statistics; null if the sample is too small. */
export interface Statistics {
  n: number;
  mean: number | null;
  sd: number | null;
  low: number | null;
  high: number | null;
  /** Interval method; null if there is no interval. */
  interval: IntervalKind | null;
}

/** Returns a measure's interval method: over runs, counts, means and percentiles are alike. */
export const toIntervalKind = (measure: MeasureKind): IntervalKind =>
  measure === 'share' ? 'share' : 't_log';

/**
 * Interval functions by method. A sample without spread has no interval, except for a share, which
 * is bounded.
 */
const makers: Record<IntervalKind, (moments: Moments, level: Level) => Interval | null> = {
  wilson: (moments, level) => wilson(moments.mean, moments.n, level),
  share: clusteredShare,
  t_log: (moments, level) => (moments.sd === 0 ? null : studentAndLog(moments, level)),
  t_skew: (moments, level) => (moments.sd === 0 ? null : studentAndSkewed(moments, level)),
};

/** @param level interval level, which is higher if a stopping rule chose the number of runs. */
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
 * Returns bounds on the mean over all runs, including runs without a value, if each run lies
 * between two numbers (Manski 1989). For a run with a value, the two numbers are equal. An
 * unbounded side is null.
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

/** Clips the interval to the measure's bounds. */
export function clampInterval(found: Statistics, least: number, most: number): Statistics {
  const { low, high } = found;
  if (low === null || high === null) return found;
  return { ...found, low: Math.max(low, least), high: Math.min(high, most) };
}

/**
 * Interval for a share of independent trials, with Yates's continuity correction (Newcombe 1998,
 * method 4). Without the correction, the coverage for one success in five trials is 0.84 instead of
 * 0.95.
 */
export function wilson(share: number, trials: number, { normal }: Level = LEVEL_95): Interval {
  const low = Math.min(share, Math.max(0, wilsonEnd(share, trials, normal)));
  const high = Math.max(share, Math.min(1, 1 - wilsonEnd(1 - share, trials, normal)));
  return { low, high };
}

/**
 * Wilson's interval for a rate, without a continuity correction (Wilson 1927; Newcombe 1998, method
 * 3). Its coverage is 0.95 on average over shares, where the corrected interval is wider.
 */
export function wilsonScore(share: number, trials: number, { normal: z }: Level = LEVEL_95) {
  const middle = (share + (z * z) / (2 * trials)) / (1 + (z * z) / trials);
  const half =
    (z * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials))) /
    (1 + (z * z) / trials);
  const low = share === 0 ? 0 : Math.max(0, middle - half);
  return { low, high: share === 1 ? 1 : Math.min(1, middle + half) };
}

/** Computes the lower end. The continuity correction subtracts half a hit. */
function wilsonEnd(share: number, trials: number, z: number): number {
  const hits = trials * share;
  if (hits <= 0.5) return 0;
  const root = z * z - 2 - 1 / trials + 4 * share * (trials - hits + 1);
  return (2 * hits + z * z - 1 - z * Math.sqrt(Math.max(0, root))) / (2 * (trials + z * z));
}

/**
 * Interval for a share that is measured within each run. Votes or blocks in one run are correlated,
 * so their counts must not be pooled. The variance between runs gives the effective number of
 * trials (Korn and Graubard 1998). That number is at least the number of runs, because no share
 * varies more than a Bernoulli variable. Without variance, each run counts as one trial.
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
 * Interval for non-negative numbers such as counts and times: the hull of Student's interval and of
 * Student's interval for the logarithm of the mean, which suits positive skew. For negative skew,
 * the hull includes Hall's interval too.
 */
function studentAndLog(moments: Moments, level: Level): Interval {
  const { mean, skewness } = moments;
  const half = halfOf(moments, level);
  const ratio = exp(half / mean);
  const { low, high } =
    skewness < 0 ? studentAndSkewed(moments, level) : { low: mean - half, high: mean + half };
  return { low: Math.max(0, Math.min(low, mean / ratio)), high: Math.max(high, mean * ratio) };
}

/** Interval for any sign: the hull of Student's and Hall's intervals. Hall's corrects skewness. */
function studentAndSkewed(moments: Moments, level: Level): Interval {
  const { mean } = moments;
  const half = halfOf(moments, level);
  const ends = [mean - half, mean + half, hallEnd(moments, half), hallEnd(moments, -half)];
  return { low: Math.min(...ends), high: Math.max(...ends) };
}

/** Inverts the cubic transformation that removes skewness (Hall 1992). */
function hallEnd({ n, mean, sd, skewness }: Moments, distance: number): number {
  // This condition is true for NaN too, which results from a spread whose cube underflows.
  if (!(Math.abs(skewness) >= 1e-6)) return mean - distance;
  const inner = 1 + skewness * (distance / sd - skewness / (6 * n));
  return mean - (3 * sd * (cubeRoot(inner) - 1)) / skewness;
}

/** Number of significant digits. Further digits are rounding errors. */
const DIGITS = 9;

/** Fraction of the largest number below which a mean is a rounding error. */
const CANCELLED = 1e-14;

/** Subtracts two numbers and removes rounding errors beyond their last digit. */
export function subtractRounded(a: number, b: number): number {
  const size = Math.max(Math.abs(a), Math.abs(b));
  if (!Number.isFinite(size)) return a - b;
  const places = 14 - Number(size.toExponential().split('e')[1]);
  return places < 0 || places > 100 ? a - b : Number((a - b).toFixed(places)) || 0;
}

/** Rounds a number as shown in the tables. */
export const roundFigure = (value: number): number => Number(value.toPrecision(DIGITS));

interface Moments {
  n: number;
  mean: number;
  /** Sample standard deviation (n - 1); 0 if n < 2. */
  sd: number;
  /** Adjusted skewness (G1 of Joanes and Gill 1998); 0 if n < 3 or without spread. */
  skewness: number;
  least: number;
  most: number;
}

/**
 * One-pass moments by Welford's method with Terriberry's third moment. The method is numerically
 * stable for large, similar numbers.
 */
export class Sample {
  #n = 0;
  #mean = 0;
  /** Sums of squared and cubed deviations from the mean. */
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

  /** Returns the moments, or null for an empty sample. */
  moments(): Moments | null {
    const n = this.#n;
    if (n === 0) return null;
    const [least, most] = [this.#least, this.#most];
    // Equal numbers have no spread, even if rounding leaves a remainder in the sums.
    if (least === most) return { n, mean: least, sd: 0, skewness: 0, least, most };
    const sd = Math.sqrt(this.#squares / (n - 1));
    const corrected = n < 3 ? 0 : Math.sqrt(n * (n - 1)) / (n - 2);
    const spread = Math.sqrt(this.#squares / n);
    const skewness = (corrected * this.#cubes) / n / (spread * spread * spread);
    // If the numbers cancel, the mean is only a rounding error of the largest number.
    const cancels = Math.abs(this.#mean) < CANCELLED * Math.max(Math.abs(least), Math.abs(most));
    return { n, mean: cancels ? 0 : this.#mean, sd, skewness, least, most };
  }
}

/** Computes a cube root by Newton's method, starting above the root. */
export function cubeRoot(x: number): number {
  if (x === 0) return 0;
  const size = Math.abs(x);
  let root = Math.max(1, size);
  for (let next = nearer(root, size); next < root; next = nearer(root, size)) root = next;
  return x < 0 ? -root : root;
}

const nearer = (root: number, size: number): number => (2 * root + size / (root * root)) / 3;
