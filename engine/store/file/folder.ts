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
import { StoreError } from '../store.js';
import { isEmptyFile, makeDataFile, makeLockFile, syncFolder } from './first-pages.js';
import { checkDataFile, type Look } from './header.js';

/** LMDB's name for its data. */
export const dataFileName = 'data.mdb';
/** Stands beside data that was begun: an empty data file is then a loss, not a beginning. */
const begunFileName = 'begun';

/** What an empty database with all tables takes, doubled. */
const firstBytes = 512 * 1024;

/** Whether the folder holds data. @throws {StoreError} `UNREADABLE` */
function hasData(folder: string, readOnly: boolean): boolean {
  const file = join(folder, dataFileName);
  if (!existsSync(file)) return false;
  // Killed between making the file and writing its first page: nothing was ever kept here.
  if (statSync(file).size === 0 && !existsSync(join(folder, begunFileName))) return false;
  accessSync(file, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK);
  return true;
}

/** A log is its owner's: whoever can write it can forge it, and it says who did what, and when. */
const OWNER_FOLDER = 0o700;
export const OWNER_FILE = 0o600;

/**
 * Makes a folder and those above it. Node's own recursive mkdir never returns where a folder that
 * exists answers ENOENT, as /proc does.
 * @param mode of the folder, not of those above it.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  try {
    mkdirSync(folder, { mode });
    syncFolder(dirname(folder));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return;
    const parent = dirname(folder);
    if (code !== 'ENOENT' || parent === folder || existsSync(parent)) throw error;
    makeFolder(parent);
    makeFolder(folder, mode);
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
    if (options.create && !options.readOnly) makeFolder(folder, OWNER_FOLDER);
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
  if (!existsSync(file)) writeFileSync(file, '', { mode: OWNER_FILE });
}

interface Readying {
  readOnly: boolean;
  pageBytes: number;
  look: Look;
  /** Whether LMDB has it open in this process already. */
  isOpenHere: boolean;
}

/**
 * Checks the data that is there, and makes what LMDB needs to open.
 * @throws {StoreError} `CORRUPT` or `UNREADABLE`.
 */
export function readyFolder(
  folder: string,
  { readOnly, pageBytes, look, isOpenHere }: Readying,
): void {
  const data = join(folder, dataFileName);
  try {
    if (hasData(folder, readOnly)) checkDataFile(data, look);
    else if (!readOnly && isEmptyFile(data)) {
      assertFirstRoom(folder);
      makeDataFile(data, pageBytes);
    }
    if (!isOpenHere) readyLocks(folder, readOnly);
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw unreadable(folder, cause);
  }
}

/** @throws {StoreError} `FULL` when LMDB could not write what it writes first. */
function assertFirstRoom(folder: string): void {
  const free = freeBytes(folder);
  if (free >= firstBytes) return;
  const text = `${free} bytes are free on its disk, a new network needs ${firstBytes}; make room`;
  throw new StoreError('FULL', `${folder}: ${text}`);
}

/** Where a reader may not write, LMDB does without locks. */
function readyLocks(folder: string, readOnly: boolean): void {
  try {
    makeLockFile(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!readOnly || (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS')) throw error;
  }
}

/**
 * Bytes that this process may still write on the folder's file system.
 * @throws {StoreError} `UNREADABLE` when the system does not say.
 */
export function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch (cause) {
    throw unreadable(folder, cause);
  }
}

function unreadable(folder: string, cause: unknown): StoreError {
  const { code = String(cause), syscall = 'open' } = cause as NodeJS.ErrnoException;
  const advice = code === 'ENOSPC' ? '; make room on its disk and start again' : '';
  const text = `${folder}: cannot be used: ${syscall} fails with ${code}${advice}`;
  return new StoreError('UNREADABLE', text, { cause });
}
