/**
 * The folder of a load run. Writes the result, tables, a log of histograms in the format of
 * HdrHistogram, and a report. Reads a result and validates it against the schema.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { prepareFolder, writeWhole } from '../../report/folder.js';
import { CsvFile } from '../../report/tables.js';
import { HistogramLogWriter } from './bundled/hdr.js';
import { failures, listTimes } from './figures.js';
import { loadResultError } from './messages.js';
import { decodeHistogram } from './percentiles.js';
import { LoadResult, type Percentiles, Second } from './result.js';

/** Files of a run. A folder that contains result.json, which is written last, is complete. */
export const fileNames = [
  'seconds.csv',
  'latencies.csv',
  'errors.csv',
  'histograms.hlog',
  'report.html',
  'result.json',
];

/** Creates the folder before the run. @throws {StoreError} if it holds a run or cannot be used. */
export const prepareLoad = (folder: string): Promise<void> => prepareFolder(folder, fileNames);

/** Writes all files of a run, each atomically. @throws {StoreError} */
export async function writeLoad(result: LoadResult, folder: string): Promise<void> {
  checked(result, (why) => new Error(`the result of the run breaks its own schema: ${why}`));
  await prepareLoad(folder);
  const { loadReport } = await import('./report.js');
  for (const [name, { columns, rows }] of Object.entries<Table>(createTables(result))) {
    new CsvFile(folder, name, columns).finishWith(rows);
  }
  writeWhole(folder, 'histograms.hlog', histogramLog(result));
  writeWhole(folder, 'report.html', loadReport(result));
  writeWhole(folder, 'result.json', `${JSON.stringify(result, null, 2)}\n`);
}

/** The result of a day-long run takes about 25 MiB. */
const MOST_BYTES = 64 * 2 ** 20;

const problemOf = validator('load_result', LoadResult);

/** Reads a result file, or that of a run's folder. @throws {StoreError} `MISSING` */
export function readLoad(path: string): LoadResult {
  const file = fileOf(path);
  const value = parsed(file);
  const { format } = (typeof value === 'object' && value !== null ? value : {}) as {
    format?: unknown;
  };
  if (format !== LoadResult.properties.format.const) {
    const found = format === undefined ? 'it names no format' : `its format is ${excerpt(format)}`;
    throw unreadable(file, `${found}; expected ${LoadResult.properties.format.const}`);
  }
  return checked(value, (why) => unreadable(file, why));
}

function checked(value: unknown, error: (why: string) => Error): LoadResult {
  const problem = problemOf(value);
  if (problem) throw error(`${problem.pointer || 'it'} ${problem.message}`);
  return value as LoadResult;
}

function fileOf(path: string): string {
  const there = statSync(path, { throwIfNoEntry: false });
  if (!there) throw loadResultError('LOAD_RESULT_NOT_FOUND', { path });
  return there.isDirectory() ? join(path, 'result.json') : path;
}

function parsed(file: string): unknown {
  try {
    const { size } = statSync(file);
    if (size <= MOST_BYTES) return parseUnique(readFileSync(file, 'utf8')) as unknown;
  } catch (cause) {
    throw unreadable(file, describeSystemError(cause));
  }
  throw unreadable(file, `it is larger than ${MOST_BYTES / 2 ** 20} MiB`);
}

const unreadable = (path: string, reason: string) =>
  loadResultError('LOAD_RESULT_INVALID', { path, reason });

/** Shortens foreign text to one line. */
const excerpt = (value: unknown): string => JSON.stringify(value).slice(0, 60);

const percents = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99, 99.999,
  100,
];

/** Returns table rows. Percentiles beyond the samples show the maximum. */
function ladder({ histogram }: Percentiles): { percentile: number; ms: number }[] {
  const decoded = decodeHistogram(histogram!);
  return percents.map((percentile) => ({
    ...{ percentile, ms: decoded.getValueAtPercentile(percentile) / 1_000 },
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

interface Table {
  columns: readonly string[];
  rows: readonly Row[];
}

type Row = Record<string, string | number | null>;
type RowOf<T extends keyof typeof tables> = Record<keyof (typeof tables)[T], Row[string]>;

const createTables = (result: LoadResult): Record<string, Table> => ({
  'seconds.csv': { columns: Object.keys(Second.properties), rows: result.seconds },
  'latencies.csv': { columns: Object.keys(tables['latencies.csv']), rows: latencyRows(result) },
  'errors.csv': { columns: Object.keys(tables['errors.csv']), rows: errorRows(result) },
});

const latencyRows = (result: LoadResult): RowOf<'latencies.csv'>[] =>
  listTimes(result).flatMap(({ operation, time, percentiles }) =>
    ladder(percentiles).map((rung) => ({ operation, time, ...rung, samples: percentiles.count })),
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
function histogramLog(result: LoadResult): string {
  const lines: string[] = [];
  const writer = new HistogramLogWriter((text) => void lines.push(text));
  writer.outputLogFormatVersion();
  // The library's line depends on the time zone and ends with an empty line.
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
