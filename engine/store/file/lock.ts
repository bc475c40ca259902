/**
 * One writer per folder: an exclusive lock on an open file. The kernel drops it when its holder
 * dies, however it dies, so there is no stale state to clean up and the file stays empty.
 */
import { closeSync, openSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock, unlock } from 'fs-native-extensions';
import { StoreError } from '../store.js';
import { OWNER_FILE } from './folder.js';

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
