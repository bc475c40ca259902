/**
 * The histograms of a result: by percentile, as the tables of a run's folder, and as a log that the
 * tools of HdrHistogram read. Loaded late, for its library.
 */
import { decodeFromCompressedBase64, HistogramLogWriter } from 'hdr-histogram-js';
import { type LoadResult, type Operation, type Percentiles, Second } from './result.js';

interface Timed {
  /** Of which operation; null where it is of all. */
  operation: string | null;
  time: 'response' | 'service' | 'finality' | 'delivery' | 'lag';
  percentiles: Percentiles;
}

/** Whatever a result has samples of. */
export function listTimes({ operations, finality, delivery, generator }: LoadResult): Timed[] {
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

interface Rung {
  percentile: number;
  ms: number;
}

/** As a table shows it. */
const tableLadder = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99, 99.999,
  100,
];

/** Percentiles beyond the samples are their longest. */
const ladder = (of: Percentiles): Rung[] => rungs(of, tableLadder);

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

/** Of seconds.csv the columns are what the result says of each second. */
export const tables = {
  'latencies.csv': {
    operation: 'vote, propose, read and so on; empty where the time is not of one',
    time: 'response, service, finality, delivery, or lag of the generator',
    percentile: '0 to 100; beyond what the samples can tell it is the longest',
    ms: 'milliseconds',
    samples: 'of the whole histogram',
  },
  'errors.csv': {
    operation: 'vote, propose, read and so on',
    what: 'refused, lie, timed_out, broken or unfinished',
    status: 'HTTP status of a refusal',
    code: 'its error.code, or - where the answer has none',
    reason: 'its error.details.reason, or -',
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

/** What was not accepted; nothing where everything was. */
const errorRows = ({ operations }: LoadResult): RowOf<'errors.csv'>[] =>
  operations.flatMap((operation) =>
    failures(operation).map((failure) => ({
      operation: operation.operation,
      ...failure,
      share: Math.round((failure.count / operation.sent) * 1e6) / 1e6,
    })),
  );

export interface Failure {
  what: 'refused' | 'lie' | 'timed_out' | 'broken' | 'unfinished';
  status: number | null;
  code: string | null;
  reason: string | null;
  count: number;
}

/** Whatever was not accepted, and how often. */
export function failures(of: Operation): Failure[] {
  const none = { status: null, code: null, reason: null };
  const all: Failure[] = [
    ...of.refused.map((one): Failure => ({ what: 'refused', ...one })),
    { what: 'lie', ...none, count: of.lies },
    { what: 'timed_out', ...none, count: of.timed_out },
    { what: 'broken', ...none, count: of.broken },
    { what: 'unfinished', ...none, count: of.unfinished },
  ];
  return all.filter(({ count }) => count > 0);
}

/** One interval for each histogram, told apart by tags such as `vote.response`. */
export function histogramLog(result: LoadResult): string {
  const lines: string[] = [];
  const writer = new HistogramLogWriter((text) => void lines.push(text));
  writer.outputLogFormatVersion();
  // By hand: the library's own line depends on the time zone, and an empty line follows it.
  const seconds = (Date.parse(result.started) / 1_000).toFixed(3);
  writer.outputComment(`[StartTime: ${seconds} (seconds since epoch), ${result.started}]`);
  writer.outputComment('[Values are microseconds, interval maxima milliseconds]');
  writer.outputLegend();
  for (const { operation, time, percentiles } of listTimes(result)) {
    const decoded = decodeFromCompressedBase64(percentiles.histogram!);
    // Readers part their fields at spaces and commas.
    decoded.tag = [operation ?? '', time].flatMap((part) => part.match(/\w+/g) ?? []).join('.');
    writer.outputIntervalHistogram(decoded, 0, result.measured_s);
  }
  return lines.join('');
}
