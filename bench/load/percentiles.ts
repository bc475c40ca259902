/** Histograms of times in microseconds, and scores of the difference of two. */
import { inflateSync } from 'node:zlib';
import { Streams } from '../../sim/rng.js';
import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from './bundled/hdr.js';
import { loadResultError } from './messages.js';
import { LEAST_P999, type Percentiles, type Second } from './result.js';

export function newHistogram(): Histogram {
  return build({ numberOfSignificantValueDigits: 3 });
}

/** Records a duration. The clock is monotonic, so a negative duration is a rounding error. */
export function record(histogram: Histogram, durationMs: number): void {
  histogram.recordValue(Math.max(0, Math.round(durationMs * 1000)));
}

export function percentile(histogram: Histogram, percent: number): number | null {
  if (histogram.totalCount === 0) return null;
  return toMs(histogram.getValueAtPercentile(percent));
}

/** Summarizes a histogram. @param independent number of independent samples, if not all are. */
export type Summary = (histogram: Histogram, independent?: number) => Percentiles;

export const percentiles: Summary = (histogram, independent) => {
  const empty = histogram.totalCount === 0;
  return {
    ...glance(histogram, independent),
    mean: empty ? null : toMs(Math.round(histogram.mean)),
    histogram: empty ? null : encodeIntoCompressedBase64(histogram),
  };
};

/** Omits the histogram and the mean, whose computation scans all counts. This saves 10 ms. */
export const glance: Summary = (histogram, independent) => {
  const count = histogram.totalCount;
  const at = (percent: number) => percentile(histogram, percent);
  return {
    count,
    ...(independent === undefined ? {} : { independent }),
    ...{ min: at(0), mean: null, p50: at(50), p90: at(90), p95: at(95), p99: at(99) },
    p999: (independent ?? count) < LEAST_P999 ? null : at(99.9),
    ...{ max: at(100), histogram: null },
  };
};

const toMs = (microseconds: number) => microseconds / 1000;

/** Adds histograms up; a single one is not copied. */
export function merged(all: readonly Histogram[]): Histogram {
  if (all.length === 1) return all[0]!;
  const whole = newHistogram();
  for (const one of all) whole.add(one);
  return whole;
}

/** Limit of the decompressed size: twice that of a histogram with three significant digits. */
const LARGEST_BYTES = 1_048_576;
/** Cookie and length, before the compressed part. */
const HEAD_BYTES = 8;
/** Offset of the number of significant digits in the decompressed part. */
const DIGITS_AT = 12;
const DIGITS = 3;

/**
 * Decodes a histogram, which may come from another person. @throws {StoreError} if it is damaged.
 */
export function decodeHistogram(text: string): Histogram {
  const bytes = Buffer.from(text, 'base64');
  try {
    // The library decompresses without a limit, and allocates memory by the digits of the input.
    const plain = inflateSync(bytes.subarray(HEAD_BYTES), { maxOutputLength: LARGEST_BYTES });
    const digits = plain.readInt32BE(DIGITS_AT);
    if (digits !== DIGITS) throw new RangeError(`${digits} significant digits, not ${DIGITS}`);
    return decodeFromCompressedBase64(bytes.toString('base64'));
  } catch (cause) {
    const reason = `a histogram is damaged: ${(cause as Error).message}`;
    throw loadResultError('LOAD_RESULT_INVALID', { path: 'histogram', reason }, { cause });
  }
}

/** Points at which the area between two curves is summed. */
const POINTS = 500;

/** Computes the sensitivity score of Stabl: the area between two distributions of times, in ms. */
export function areaBetween(a: Histogram, b: Histogram): number {
  let area = 0;
  for (let point = 0; point < POINTS; point += 1) {
    const percent = (100 * (point + 0.5)) / POINTS;
    const gap = a.getValueAtPercentile(percent) - b.getValueAtPercentile(percent);
    area += Math.abs(gap) / 1_000 / POINTS;
  }
  return Math.round(1_000 * area) / 1_000;
}

/** A score, with a 95 % interval that contains 0 if chance explains the score. */
export interface Score {
  ms: number;
  low_ms: number;
  high_ms: number;
}

