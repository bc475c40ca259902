/** Reads what a run or a sweep has left in its folder, however long its tables are. */
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse';
import { fileBounds, readBounded, StoreError } from '../engine/internal.js';

export type TableRow = Record<string, string>;

export const has = (folder: string, name: string): boolean => existsSync(join(folder, name));

/** @throws {StoreError} `UNREADABLE` */
export function readJson<T>(folder: string, name: string): T {
  try {
    return JSON.parse(readBounded(join(folder, name), fileBounds.result).toString()) as T;
  } catch (cause) {
    throw unreadable(folder, name, cause);
  }
}

/** Row after row; no more than some are in memory. */
export async function* tableRows(folder: string, name: string): AsyncGenerator<TableRow> {
  const source = createReadStream(join(folder, name));
  const parser = parse({ columns: true, record_delimiter: '\n' });
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const row of source.pipe(parser)) yield row as TableRow;
  } catch (cause) {
    throw unreadable(folder, name, cause);
  } finally {
    source.destroy();
  }
}

function unreadable(folder: string, name: string, cause: unknown): StoreError {
  const why = (cause as Error).message;
  const message = `${name} in ${folder} cannot be read: ${why}; expected a finished run or sweep`;
  return new StoreError('UNREADABLE', message, { cause });
}

/** A number, or null where nothing can be said. */
export const numberOf = (text: string | undefined): number | null =>
  text === undefined || text === '' ? null : Number(text);
