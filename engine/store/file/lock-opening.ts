/**
 * Keeps the opening of readers and the commits of the writer apart. lmdb 3.5.6 takes the number of
 * the last transaction from the data file's header when it opens, and stores it where the writer
 * looks for it: a reader that began to open before a commit and ended after it would take that
 * commit back (mdb.c, mdb_env_open2). So a commit and an opening exclude each other.
 */
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock, unlock } from 'fs-native-extensions';
import { StoreError } from '../store.js';

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
