/**
 * A store in one LMDB environment. Each batch is one transaction. Readers take no lock and see
 * whole batches.
 *
 * Relies on a property of lmdb 3.5.6: with `overlappingSync: false`, a transaction ends after the
 * flush to disk.
 */
import { limits } from '../protocol/limits.js';
import { withArchive } from './archive.js';
import {
  commitFailed,
  type Environment,
  getTable,
  interruptions,
  isInterruption,
  metaKey,
  type Rows,
  readMeta,
  withMutex,
} from './environment.js';
import {
  assertFolder,
  freeBytes,
  hasWriter,
  isWriterHere,
  lockFolder,
  markBegun,
  noOpeningLock,
  noteReader,
  type OpeningLock,
  openingLock,
  prepareFolder,
} from './folder.js';
import { isOpenHere, PAGE_BYTES, type RootUse, tryOpening, useRoot } from './lmdb-guards.js';
import type { LmdbWriter } from './lmdb-writer.js';
import { StoreError, storeError } from './messages.js';
import { crashPoint, trackCommit } from './process-end.js';
import {
  assertBatch,
  assertExpected,
  assertRange,
  type Batch,
  bounds,
  isRecordKey,
  type Store,
} from './store.js';

/** Options for {@link openLmdbStore}. */
export interface LmdbStoreOptions {
  /** The store's folder. Created if missing, unless `create` is false or `readOnly` is set. */
  path: string;
  /** Names of all record tables. */
  tables: readonly string[];
  /** Schema version of this program. */
  schemaVersion: number;
  /** Id of the expected network, if the folder contains a network. */
  networkId?: string;
  /** Opens without the writer lock, alongside a writer; `commit` throws. */
  readOnly?: boolean;
  create?: boolean;
  /** Checks every page first, unless a writer has the folder open. Takes about 1 s per GB. */
  whole?: boolean;
  /** Free disk bytes below which `hasRoom` is false. `commit` fails below half of that. */
  freeSpaceBytes?: number;
}

/**
 * Opens the store in a folder, or creates it. A process can open a reader after its own writer, but
 * not a writer after its own reader (`LOCKED`).
 * @throws {StoreError} `MISSING`, `UNREADABLE`, `LOCKED`, `CORRUPT`, `NEWER_SCHEMA`,
 * `OLDER_SCHEMA`, `FULL` or `OTHER_NETWORK`. The folder is then not locked.
 */
export function openLmdbStore(options: LmdbStoreOptions): Store {
  const { path: folder, tables, readOnly = false, create = true } = options;
  const { schemaVersion, networkId, freeSpaceBytes = limits.freeSpaceBytes } = options;
  const { whole = false } = options;
  const trace = prepareFolder(folder, { create, readOnly });
  const release = readOnly ? noteReader(folder) : lockFolder(folder);
  let environment: Environment | undefined;
  try {
    environment = openApart(folder, { tables, readOnly, whole }, release);
    const meta = readMeta(environment);
    if (meta !== null) assertExpected(meta, { folder, schemaVersion, networkId });
    else if (trace !== null) throw storeError('DATA_MISSING', { path: folder, trace });
    const store = createDiskStore(environment, { readOnly, freeSpaceBytes });
    const archived = withArchive(store, environment, readOnly);
    if (!readOnly) crashPoint('store.opened');
    return archived;
  } catch (error) {
    // `close` releases the lock too, but is not awaited.
    release();
    void environment?.close();
    throw error;
  }
}

/**
 * Copies a folder's data as of its last commit into an empty folder, without free pages. The
 * folder's writer, which must be a different process, can continue.
 * @throws {StoreError} `MISSING`, `UNREADABLE` or `CORRUPT`
 * @throws {Error} if LMDB cannot write the copy.
 */
export async function copyLmdbStore(
  { path: folder, tables }: Pick<LmdbStoreOptions, 'path' | 'tables'>,
  to: string,
): Promise<void> {
  prepareFolder(folder, { create: false, readOnly: true });
  const release = noteReader(folder);
  let environment: Environment | undefined;
  try {
    environment = openApart(folder, { tables, readOnly: true, whole: false }, release);
    await environment.copyTo(to);
  } finally {
    release();
    await environment?.close();
  }
}

