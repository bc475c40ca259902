/** The interface between lmdb and the store: databases, transactions, retries, scratch files. */

import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { open } from 'lmdb';
import pLimit from 'p-limit';
import { limits } from '../protocol/limits.js';
import type { RecordKey } from '../protocol/schema/record.js';
import { type HostClock, hostClock, sleep } from './host-clock.js';
import { StoreError, storeError } from './messages.js';
import {
  type Batch,
  bounds,
  parseMeta,
  type RangeOptions,
  type RecordChange,
  type Store,
  type StoreMeta,
} from './store.js';

/** An ordered database. */
export interface Database<Value> {
  get(key: RecordKey): Value | undefined;
  getRange(options: object): Iterable<{ key: RecordKey; value: Value }>;
}

/** Rows that a transaction writes. Text values are written as UTF-8. */
export interface Rows {
  put(database: Database<unknown>, key: RecordKey, value: Uint8Array | string): void;
  /** Puts a row after all rows of the database. */
  append(database: Database<unknown>, key: number, value: Uint8Array | string): void;
  remove(database: Database<unknown>, key: RecordKey): void;
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
   * Writes the rows that `write` passes on, in one transaction. Resolves when the transaction is
   * durable; rejects if the outcome is unknown. `write` can be called several times.
   */
  transaction(write: (rows: Rows) => void): Promise<void>;
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
};

/** Returns the stored meta, or null in a new folder. @throws {StoreError} `CORRUPT` */
export function readMeta({ folder, meta }: Environment): StoreMeta | null {
  const text = meta.get(metaKey);
  return text === undefined ? null : parseMeta(folder, text);
}

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
export async function commitWhenRoom(
  store: Store,
  batch: Batch,
  host: HostClock = hostClock,
): Promise<void> {
  const end = host.monotonic() + limits.roomPatienceMs;
  for (;;) {
    try {
      return await store.commit(batch);
    } catch (error) {
      const full = error instanceof StoreError && error.code === 'FULL';
      if (!full || host.monotonic() > end) throw error;
    }
    await sleep(host, limits.roomRetryMs);
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

interface ScratchDatabase extends Database<string> {
  putSync(key: RecordKey, bytes: Uint8Array): boolean;
  removeSync(key: RecordKey): boolean;
}

/** Temporary records on disk, for a replay whose state does not fit in memory. */
export interface Scratch {
  get(table: string, key: RecordKey): string | undefined;
  range(table: string, options?: RangeOptions): Iterable<{ key: RecordKey; json: string }>;
  write(changes: Iterable<RecordChange>): void;
  close(): Promise<void>;
}

/**
 * Opens a scratch database in the system's temporary folder (TMPDIR). Nothing is synced. The files
 * are unlinked once open, so they disappear with the process.
 */
export function openScratch(tables: readonly string[]): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-scratch-'));
  const root = open<Uint8Array, string>({
    path: folder,
    noSubdir: false,
    overlappingSync: false,
    noSync: true,
    eventTurnBatching: false,
    encoding: 'binary',
    maxDbs: tables.length,
    pageSize: 8192,
  });
  const named = (name: string) =>
    root.openDB(name, { encoding: 'string' }) as unknown as ScratchDatabase;
  const databases = root.transactionSync(
    () => new Map(tables.map((name) => [name, named(name)] as const)),
  );
  if (process.platform !== 'win32') rmSync(folder, { recursive: true });
  const database = (name: string): ScratchDatabase => databases.get(name)!;
  return {
    get: (table, key) => database(table).get(key),
    *range(table, options = {}) {
      const found = database(table).getRange(bounds(options));
      for (const { key, value } of found) yield { key, json: value };
    },
    write(changes) {
      root.transactionSync(() => {
        for (const { table, key, json } of changes) {
          if (json === null) database(table).removeSync(key);
          else database(table).putSync(key, Buffer.from(json));
        }
      });
    },
    async close() {
      await root.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
