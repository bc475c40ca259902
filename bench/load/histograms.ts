/**
 * A result's histograms: percentiles, the tables in a run's folder, and a log in HdrHistogram
 * format. This module is imported lazily because of the library it needs.
 */
import { HistogramLogWriter } from './bundled/hdr.js';
import { failures, listTimes } from './figures.js';
import { decodeHistogram } from './percentiles.js';
import { type LoadResult, type Percentiles, Second } from './result.js';

interface Rung {
  percentile: number;
  ms: number;
}

const tableLadder = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99, 99.999,
  100,
];

/** Returns table rows. Percentiles beyond the samples show the maximum. */
const ladder = (of: Percentiles): Rung[] => rungs(of, tableLadder);

/** Points on a curve per halving of the distance to 100 %. */
const STEPS = 6;

/** Returns the points on a curve, denser toward 100 %, as far as the samples reach. */
export function curve(of: Percentiles): Rung[] {
  const steps = Math.ceil(STEPS * Math.log2(Math.max(2, of.independent ?? of.count)));
  const finer = Array.from({ length: steps + 1 }, (_, step) => 100 * (1 - 2 ** (-step / STEPS)));
  return rungs(of, finer);
}

function rungs({ histogram }: Percentiles, percentiles: readonly number[]): Rung[] {
  if (histogram === null) return [];
  const decoded = decodeHistogram(histogram);
  return percentiles.map((percentile) => ({
    percentile,
    ms: decoded.getValueAtPercentile(percentile) / 1_000,
  }));
}

/** Columns of the tables. The result schema defines the columns of seconds.csv. */
export const tables = {
  'latencies.csv': {
    operation: 'vote, propose, read and so on; empty for times that belong to no operation',
    time: 'response, service, finality, delivery, or lag of the generator',
    percentile: '0 to 100; beyond the resolution of the samples, the maximum',
    ms: 'milliseconds',
    samples: 'of the whole histogram',
  },
  'errors.csv': {
    operation: 'vote, propose, read and so on',
    what: 'refused, lie, timed_out, broken or unfinished',
    status: 'HTTP status of a refusal',
    code: 'error.code of the response, or -',
    reason: 'error.details.reason of the response, or -',
    count: 'requests',
    share: 'of all requests of the operation, 0 to 1',
  },
} as const;

export interface Table {
  columns: readonly string[];
  rows: readonly Row[];
}

type Row = Record<string, string | number | null>;
type RowOf<T extends keyof typeof tables> = Record<keyof (typeof tables)[T], Row[string]>;

export const createTables = (result: LoadResult): Record<string, Table> => ({
  'seconds.csv': { columns: Object.keys(Second.properties), rows: result.seconds },
  'latencies.csv': { columns: Object.keys(tables['latencies.csv']), rows: latencyRows(result) },
  'errors.csv': { columns: Object.keys(tables['errors.csv']), rows: errorRows(result) },
});

const latencyRows = (result: LoadResult): RowOf<'latencies.csv'>[] =>
  listTimes(result).flatMap(({ operation, time, percentiles }) =>
    ladder(percentiles).map(({ percentile, ms }) => ({
      operation,
      time,
      percentile,
      ms,
      samples: percentiles.count,
    })),
  );

const errorRows = ({ operations }: LoadResult): RowOf<'errors.csv'>[] =>
  operations.flatMap((operation) =>
    failures(operation).map((failure) => ({
      operation: operation.operation,
      ...failure,
      share: Math.round((failure.count / operation.sent) * 1e6) / 1e6,
    })),
  );

/** One interval per histogram, with tags such as `vote.response`. */
export function histogramLog(result: LoadResult): string {
  const lines: string[] = [];
  const writer = new HistogramLogWriter((text) => void lines.push(text));
  writer.outputLogFormatVersion();
  // Written by hand, because the library's line depends on the time zone and ends with an empty
  // line.
  const seconds = (Date.parse(result.started) / 1_000).toFixed(3);
  writer.outputComment(`[StartTime: ${seconds} (seconds since epoch), ${result.started}]`);
  writer.outputComment('[Values are microseconds, interval maxima milliseconds]');
  writer.outputLegend();
  for (const { operation, time, percentiles } of listTimes(result)) {
    const decoded = decodeHistogram(percentiles.histogram!);
    // Readers split fields at spaces and commas.
    decoded.tag = [operation ?? '', time].flatMap((part) => part.match(/\w+/g) ?? []).join('.');
    writer.outputIntervalHistogram(decoded, 0, result.measured_s);
  }
  return lines.join('');
}