const DRAWS = 200;
const MOST_UNITS = 60;
const LEAST_UNITS = 5;
const STEPS = 20;

/** Times of a second of which the rest of a row is not needed. */
export type Timed = Pick<
  Second,
  'second' | 'accepted' | 'response_p50' | 'response_p95' | 'response_p99'
>;

export interface Usual {
  seconds: readonly Timed[];
  times: Histogram;
}

/**
 * Adds the interval to a score. Its half is the score that 95 % of the pairs of equal times stay
 * below: pairs of seconds, because times within a second depend on each other, and pairs of single
 * times, because a few long times move a score. Null with fewer than five seconds.
 */
export function toScore(
  ms: number,
  { seconds, times }: Usual,
  other: { seconds: number; count: number },
): Score | null {
  const known = seconds.filter(({ response_p50 }) => response_p50 !== null);
  if (known.length < LEAST_UNITS) return null;
  // In a long run, a unit is several seconds, which also covers slower changes.
  const width = Math.ceil(known.length / MOST_UNITS);
  const units = Array.from({ length: Math.ceil(known.length / width) }, (_, index) =>
    known.slice(index * width, (index + 1) * width).flatMap(pointsOf),
  );
  const single = Array.from({ length: 2 * POINTS }, (_, index): Point[] => {
    const percent = (100 * (index + 0.5)) / (2 * POINTS);
    return [{ ms: times.getValueAtPercentile(percent) / 1_000, weight: 1 }];
  });
  const { totalCount: count } = times;
  const chance =
    areaByChance(units, Math.ceil(known.length / width), Math.ceil(other.seconds / width)) +
    areaByChance(single, count, Math.max(1, other.count));
  const rounded = (value: number) => Math.round(1_000 * Math.max(0, value)) / 1_000;
  return { ms, low_ms: rounded(ms - chance), high_ms: rounded(ms + chance) };
}

/** Units of a draw. More would differ by the square root of their number. */
const MOST_DRAWN = 300;

/** Returns the area that 95 % of the pairs of draws with these numbers of units stay below. */
function areaByChance(units: readonly Point[][], first: number, second: number): number {
  const stream = new Streams('load/sensitivity').of(0, 'draws');
  const sizes = [first, second].map((size) => Math.max(1, Math.min(MOST_DRAWN, size)));
  const drawn = (size: number) =>
    Array.from({ length: size }, () => units[Math.floor(stream.real() * units.length)]!).flat();
  const areas = Array.from({ length: DRAWS }, () => distance(drawn(sizes[0]!), drawn(sizes[1]!)));
  const scale = Math.sqrt((1 / first + 1 / second) / (1 / sizes[0]! + 1 / sizes[1]!));
  return scale * areas.sort((a, b) => a - b)[Math.ceil(0.95 * DRAWS) - 1]!;
}

interface Point {
  ms: number;
  weight: number;
}

/** Approximates the times of a second by its median, 95th and 99th percentile. */
function pointsOf({ accepted, response_p50, response_p95, response_p99 }: Timed): Point[] {
  const [p50, p99] = [response_p50!, response_p99!];
  const p95 = response_p95 ?? p99;
  return Array.from({ length: STEPS }, (_, step) => {
    const percent = (100 * (step + 0.5)) / STEPS;
    const above = percent <= 95 ? p50 + ((p95 - p50) * Math.max(0, percent - 50)) / 45 : p99;
    return { ms: above, weight: accepted / STEPS };
  });
}

/** Returns the area between the cumulative distributions of weighted points. */
function distance(a: readonly Point[], b: readonly Point[]): number {
  const whole = (points: readonly Point[]) => points.reduce((sum, { weight }) => sum + weight, 0);
  const [inA, inB] = [whole(a) || 1, whole(b) || 1];
  const all = [
    ...a.map(({ ms, weight }) => ({ ms, weight: weight / inA })),
    ...b.map(({ ms, weight }) => ({ ms, weight: -weight / inB })),
  ].sort((one, other) => one.ms - other.ms);
  let [area, gap] = [0, 0];
  for (const [index, { ms, weight }] of all.entries()) {
    gap += weight;
    area += Math.abs(gap) * ((all[index + 1]?.ms ?? ms) - ms);
  }
  return area;
}
