/** The tables of a load run: what their columns mean, and their rows. */
import { type LoadResult, type Operation, Second } from '../result.js';
import { ladder, timesOf } from './histograms.js';

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

export const tablesOf = (result: LoadResult): Record<string, Table> => ({
  'seconds.csv': { columns: Object.keys(Second.properties), rows: result.seconds },
  'latencies.csv': { columns: Object.keys(tables['latencies.csv']), rows: latencyRows(result) },
  'errors.csv': { columns: Object.keys(tables['errors.csv']), rows: errorRows(result) },
});

const latencyRows = (result: LoadResult): RowOf<'latencies.csv'>[] =>
  timesOf(result).flatMap(({ operation, time, percentiles }) =>
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
