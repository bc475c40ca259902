/**
 * 95 % intervals of a mean over independent runs, by the kind of the measure. docs/simulating.md
 * lists the families of distributions for which at least 93 of 100 intervals hold the mean.
 */
import type { MeasureKind } from '../../../report/shared/measures/kinds.js';
import { exp } from '../../numbers/logarithm.js';
import { type Moments, rounded, Sample } from './sample.js';
import { cubeRoot, LEVEL_95, type Level, studentQuantile } from './student.js';

/** How an interval is made, as the tables name it. */
export type IntervalKind = 'wilson' | 'share' | 't_log' | 't_skew';

export interface Interval {
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
export const kindOf = (measure: MeasureKind): IntervalKind =>
  measure === 'share' ? 'share' : 't_log';

/** Runs without spread say nothing about what another one might do, unless a share is bounded. */
const makers: Record<IntervalKind, (moments: Moments, level: Level) => Interval | null> = {
  wilson: (moments, level) => wilson(moments.mean, moments.n, level),
  share: clusteredShare,
  t_log: (moments, level) => (moments.sd === 0 ? null : studentAndLog(moments, level)),
  t_skew: (moments, level) => (moments.sd === 0 ? null : studentAndSkewed(moments, level)),
};

/** @param level of the interval; where looks chose the number of runs it must be higher. */
export function statisticsOf(
  sample: Sample,
  kind: IntervalKind,
  level: Level = LEVEL_95,
): Statistics {
  const moments = sample.moments();
  const { n } = sample;
  if (!moments) return { n, mean: null, sd: null, low: null, high: null, interval: null };
  const mean = rounded(moments.mean);
  const sd = n < 2 ? null : rounded(moments.sd);
  const used = kind === 't_log' && moments.least < 0 ? 't_skew' : kind;
  const found = n < 2 ? null : makers[used](moments, level);
  if (!found) return { n, mean, sd, low: null, high: null, interval: null };
  return { n, mean, sd, low: rounded(found.low), high: rounded(found.high), interval: used };
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
    return rounded(Sample.of(ends).moments()?.mean ?? Number.NaN);
  };
  if (ranges.length === 0) return { mean_least: null, mean_most: null };
  return {
    mean_least: meanOf(ranges.map(({ low }) => low)),
    mean_most: meanOf(ranges.map(({ high }) => high)),
  };
}

/** No mean lies where no number can: an interval ends where these do. */
export function bounded(found: Statistics, least: number, most: number): Statistics {
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
