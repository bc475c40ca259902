/** HDR histograms of microseconds, three digits exact, and what a result says of one. */
import { build, encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js';
import type { Percentiles } from '../result.js';

export type { Histogram };

export function newHistogram(): Histogram {
  return build({ numberOfSignificantValueDigits: 3 });
}

/** Clocks of one process do not go backwards; what is below zero is rounding. */
export function record(histogram: Histogram, durationMs: number): void {
  histogram.recordValue(Math.max(0, Math.round(durationMs * 1000)));
}

/** So many samples have one beyond their 99.9th percentile. */
const LEAST_P999 = 1_000;

/** The given percentile in milliseconds, or null without a sample. */
export function percentile(histogram: Histogram, percent: number): number | null {
  if (histogram.totalCount === 0) return null;
  return toMs(histogram.getValueAtPercentile(percent));
}

/** What is said of a histogram: all, or what costs little. */
export type Summary = (histogram: Histogram) => Percentiles;

export const percentiles: Summary = (histogram) => {
  const empty = histogram.totalCount === 0;
  return {
    ...glance(histogram),
    mean: empty ? null : toMs(Math.round(histogram.mean)),
    histogram: empty ? null : encodeIntoCompressedBase64(histogram),
  };
};

/** Without the mean, which goes through all of it, and the histogram itself: 10 ms less. */
export const glance: Summary = (histogram) => {
  const count = histogram.totalCount;
  const at = (percent: number) => percentile(histogram, percent);
  return {
    count,
    min: at(0),
    mean: null,
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    // Of fewer samples it would be the longest, under a name that promises more.
    p999: count < LEAST_P999 ? null : at(99.9),
    max: at(100),
    histogram: null,
  };
};

const toMs = (microseconds: number) => microseconds / 1000;
