/** The folder of a store, checked as plain files before LMDB sees it, and the room on its disk. */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock, unlock } from 'fs-native-extensions';
import { checkDataFile, type ScanDepth } from './lmdb-pages.js';
import { crashPoint } from './process-end.js';
import { StoreError } from './store.js';

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

interface FolderCheck {
  readOnly: boolean;
  pageBytes: number;
  depth: ScanDepth;
  /** Whether LMDB has it open in this process already. */
  isOpenHere: boolean;
}

/**
 * Checks the data that is there, and makes what LMDB needs to open.
 * @throws {StoreError} `CORRUPT` or `UNREADABLE`.
 */
export function checkFolder(
  folder: string,
  { readOnly, pageBytes, depth, isOpenHere }: FolderCheck,
): void {
  const data = join(folder, dataFileName);
  try {
    if (hasData(folder, readOnly)) checkDataFile(data, depth);
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

/*
 * One writer per folder: an exclusive lock on an open file. The kernel drops it when its holder
 * dies, however it dies, so there is no stale state to clean up and the file stays empty.
 */

/** Name of the lock file in a store's folder. */
const lockFileName = 'writer.lock';

/**
 * Folders that this process has open for reading. lmdb gives one process one environment a file, so
 * a writer that came after a reader would be handed an environment it cannot write to.
 */
const readersHere = new Map<string, number>();
/** Folders that this process has open for writing. */
const writersHere = new Set<string>();

/** Whether this process itself writes to the folder. */
export const isWriterHere = (folder: string): boolean => writersHere.has(realpathSync(folder));

/** Notes a reader in this process; returns what ends it, which may be called twice. */
export function noteReader(folder: string): () => void {
  const path = realpathSync(folder);
  readersHere.set(path, (readersHere.get(path) ?? 0) + 1);
  let counted = true;
  return () => {
    if (!counted) return;
    counted = false;
    readersHere.set(path, (readersHere.get(path) ?? 1) - 1);
  };
}

/** Whether a writer of any process has the folder open, as far as this process may know. */
export function hasWriter(folder: string): boolean {
  if (isWriterHere(folder)) return true;
  let fd: number;
  try {
    fd = openSync(join(folder, lockFileName), 'r+');
  } catch (error) {
    // Without the file there was never a writer; without the right to it there may be one.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
  try {
    const isFree = tryLock(fd);
    if (isFree) unlock(fd);
    return !isFree;
  } finally {
    closeSync(fd);
  }
}

/** A lock that is there for longer than a look at it (hasWriter) takes. */
function tryLockTwice(fd: number): boolean {
  if (tryLock(fd)) return true;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  return tryLock(fd);
}

/**
 * Locks the folder for this writer and returns what releases it; releasing twice is harmless.
 * Another writer in the same process is refused too.
 * @throws {StoreError} `LOCKED`, or `UNREADABLE` when the folder takes no lock.
 */
export function lockFolder(folder: string): () => void {
  if ((readersHere.get(realpathSync(folder)) ?? 0) > 0) {
    const text = 'this process has the folder open for reading; close that first';
    throw new StoreError('LOCKED', `${folder}: ${text}`);
  }
  let fd: number | undefined;
  let granted = false;
  try {
    fd = openSync(join(folder, lockFileName), 'a+', OWNER_FILE);
    granted = tryLockTwice(fd);
  } catch (cause) {
    if (fd !== undefined) closeSync(fd);
    throw new StoreError('UNREADABLE', `${folder}: cannot lock the folder for writing`, { cause });
  }
  if (!granted) {
    closeSync(fd);
    throw new StoreError(
      'LOCKED',
      `${folder}: another writer has this folder open; a folder takes one writer at a time`,
    );
  }
  let held: number | null = fd;
  const path = realpathSync(folder);
  writersHere.add(path);
  return () => {
    if (held === null) return;
    writersHere.delete(path);
    unlock(held);
    closeSync(held);
    held = null;
  };
}

/*
 * Puts another data file in the place of a folder's own, by renaming it: whoever is killed
 * meanwhile leaves one of the two, whole. What is not done yet lies in folders of its own inside.
 */

/** A copy of the folder's data that is being made or given away; the next writer removes it. */
export const copiedName = 'copied.tmp';
/** Data of another folder that is to replace this one's; the next writer removes it. */
export const receivedName = 'received.tmp';

/**
 * Whoever calls has the folder's writer lock, and nothing of it open; readers of other processes
 * keep what they have.
 * @param file the new data, whole, on the same file system; it has another name afterwards.
 */
export function replaceData(folder: string, file: string): void {
  chmodSync(file, OWNER_FILE);
  syncFile(file);
  crashPoint('snapshot.checked');
  const opening = openingLock(folder, false);
  try {
    opening.takeSync();
    putInPlace(folder, file);
    crashPoint('snapshot.swapped');
    opening.leave();
  } finally {
    opening.close();
  }
}

/**
 * The file, which is on disk, becomes the folder's data. Whoever still reads keeps the old pair of
 * files; a new lock file knows of no such reader.
 */
export function putInPlace(folder: string, file: string): void {
  rmSync(join(folder, 'lock.mdb'), { force: true });
  renameSync(file, join(folder, dataFileName));
  syncFolder(folder);
}

/** What was written of it is on disk. */
export function syncFile(file: string): void {
  const fd = openSync(file, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const MIB = 1_048_576;
const PIPE_BYTES = 65_536;

/** Size limits of files, in bytes. */
export const fileBounds = {
  /** A scenario's script, a limits file, a key or certificate of TLS. */
  text: 4 * MIB,
  /** Results of runs, sweeps and test suites, and data files of a scenario. */
  result: 256 * MIB,
} as const;

/** A file that is larger than its reader allows. */
export class FileTooLarge extends Error {
  override name = 'FileTooLarge';
}

/**
 * Reads a file. A pipe or a device, whose size is unknown, has the same limit.
 *
 * @param most in bytes.
 * @throws {FileTooLarge} before more than that is in memory.
 */
export function readBounded(path: string, most: number): Buffer {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    if (size > most) throw tooLarge(path, `it has ${size} bytes`, most);
    const parts: Buffer[] = [];
    for (let length = 0; ; ) {
      // A byte more than the rest, so that the end shows; of a pipe the size says nothing.
      const rest = size > length ? size - length + 1 : PIPE_BYTES;
      const part = Buffer.allocUnsafe(Math.min(MIB, rest));
      const read = readSync(fd, part);
      if (read === 0) return Buffer.concat(parts, length);
      length += read;
      if (length > most) throw tooLarge(path, 'it has more bytes', most);
      parts.push(part.subarray(0, read));
    }
  } finally {
    closeSync(fd);
  }
}

const tooLarge = (path: string, what: string, most: number) =>
  new FileTooLarge(`${path} is too large: ${what}; expected at most ${most}`);

/*
 * Writes what LMDB would write first in a folder: an empty data file and the file of its locks.
 * lmdb 3.5.6 ends the process natively when anything fails while it opens (no room, no right), and
 * a hole in the file of locks is SIGBUS on a full disk; here every failure has a name.
 */

/**
 * Bytes of the file of locks for lmdb's 126 readers: `MDB_txninfo` and 125 times `MDB_reader`, as
 * lmdb 3.5.6 makes it. Was it too small, lmdb would make it longer.
 */
const lockBytes = 8272;

/** Both meta pages of an empty database, as `mdb_env_init_meta` writes them (see lmdb-pages.ts). */
function emptyDataFile(pageBytes: number): Buffer {
  const file = Buffer.alloc(2 * pageBytes);
  for (const number of [0, 1]) {
    const page = file.subarray(number * pageBytes);
    page.writeBigUInt64LE(BigInt(number), 0);
    page.writeUInt16LE(0x08, 18);
    page.writeUInt32LE(0xbeefc0de, 24);
    page.writeUInt32LE(2, 28);
    page.writeBigUInt64LE(0x2_0000n, 40);
    page.writeUInt32LE(pageBytes, 48);
    page.writeUInt16LE(0x08, 52);
    page.fill(0xff, 88, 96);
    page.fill(0xff, 136, 144);
    page.writeBigUInt64LE(1n, 144);
  }
  return file;
}

/** Makes an empty data file that is there wholly or not at all, and stays after a power cut. */
function makeDataFile(file: string, pageBytes: number): void {
  const unfinished = `${file}.new`;
  const fd = openSync(unfinished, 'w', 0o600);
  try {
    const bytes = emptyDataFile(pageBytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(unfinished, file);
  syncFolder(dirname(file));
}

/**
 * Makes the file of locks as long as lmdb wants it, with bytes in place of a hole. Not where this
 * process has it open: closing it here would end the locks that lmdb has on it.
 */
function makeLockFile(folder: string): void {
  const file = join(folder, 'lock.mdb');
  const fd = openSync(file, 'a', 0o600);
  try {
    const missing = lockBytes - fstatSync(fd).size;
    if (missing > 0) writeFileSync(fd, Buffer.alloc(missing));
  } finally {
    closeSync(fd);
  }
}

/** Makes the names in a folder outlast a power cut, where folders can be synced. */
function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'EPERM' && code !== 'EISDIR') throw error;
  } finally {
    closeSync(fd);
  }
}

/** Whether a file is missing or holds nothing. */
function isEmptyFile(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined || found.size === 0;
}

/*
 * Keeps the opening of readers and the commits of the writer apart. lmdb 3.5.6 takes the number of
 * the last transaction from the data file's header when it opens, and stores it where the writer
 * looks for it: a reader that began to open before a commit and ended after it would take that
 * commit back (mdb.c, mdb_env_open2). So a commit and an opening exclude each other.
 */

const fileName = 'opening.lock';
const retryMs = 1;
/** A commit takes milliseconds, on a bad disk a second. */
const patienceMs = 30_000;

export interface OpeningLock {
  /** Waits, for a process that opens. @throws {StoreError} `LOCKED` when it takes too long. */
  takeSync(): void;
  /** Takes it at once, or says that another has it. */
  tryTake(): boolean;
  /** Waits for as long as it takes, for the writer: an opening ends, or its process does. */
  take(): Promise<void>;
  leave(): void;
  close(): void;
}

/** For a reader that needs none: it cannot write where the writer would look. */
export const noOpeningLock: OpeningLock = {
  takeSync: () => undefined,
  tryTake: () => true,
  take: async () => undefined,
  leave: () => undefined,
  close: () => undefined,
};

/** A reader without the right to write needs none: lmdb gives it no locks either. */
export function openingLock(folder: string, readOnly: boolean): OpeningLock {
  let fd: number | null;
  try {
    fd = openSync(join(folder, fileName), 'a+', 0o600);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (readOnly && (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')) {
      return noOpeningLock;
    }
    const text = `${folder}: cannot make ${fileName} (${code})`;
    throw new StoreError('UNREADABLE', text, { cause });
  }
  const tryTake = () => fd !== null && tryLock(fd);
  return {
    tryTake,
    takeSync: () => takeSync(folder, tryTake),
    async take() {
      while (!tryTake()) await sleep(retryMs);
    },
    leave() {
      if (fd !== null) unlock(fd);
    },
    close() {
      if (fd !== null) closeSync(fd);
      fd = null;
    },
  };
}

function takeSync(folder: string, tryTake: () => boolean): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const end = performance.now() + patienceMs;
  while (!tryTake()) {
    if (performance.now() > end) {
      const who = 'another process is opening it or in the middle of a commit, and does not end';
      throw new StoreError('LOCKED', `${folder}: ${who}`);
    }
    Atomics.wait(pause, 0, 0, retryMs);
  }
}
