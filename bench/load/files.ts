/**
 * The folder of a load run. Writes the result, tables, histograms and report, and reads a result
 * and validates it against the schema.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { prepareFolder, writeWhole } from '../../report/folder.js';
import { CsvFile } from '../../report/tables.js';
import type { Table } from './histograms.js';
import { loadResultError } from './messages.js';
import { LEAST_P999, LoadResult, type Percentiles } from './result.js';

/**
 * Files of a run. result.json is written last, so a folder that contains result.json is complete.
 */
export const fileNames = [
  'seconds.csv',
  'latencies.csv',
  'errors.csv',
  'histograms.hlog',
  'report.html',
  'result.json',
];

/**
 * Creates the folder before the run, so that the result can be written. Refuses a folder that
 * contains a run.
 * @throws {StoreError} `OTHER_NETWORK` if the folder contains a run, `UNREADABLE` if the folder
 * cannot be used.
 */
export const prepareLoad = (folder: string): Promise<void> => prepareFolder(folder, fileNames);

/**
 * Writes all files of a run, each atomically.
 * @throws {StoreError} as for `prepareLoad`, and `UNREADABLE` if a file cannot be written.
 */
export async function writeLoad(result: LoadResult, folder: string): Promise<void> {
  checked(result, (why) => new Error(`the result of the run breaks its own schema: ${why}`));
  await prepareLoad(folder);
  const { histogramLog, createTables } = await import('./histograms.js');
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

/**
 * @param path path of a result file or a run's folder.
 * @throws {StoreError} with the code `MISSING` if the file does not exist or is not a valid result.
 */
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
  return revised(checked(value, (why) => unreadable(file, why)));
}

/**
 * Applies today's rules to a result of an older version, which was VALID although interrupted, and
 * has no counts of independent samples.
 */
function revised(result: LoadResult): LoadResult {
  const { ended, finality, delivery, operations } = result;
  const proposals = operations.filter(({ operation }) => operation.startsWith('propose'));
  const blocks = proposals.reduce((sum, { accepted }) => sum + accepted, 0);
  const updates = Math.ceil(delivery.delivered / Math.max(1, delivery.subscribers));
  return {
    ...result,
    ...(ended === 'interrupted' ? { verdict: 'INCOMPLETE' } : {}),
    finality: withIndependent(finality, blocks),
    delivery: { ...delivery, latency: withIndependent(delivery.latency, updates) },
  };
}

function withIndependent(times: Percentiles, samples: number): Percentiles {
  if (times.independent !== undefined || times.count === 0) return times;
  const independent = Math.min(times.count, samples);
  return { ...times, independent, p999: independent < LEAST_P999 ? null : times.p999 };
}

/** @throws the error built from the first problem. */
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
