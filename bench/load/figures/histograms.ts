/** The histograms of a result, by percentile. */
import { decodeFromCompressedBase64 } from 'hdr-histogram-js';
import type { LoadResult, Percentiles } from '../result.js';

export interface Timed {
  /** Of which operation; null where it is of all. */
  operation: string | null;
  time: 'response' | 'service' | 'finality' | 'delivery' | 'lag';
  percentiles: Percentiles;
}

/** Whatever a result has samples of. */
export function timesOf({ operations, finality, delivery, generator }: LoadResult): Timed[] {
  const all: Timed[] = [
    ...operations.flatMap(({ operation, response, service }): Timed[] => [
      { operation, time: 'response', percentiles: response },
      { operation, time: 'service', percentiles: service },
    ]),
    { operation: null, time: 'finality', percentiles: finality },
    { operation: null, time: 'delivery', percentiles: delivery.latency },
    { operation: null, time: 'lag', percentiles: generator.lag },
  ];
  return all.filter(({ percentiles }) => percentiles.count > 0);
}

export interface Rung {
  percentile: number;
  ms: number;
}

/** As a table shows it. */
const tableLadder = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99, 99.999,
  100,
];

/** Percentiles beyond the samples are their longest. */
export const ladder = (of: Percentiles): Rung[] => rungs(of, tableLadder);

/** Steps of a drawn curve for each halving of what is left to 100 %. */
const STEPS = 6;

/** As a curve needs it: finer the nearer to 100 %, as far as there are samples to tell. */
export function curve(of: Percentiles): Rung[] {
  const steps = Math.ceil(STEPS * Math.log2(Math.max(2, of.count)));
  const finer = Array.from({ length: steps + 1 }, (_, step) => 100 * (1 - 2 ** (-step / STEPS)));
  return rungs(of, finer);
}

function rungs({ histogram }: Percentiles, percentiles: readonly number[]): Rung[] {
  if (histogram === null) return [];
  const decoded = decodeFromCompressedBase64(histogram);
  return percentiles.map((percentile) => ({
    percentile,
    ms: decoded.getValueAtPercentile(percentile) / 1_000,
  }));
}