/** Opens the environment under the opening lock: no other process commits or opens meanwhile. */
function openApart(
  folder: string,
  { tables, readOnly, whole }: { tables: readonly string[]; readOnly: boolean; whole: boolean },
  release: () => void,
): Environment {
  // A reader in the writer's process shares the writer's environment, so nothing is opened.
  const opening = readOnly && isWriterHere(folder) ? noOpeningLock : openingLock(folder, readOnly);
  let environment: Environment | undefined;
  try {
    opening.takeSync();
    assertFolder(folder, {
      readOnly,
      pageBytes: PAGE_BYTES,
      depth: lookAt(folder, readOnly, whole),
      isOpenHere: isOpenHere(folder),
    });
    tryOpening(folder, tables, readOnly);
    environment = openEnvironment(folder, tables, readOnly, release, opening);
    opening.leave();
    return environment;
  } finally {
    // Only a writer needs the lock later, for its commits.
    if (readOnly || environment === undefined) opening.close();
  }
}

/** Depth of the check. A writer in this process could commit during a deep check. */
function lookAt(
  folder: string,
  readOnly: boolean,
  whole: boolean,
): 'header' | 'branches' | 'pages' {
  if (readOnly && isWriterHere(folder)) return 'header';
  return whole && !(readOnly && hasWriter(folder)) ? 'pages' : 'branches';
}

/**
 * Opens and closes only LMDB, in a child of the process that holds the locks. Ignores store errors,
 * because the parent reports them.
 */
