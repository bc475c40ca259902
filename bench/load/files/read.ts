/** Reads a result that a load run has left, and believes none of it unchecked. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError, validator } from '../../../engine/internal.js';
import { LoadResult } from '../result.js';

/** A run of a day, second by second, takes some 25 MiB. */
const MOST_BYTES = 64 * 2 ** 20;

const problemOf = validator(LoadResult);

/**
 * @param path a result.json, under whatever name, or the folder that it is in.
 * @throws {StoreError} `MISSING`, also when it is anything else.
 */
export function readLoad(path: string): LoadResult {
  const file = fileOf(path);
  const value = parsed(file);
  const { format } = (typeof value === 'object' && value !== null ? value : {}) as {
    format?: unknown;
  };
  if (format !== LoadResult.properties.format.const) {
    const found = format === undefined ? 'it names no format' : `its format is ${text(format)}`;
    throw unreadable(file, `${found}; expected ${LoadResult.properties.format.const}`);
  }
  return checked(value, (why) => unreadable(file, why));
}

/** @throws what `error` makes of the first problem. */
export function checked(value: unknown, error: (why: string) => Error): LoadResult {
  const problem = problemOf(value);
  if (problem) throw error(`${problem.pointer || 'it'} ${problem.message}`);
  return value as LoadResult;
}

function fileOf(path: string): string {
  const there = statSync(path, { throwIfNoEntry: false });
  if (!there) throw new StoreError('MISSING', `${path} does not exist; expected ${wanted}`);
  return there.isDirectory() ? join(path, 'result.json') : path;
}

function parsed(file: string): unknown {
  try {
    const { size } = statSync(file);
    if (size <= MOST_BYTES) return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (cause) {
    throw unreadable(file, (cause as Error).message);
  }
  throw unreadable(file, `it is larger than ${MOST_BYTES / 2 ** 20} MiB`);
}

const wanted = 'the result.json of folkmoot load --out, or its folder';

const unreadable = (file: string, why: string) =>
  new StoreError('MISSING', `${file} cannot be used: ${why}. It should be ${wanted}`);

/** What a stranger wrote, short and on one line. */
const text = (value: unknown): string => JSON.stringify(value).slice(0, 60);
