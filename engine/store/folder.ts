/** A data folder's files: checks before LMDB opens them, locks, and free disk space. */

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
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock, unlock } from 'fs-native-extensions';
import { describeSystemError } from '../protocol/messages.js';
import { assertDataFile, type ScanDepth } from './lmdb-pages.js';
import { StoreError, storeError } from './messages.js';
import { crashPoint } from './process-end.js';
import { archiveFolder, rangeOfName, unfinishedName } from './segment.js';

/** LMDB's name for its data file. */
export const dataFileName = 'data.mdb';
/** Marks a folder with committed data. An empty data file alongside this marker means data loss. */
const begunFileName = 'begun';
/** Subfolder of a copy without free pages, which replaces the data. */
export const compactedName = 'compacted.tmp';
/** Subfolder for a copy of the data to send to a node. The next writer removes it. */
export const copiedName = 'copied.tmp';
/** Subfolder for data received from a different node. The next writer removes the subfolder. */
export const receivedName = 'received.tmp';
/** Files and subfolders that exist only in the folder of a network with committed data. */
const traces = [begunFileName, compactedName, copiedName, receivedName];

/** Twice the size of an empty database with all tables. */
const firstBytes = 512 * 1024;

/** Returns true if the folder holds data. @throws if a file system call fails. */
function hasData(folder: string, readOnly: boolean): boolean {
  const file = join(folder, dataFileName);
  if (!existsSync(file)) return false;
  // The process was killed between creating the file and writing its first page, so nothing was
  // ever committed.
  if (statSync(file).size === 0 && !existsSync(join(folder, begunFileName))) return false;
  accessSync(file, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK);
  return true;
}

/** Returns the name of a file, except data.mdb, that shows a present or former network, or null. */
export function findTrace(folder: string): string | null {
  return traces.find((name) => existsSync(join(folder, name))) ?? findSegment(folder);
}

function findSegment(folder: string): string | null {
  const archive = archiveFolder(folder);
  if (!existsSync(archive)) return null;
  const name = readdirSync(archive).find((one) => one === unfinishedName || rangeOfName(one));
  return name === undefined ? null : `archive/${name}`;
}

/** Grants access only to the owner, because a process that can write the log can forge it. */
const OWNER_FOLDER = 0o700;
export const OWNER_FILE = 0o600;

/**
 * Creates a folder and its parents. Node's recursive mkdir never returns if an existing folder
 * reports ENOENT, as /proc does.
 * @param mode applies to the folder, but not to its parents.
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
 * Creates the folder, or checks that it holds data. Returns a trace of committed data, or null. The
 * trace was there before the data is read, so data without a network has been lost.
 * @throws {StoreError} `MISSING`, `UNREADABLE`, or `CORRUPT` if the data file has been lost.
 */
export function prepareFolder(
  folder: string,
  options: { create: boolean; readOnly: boolean },
): string | null {
  const create = options.create && !options.readOnly;
  try {
    if (create) makeFolder(folder, OWNER_FOLDER);
    const trace = findTrace(folder);
    if ((create && trace === null) || hasData(folder, options.readOnly)) return trace;
    if (trace !== null) throw storeError('DATA_MISSING', { path: folder, trace });
    throw storeError('NO_NETWORK', { path: folder });
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw unreadable(folder, cause);
  }
}

/** Marks the folder as holding committed data. */
export function markBegun(folder: string): void {
  const file = join(folder, begunFileName);
  if (!existsSync(file)) writeFileSync(file, '', { mode: OWNER_FILE });
}

interface FolderCheck {
  readOnly: boolean;
  pageBytes: number;
  depth: ScanDepth;
  /** True if LMDB has the folder open in this process. */
  isOpenHere: boolean;
}

