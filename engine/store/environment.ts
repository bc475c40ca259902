/** What a store on disk needs of its databases: the seam between lmdb and this folder. */

import { constants } from 'node:os';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { limits } from '../protocol/limits.js';
import type { RecordKey } from '../protocol/schema/record.js';
import { type Batch, parseMeta, type Store, StoreError, type StoreMeta } from './store.js';

/** One ordered database. Values that are text are written as UTF-8 bytes. */
export interface Database<Value> {
  get(key: RecordKey): Value | undefined;
  getRange(options: object): Iterable<{ key: RecordKey; value: Value }>;
  putSync(key: RecordKey, bytes: Uint8Array, options: { append: boolean }): boolean;
  removeSync(key: RecordKey): boolean;
}

/** The databases of one folder. */
export interface Environment {
  folder: string;
  log: Database<Uint8Array>;
  history: Database<string>;
  blobs: Database<Uint8Array>;
  /** Which events came of which entries; outside of every digest. */
  index: Database<Uint8Array>;
  meta: Database<string>;
  /** Records of archived segments, by their first entry. */
  archive: Database<string>;
  tables: ReadonlyMap<string, Database<string>>;
  /** Moves reads to the newest batch; iterations under way keep theirs. */
  refresh(): void;
  /** Runs `write` in a transaction; resolves when it is on disk, rejects when that is unknown. */
  transaction(write: () => void): Promise<void>;
  /** Writes a copy without free pages into an empty folder. */
  copyTo(folder: string): Promise<void>;
  /** Runs between the closing of the data and the release of the writer's lock. */
  beforeRelease?: () => void;
  close(): Promise<void>;
}

/** Key of the one value in the database of that name. */
export const metaKey = 'meta';

/** Stands for a database that a reader does not find, since no writer has made it yet. */
export const emptyDatabase: Database<never> = {
  get: () => undefined,
  getRange: () => [],
  putSync: () => false,
  removeSync: () => false,
};

/** The stored meta, or null in a new folder. @throws {StoreError} `CORRUPT` */
export function readMeta({ folder, meta }: Environment): StoreMeta | null {
  const text = meta.get(metaKey);
  return text === undefined ? null : parseMeta(folder, text);
}

/** Throws for a table that the folder was not opened with: the caller's mistake. */
export function getTable({ folder, tables }: Environment, name: string): Database<string> {
  const table = tables.get(name);
  if (table === undefined) throw new Error(`${folder}: opened without a table '${name}'`);
  return table;
}

/**
 * Commits; a batch that finds no room waits for it: nothing of it is written meanwhile.
 * @throws {StoreError} `FULL` when there is still none after `limits.roomPatienceMs`; and as
 * {@link Store.commit}.
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
 * Runs transactions one after another. Two at a time would share the lock that keeps openings away,
 * and the first to end would release it under the second. A transaction that had to wait waits for
 * a turn of the event loop longer, in which an opening gets its chance.
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

/** How often a transaction is tried again that a signal interrupted before it was committed. */
export const interruptions = 100;

/** Whether a signal ended it early. */
export const isInterruption = (error: unknown): boolean =>
  (error as { code?: unknown }).code === constants.errno.EINTR;

/** A flush that a signal ended early has written nothing that counts: it is done again. */
export function retryInterrupted<Result>(work: () => Result): Result {
  for (let left = interruptions; ; left -= 1) {
    try {
      return work();
    } catch (error) {
      if (!isInterruption(error) || left === 0) throw error;
    }
  }
}