export async function tryEnvironment(asked: {
  folder: string;
  tables: readonly string[];
  readOnly: boolean;
}): Promise<void> {
  const { folder, tables, readOnly } = asked;
  try {
    await openEnvironment(folder, tables, readOnly, () => undefined, noOpeningLock).close();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

function openEnvironment(
  folder: string,
  tables: readonly string[],
  readOnly: boolean,
  release: () => void,
  opening: OpeningLock,
): Environment {
  try {
    const use = useRoot(folder, tables, readOnly);
    return { folder, ...use.databases, ...lifecycle(use, release, opening) };
  } catch (cause) {
    const failure = { path: folder, reason: (cause as Error).message };
    // System errors have positive codes; LMDB's own codes are negative.
    const bySystem = Number((cause as { code?: unknown }).code) > 0;
    throw storeError(bySystem ? 'LMDB_UNREADABLE' : 'LMDB_CORRUPT', failure, { cause });
  }
}

function lifecycle(
  { root, writer, leave }: RootUse,
  release: () => void,
  opening: OpeningLock,
): Pick<Environment, 'refresh' | 'transaction' | 'copyTo' | 'close'> {
  let state: 'open' | 'failed' | 'closed' = 'open';
  return {
    refresh: () => root.resetReadTxn(),
    transaction: withMutex(async (write) => {
      if (!opening.tryTake()) await opening.take();
      try {
        for (let left = interruptions; !(await done(writer, write, left)); ) left -= 1;
      } catch (error) {
        state = 'failed';
        throw error;
      } finally {
        opening.leave();
      }
    }),
    copyTo: (folder) => root.backup(folder, true),
    async close(this: Environment) {
      // Closing after a failed commit can hang, so closing is left to process exit.
      if (state !== 'open') return;
      state = 'closed';
      try {
        // No process may open the folder while its data and lock file are replaced.
        if (this.beforeRelease && !opening.tryTake()) await opening.take();
        await leave();
        this.beforeRelease?.();
      } finally {
        opening.close();
        release();
      }
    },
  };
}

/** Runs a transaction. Returns false if it was interrupted and can be retried. */
async function done(
  writer: LmdbWriter,
  write: (rows: Rows) => void,
  triesLeft: number,
): Promise<boolean> {
  try {
    await trackCommit(() => writer.run(write));
    return true;
  } catch (error) {
    if (triesLeft === 0 || !isInterruption(error)) throw error;
    return false;
  }
}

/* The store over an open {@link Environment}. All writes in a batch go into one transaction. */

/** Time for which a measurement of free disk space is reused. */
const ROOM_KNOWN_MS = 20;

interface DiskStoreOptions {
  readOnly: boolean;
  /** See {@link LmdbStoreOptions}. */
  freeSpaceBytes: number;
}

function createDiskStore(environment: Environment, options: DiskStoreOptions): Store {
  const { folder } = environment;
  const { freeSpaceBytes, readOnly } = options;
  let commits = 0;
  let state: 'open' | 'committing' | 'failed' | 'closed' = 'open';
  let free = Number.POSITIVE_INFINITY;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function look(): void {
    free = freeBytes(folder);
    lookedAt = performance.now();
  }

  function hasRoom(waiting = 0): boolean {
    const needed = freeSpaceBytes + waiting * limits.diskBytesPerByte;
    // Measures at most every 20 ms. Without room, always measures, to notice new room at once.
    if (free < needed || performance.now() - lookedAt > ROOM_KNOWN_MS) look();
    return free >= needed;
  }

  async function commit(batch: Batch): Promise<void> {
    if (state !== 'open') throw new Error(`${folder}: commit while the store is ${state}`);
    if (readOnly) throw new Error(`${folder}: commit into a store opened for reading`);
    assertBatch(batch, readMeta(environment));
    for (const { table } of batch.changes) getTable(environment, table);
    look();
    // Callers of hasRoom stop at the limit. A batch in progress may use half of the reserved space.
    const needed = freeSpaceBytes / 2;
    if (free < needed) throw storeError('NO_ROOM_FOR_BATCH', { path: folder, free, needed });
    crashPoint('commit.before');
    state = 'committing';
    try {
      await environment.transaction((rows) => writeBatch(environment, batch, rows));
    } catch (cause) {
      state = 'failed';
      throw commitFailed(folder, cause);
    }
    state = 'open';
    if (commits === 0) markBegun(folder);
    commits += 1;
    crashPoint('commit.after');
  }

  async function close(): Promise<void> {
    if (state === 'closed') return;
    if (state === 'committing') throw new Error(`${folder}: close during a commit`);
    // Closing after a failed commit can hang, so closing is left to process exit.
    if (state !== 'failed') await environment.close();
    state = 'closed';
  }

  const counted = {
    get commits() {
      return commits;
    },
  };
  return Object.assign(counted, { commit, hasRoom, close }, reads(environment, readOnly));
}
type Reads = Omit<Store, 'commits' | 'commit' | 'hasRoom' | 'close'>;

function reads(environment: Environment, readOnly: boolean): Reads {
  const { log, history, blobs, index } = environment;
  return {
    kind: 'lmdb',
    meta() {
      // LMDB keeps a read snapshot for a while. Reading the meta moves a reader to the newest
      // snapshot.
      if (readOnly) environment.refresh();
      return readMeta(environment);
    },
    get: (table, key) => (isRecordKey(key) ? getTable(environment, table).get(key) : undefined),
    *range(table, options = {}) {
      assertRange(table, options);
      const found = getTable(environment, table).getRange(bounds(options));
      for (const { key, value } of found) yield { key, json: value };
    },
    entry: (seq) => log.get(seq),
    *entries(from, to) {
      const found = log.getRange({ start: from, end: to, inclusiveEnd: true });
      for (const { key, value } of found) yield { seq: key as number, bytes: value };
    },
    event: (seq) => history.get(seq),
    *events(from, to) {
      const found = history.getRange({ start: from, end: to, inclusiveEnd: true });
      for (const { key, value } of found) yield { seq: key as number, json: value };
    },
    blob: (hash) => (isRecordKey(hash) ? blobs.get(hash) : undefined),
    *index(options = {}) {
      for (const { key, value } of index.getRange(bounds(options))) {
        yield { seq: key as number, bytes: value };
      }
    },
  };
}

function writeBatch(environment: Environment, batch: Batch, rows: Rows): void {
  const { log, history, blobs, index, meta } = environment;
  for (const { seq, bytes } of batch.entries) rows.append(log, seq, bytes);
  for (const { seq, json } of batch.events) rows.append(history, seq, json);
  for (const { hash, bytes } of batch.blobs) rows.put(blobs, hash, bytes);
  for (const { seq, bytes } of batch.index ?? []) rows.append(index, seq, bytes);
  for (const { table, key, json } of batch.changes) {
    const database = getTable(environment, table);
    if (json === null) rows.remove(database, key);
    else rows.put(database, key, json);
  }
  rows.put(meta, metaKey, JSON.stringify(batch.meta));
}
