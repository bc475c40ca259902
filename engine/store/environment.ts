/** The interface between lmdb and the store: databases, transactions and retries. */

import { constants } from 'node:os';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { limits } from '../protocol/limits.js';
import type { RecordKey } from '../protocol/schema/record.js';
import { StoreError, storeError } from './messages.js';
import { type Batch, parseMeta, type Store, type StoreMeta } from './store.js';

/** An ordered database. Text values are written as UTF-8. */
export interface Database<Value> {
  get(key: RecordKey): Value | undefined;
  getRange(options: object): Iterable<{ key: RecordKey; value: Value }>;
  putSync(key: RecordKey, bytes: Uint8Array, options: { append: boolean }): boolean;
  removeSync(key: RecordKey): boolean;
}

/** A folder's databases. */
export interface Environment {
  folder: string;
  log: Database<Uint8Array>;
  history: Database<string>;
  blobs: Database<Uint8Array>;
  /** Maps entries to their events. Not covered by any digest. */
  index: Database<Uint8Array>;
  meta: Database<string>;
  /** Segment records by first entry. */
  archive: Database<string>;
  tables: ReadonlyMap<string, Database<string>>;
  /** Moves reads to the newest batch. Iterations that are already running keep their snapshot. */
  refresh(): void;
  /**
   * Runs `write` in a transaction. Resolves when the transaction is durable; rejects if the outcome
   * is unknown.
   */
  transaction(write: () => void): Promise<void>;
  /** Writes a copy without free pages into an empty folder. */
  copyTo(folder: string): Promise<void>;
  /** Runs after the data is closed and before the writer's lock is released. */
  beforeRelease?: () => void;
  close(): Promise<void>;
}

/** Key of the only value in the database `meta`. */
export const metaKey = 'meta';

/** Used by readers in place of a database that does not exist yet. */
export const emptyDatabase: Database<never> = {
  get: () => undefined,
  getRange: () => [],
  putSync: () => false,
  removeSync: () => false,
};

/** Returns the stored meta, or null in a new folder. @throws {StoreError} `CORRUPT` */
export function readMeta({ folder, meta }: Environment): StoreMeta | null {
  const text = meta.get(metaKey);
  return text === undefined ? null : parseMeta(folder, text);
}

/** Builds the error for a failed commit. */
export function commitFailed(folder: string, cause: unknown): StoreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return storeError('COMMIT_FAILED', { path: folder, reason }, { cause });
}

/** @throws {Error} for a table that was not named when the folder was opened, which is a bug. */
export function getTable({ folder, tables }: Environment, name: string): Database<string> {
  const table = tables.get(name);
  if (table === undefined) throw new Error(`${folder}: opened without a table '${name}'`);
  return table;
}

/**
 * Commits a batch. While the disk is full, retries for up to `limits.roomPatienceMs`.
 * @throws {StoreError} `FULL` if there is still no room after that time, and as
 *   {@link Store.commit}.
 */
export async function commitWhenRoom(store: Store, batch: Batch): Promise<void> {
  const end = performance.now() + limits.roomPatienceMs;
  for (;;) {
    try {
      return await store.commit(batch);
    } catch (error) {
      const full = error instanceof StoreError && error.code === 'FULL';
      if (!full || performance.now() > end) throw error;
    }
    await sleep(limits.roomRetryMs);
  }
}

/**
 * Runs transactions one at a time. Two concurrent transactions would share the opening lock, and
 * the first to end would release the lock while the second still needs it. A transaction that had
 * to queue waits one more event-loop turn, so that an opening is not starved.
 */
export function withMutex<Argument>(
  work: (argument: Argument) => Promise<void>,
): (argument: Argument) => Promise<void> {
  const limit = pLimit(1);
  return (argument) => {
    const waits = limit.activeCount + limit.pendingCount > 0;
    return limit(async () => {
      if (waits) await nextTurn();
      await work(argument);
    });
  };
}

/** Maximum number of retries for a transaction that a signal interrupts before its commit. */
export const interruptions = 100;

/** True if a signal interrupted the operation (EINTR). */
export const isInterruption = (error: unknown): boolean =>
  (error as { code?: unknown }).code === constants.errno.EINTR;

/** Retries on EINTR. An interrupted flush has committed nothing. */
export function retryInterrupted<Result>(work: () => Result): Result {
  for (let left = interruptions; ; left -= 1) {
    try {
      return work();
    } catch (error) {
      if (!isInterruption(error) || left === 0) throw error;
    }
  }
}