/** Checks data, creates the files that LMDB needs. @throws {StoreError} `CORRUPT`, `UNREADABLE`. */
export function assertFolder(
  folder: string,
  { readOnly, pageBytes, depth, isOpenHere }: FolderCheck,
): void {
  const data = join(folder, dataFileName);
  try {
    if (hasData(folder, readOnly)) assertDataFile(data, depth);
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

/** @throws {StoreError} `FULL` if there is no room for an empty database. */
function assertFirstRoom(folder: string): void {
  const free = freeBytes(folder);
  if (free >= firstBytes) return;
  throw storeError('NO_ROOM_FOR_NETWORK', { path: folder, free, needed: firstBytes });
}

/** Creates the lock file. A reader without write permission does without, as in LMDB. */
function readyLocks(folder: string, readOnly: boolean): void {
  try {
    makeLockFile(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!readOnly || (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS')) throw error;
  }
}

/**
 * Returns the bytes available to this process on the folder's file system.
 * @throws {StoreError} `UNREADABLE` if statfs fails.
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
  const { code = String(cause), syscall: call = 'open' } = cause as NodeJS.ErrnoException;
  const failure = { path: folder, call };
  if (code === 'ENOSPC') return storeError('FOLDER_NO_SPACE', failure, { cause });
  return storeError(
    'FOLDER_UNUSABLE',
    { ...failure, reason: describeSystemError(cause) },
    { cause },
  );
}

/*
 * Enforces one writer per folder with an exclusive lock on an open file. The kernel releases the
 * lock when the process dies, so a lock is never stale. The file stays empty.
 */

const lockFileName = 'writer.lock';

/**
 * Folders that this process has open for reading, with the number of readers. lmdb keeps one
 * environment per file and process, so a writer opened after a reader would get the read-only
 * environment.
 */
const readersHere = new Map<string, number>();
const writersHere = new Set<string>();

export const isWriterHere = (folder: string): boolean => writersHere.has(realpathSync(folder));

/** Registers a reader in this process. Returns an idempotent function that removes the reader. */
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

/** Returns true if a writer in any process has, or may have, the folder open. */
export function hasWriter(folder: string): boolean {
  if (isWriterHere(folder)) return true;
  let fd: number;
  try {
    fd = openSync(join(folder, lockFileName), 'r+');
  } catch (error) {
    // If the file does not exist, there was never a writer. If permission is missing, there may be
    // a writer.
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

/** Retries once after 20 ms, since `hasWriter` holds the lock for a moment. */
function tryLockTwice(fd: number): boolean {
  if (tryLock(fd)) return true;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  return tryLock(fd);
}

/**
 * Locks the folder for writing. Returns an idempotent function that releases the lock. Excludes
 * other writers in this process too.
 * @throws {StoreError} `LOCKED`, or `UNREADABLE` if the lock file cannot be locked.
 */
export function lockFolder(folder: string): () => void {
  if ((readersHere.get(realpathSync(folder)) ?? 0) > 0) {
    throw storeError('READER_OPEN', { path: folder });
  }
  let fd: number | undefined;
  let granted = false;
  try {
    fd = openSync(join(folder, lockFileName), 'a+', OWNER_FILE);
    granted = tryLockTwice(fd);
  } catch (cause) {
    if (fd !== undefined) closeSync(fd);
    throw storeError(
      'LOCK_FAILED',
      { path: folder, reason: describeSystemError(cause) },
      { cause },
    );
  }
  if (!granted) {
    closeSync(fd);
    throw storeError('FOLDER_IN_USE', { path: folder });
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
 * Replaces a folder's data file by a rename. After a crash, the folder contains either the old or
 * the new file, complete. Unfinished files are in temporary subfolders.
 */

/**
 * Replaces the data file. The caller holds the writer lock and has closed the data. Readers in
 * other processes keep the old file.
 * @param file the new data, complete, on the same file system. The file is renamed.
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
 * Renames a synced file to the folder's data file. Current readers keep the old data file and lock
 * file. LMDB then creates a new lock file that does not list those readers.
 */
export function putInPlace(folder: string, file: string): void {
  rmSync(join(folder, 'lock.mdb'), { force: true });
  renameSync(file, join(folder, dataFileName));
  syncFolder(folder);
}

/** Flushes a file to disk. Opens it for writing, without which Windows flushes nothing. */
export function syncFile(file: string): void {
  const fd = openSync(file, 'r+');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const MIB = 1_048_576;
const PIPE_BYTES = 65_536;

/** File size limits, in bytes. */
export const fileBounds = {
  /** Scenarios, limits files, TLS keys and certificates. */
  text: 4 * MIB,
  /** Results from runs, sweeps and test suites, and scenario data files. */
  result: 256 * MIB,
} as const;

/** Thrown for a file that exceeds its reader's size limit. */
export class FileTooLarge extends Error {
  override name = 'FileTooLarge';
}

/**
 * Reads a file of at most `most` bytes. The limit also applies to pipes and devices, whose size is
 * unknown.
 *
 * @throws {FileTooLarge} before reading more than the limit.
 */
export function readBounded(path: string, most: number): Buffer {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    if (size > most) throw tooLarge(path, `${size} bytes`, most);
    const parts: Buffer[] = [];
    for (let length = 0; ; ) {
      // Reads one byte more than the remaining length, to detect the end. The size of a pipe is
      // unknown.
      const rest = size > length ? size - length + 1 : PIPE_BYTES;
      const part = Buffer.allocUnsafe(Math.min(MIB, rest));
      const read = readSync(fd, part);
      if (read === 0) return Buffer.concat(parts, length);
      length += read;
      if (length > most) throw tooLarge(path, `more than ${most} bytes`, most);
      parts.push(part.subarray(0, read));
    }
  } finally {
    closeSync(fd);
  }
}

const tooLarge = (path: string, size: string, most: number) =>
  new FileTooLarge(`file too large: ${path} has ${size} (expected at most ${most} bytes)`);

/*
 * Creates the files that LMDB would create when first opened: an empty data file and the lock file.
 * lmdb 3.5.6 aborts the process if a system call fails during opening, and a sparse lock file
 * causes SIGBUS on a full disk. Here, each failure is an exception.
 */

/**
 * Size of the lock file for lmdb's 126 readers: `MDB_txninfo` plus 125 times `MDB_reader`, as in
 * lmdb 3.5.6. If the file were too small, lmdb would extend it.
 */
const lockBytes = 8272;

/** Builds both meta pages of an empty database, like `mdb_env_init_meta` (see lmdb-pages.ts). */
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

/** Creates an empty data file atomically and durably. */
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
 * Extends the lock file to the size that lmdb needs, without holes. Must not run while this process
 * has the lock file open, because closing it here would release lmdb's locks (POSIX).
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

/** Syncs a folder where supported, so that its file names survive a power failure. */
export function syncFolder(folder: string, platform = process.platform): void {
  if (platform === 'win32') return;
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

/** The same without blocking. */
export async function syncFolderLater(folder: string, platform = process.platform): Promise<void> {
  if (platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns true if a file is missing or empty. */
function isEmptyFile(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined || found.size === 0;
}

/*
 * Mutual exclusion of openings and commits. When lmdb 3.5.6 opens a file, it reads the last
 * transaction's number from the header and stores the number in the shared lock table, where the
 * writer reads it. A reader whose opening overlaps a commit would revert that commit (mdb.c,
 * mdb_env_open2).
 */

const fileName = 'opening.lock';
const retryMs = 1;
/** Timeout for the lock. A commit takes milliseconds, or a second on a slow disk. */
const patienceMs = 30_000;

export interface OpeningLock {
  /** Blocks until it takes the lock, for openings. @throws {StoreError} `LOCKED` on timeout. */
  takeSync(): void;
  /** Takes the lock if it is free; otherwise returns false. */
  tryTake(): boolean;
  /** Waits for the lock without a timeout, for the writer: every opening ends with its process. */
  take(): Promise<void>;
  leave(): void;
  close(): void;
}

/** Lock for a reader that needs none because it cannot write to the lock table. */
export const noOpeningLock: OpeningLock = {
  takeSync: () => undefined,
  tryTake: () => true,
  take: async () => undefined,
  leave: () => undefined,
  close: () => undefined,
};

/** Opens the lock file. A reader without write permission needs none: lmdb takes none either. */
export function openingLock(folder: string, readOnly: boolean): OpeningLock {
  let fd: number | null;
  try {
    fd = openSync(join(folder, fileName), 'a+', 0o600);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (readOnly && (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')) {
      return noOpeningLock;
    }
    const path = join(folder, fileName);
    throw storeError('LOCK_FAILED', { path, reason: describeSystemError(cause) }, { cause });
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
      throw storeError('OPENING_TIMEOUT', { path: folder });
    }
    Atomics.wait(pause, 0, 0, retryMs);
  }
}
