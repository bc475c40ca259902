/** The folder of a store, checked as plain files before LMDB sees it, and the room on its disk. */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { checkDataFile } from './header.js';
import { StoreError } from './store.js';

const dataFileName = 'data.mdb';
/** Stands beside data that was begun: an empty data file is then a loss, not a beginning. */
const begunFileName = 'begun';

/** Whether the folder holds data. @throws {StoreError} `UNREADABLE` */
function hasData(folder: string, readOnly: boolean): boolean {
  const file = join(folder, dataFileName);
  if (!existsSync(file)) return false;
  // Killed between making the file and writing its first page: nothing was ever kept here.
  if (statSync(file).size === 0 && !existsSync(join(folder, begunFileName))) return false;
  accessSync(file, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK);
  return true;
}

/**
 * Makes a folder and those above it. Node's own recursive mkdir never returns where a folder that
 * exists answers ENOENT, as /proc does.
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return;
    const parent = dirname(folder);
    if (code !== 'ENOENT' || parent === folder || existsSync(parent)) throw error;
    makeFolder(parent);
    mkdirSync(folder);
  }
}

/**
 * Makes sure that the folder is there, or may be made.
 * @throws {StoreError} `MISSING` or `UNREADABLE`.
 */
export function prepareFolder(
  folder: string,
  options: { create: boolean; readOnly: boolean },
): void {
  try {
    if (options.create && !options.readOnly) makeFolder(folder);
    else if (!hasData(folder, options.readOnly)) {
      throw new StoreError('MISSING', `${folder}: no network is stored here`);
    }
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw unreadable(folder, cause);
  }
}

/** Notes that something durable is here. */
export function markBegun(folder: string): void {
  const file = join(folder, begunFileName);
  if (!existsSync(file)) writeFileSync(file, '');
}

/** @throws {StoreError} `CORRUPT` or `UNREADABLE`. */
export function checkFolder(folder: string, readOnly: boolean): void {
  try {
    if (hasData(folder, readOnly)) checkDataFile(join(folder, dataFileName));
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw unreadable(folder, cause);
  }
}

/** Bytes that this process may still write on the folder's file system. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function unreadable(folder: string, cause: unknown): StoreError {
  const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
  return new StoreError('UNREADABLE', `${folder}: cannot be opened (${code})`, { cause });
}
