/**
 * A network kept in one LMDB environment. One transaction makes a batch
 * durable; a reader takes no lock and sees whole batches.
 *
 * Relied on of lmdb 3.5.6: with `overlappingSync: false` a transaction's promise resolves after the
 * flush to disk; a callback that throws does not roll back, so everything is encoded before.
 */
import { limits } from '../protocol/limits.js';
import { withArchive } from './archive.js';
import {
  type Environment,
  getTable,
  interruptions,
  isInterruption,
  metaKey,
  readMeta,
  withMutex,
} from './environment.js';
import {
  checkFolder,
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
import {
  isOpenHere,
  PAGE_BYTES,
  type Root,
  type RootUse,
  tryOpening,
  useRoot,
} from './lmdb-guards.js';
import { crashPoint, trackCommit } from './process-end.js';
import {
  assertBatch,
  assertExpected,
  assertRange,
  type Batch,
  bounds,
  isRecordKey,
  type Store,
  StoreError,
} from './store.js';

/** Options of {@link openLmdbStore}. */
export interface LmdbStoreOptions {
  /** The store's folder; made when missing, unless `create` is false or `readOnly` is set. */
  path: string;
  /** Names of all tables of records. */
  tables: readonly string[];
  /** Newest layout this program reads. */
  schemaVersion: number;
  /** The network that the folder must hold, if it holds one. */
  networkId?: string;
  /** Reads beside a writer; takes no writer lock, and `commit` throws. */
  readOnly?: boolean;
  create?: boolean;
  /** Look at every page of the data first, unless a writer is at work: it takes a second a GB. */
  whole?: boolean;
  /** Free space on the disk below which `commit` refuses. */
  freeSpaceBytes?: number;
}

/**
 * Opens or makes the store in a folder.
 * @throws {StoreError} `MISSING`, `UNREADABLE`, `LOCKED`, `CORRUPT`, `NEWER_SCHEMA`,
 * `OLDER_SCHEMA` or `OTHER_NETWORK`; the folder is then not locked. One process may read beside
 * its own writer, but a writer that comes after a reader of the same process is `LOCKED` too.
 */
export function openLmdbStore(options: LmdbStoreOptions): Store {
  const { path: folder, tables, readOnly = false, create = true } = options;
  const { schemaVersion, networkId, freeSpaceBytes = limits.freeSpaceBytes } = options;
  const { whole = false } = options;
  prepareFolder(folder, { create, readOnly });
  const release = readOnly ? noteReader(folder) : lockFolder(folder);
  let environment: Environment | undefined;
  try {
    environment = openApart(folder, { tables, readOnly, whole }, release);
    const meta = readMeta(environment);
    if (meta !== null) assertExpected(meta, { folder, schemaVersion, networkId });
    const store = createDiskStore(environment, { readOnly, freeSpaceBytes });
    const archived = withArchive(store, environment, readOnly);
    if (!readOnly) crashPoint('store.opened');
    return archived;
  } catch (error) {
    // The environment's own close releases; it is not awaited, so the lock goes first.
    release();
    void environment?.close();
    throw error;
  }
}

/**
 * Writes a copy of a folder's data as of its last commit, without free pages, into an empty folder;
 * the process that writes to it goes on meanwhile. Not for that process itself.
 * @throws {StoreError} `MISSING`, `UNREADABLE` or `CORRUPT`
 * @throws {Error} where LMDB cannot write it.
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

/** Opens while no other process commits or opens. */
function openApart(
  folder: string,
  { tables, readOnly, whole }: { tables: readonly string[]; readOnly: boolean; whole: boolean },
  release: () => void,
): Environment {
  // Beside a writer of the same process lmdb opens nothing: it hands over the writer's.
  const opening = readOnly && isWriterHere(folder) ? noOpeningLock : openingLock(folder, readOnly);
  let environment: Environment | undefined;
  try {
    opening.takeSync();
    checkFolder(folder, {
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
    // A reader needs it no more.
    if (readOnly || environment === undefined) opening.close();
  }
}

/** How closely the data is looked at: commits of a writer here would change it meanwhile. */
function lookAt(
  folder: string,
  readOnly: boolean,
  whole: boolean,
): 'header' | 'branches' | 'pages' {
  if (readOnly && isWriterHere(folder)) return 'header';
  return whole && !(readOnly && hasWriter(folder)) ? 'pages' : 'branches';
}

/**
 * Opens and closes LMDB alone, for a child of the process that holds the locks. What it says of the
 * data is left to that process.
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
    const text = `${folder}: LMDB cannot open the data: ${(cause as Error).message}`;
    // Codes of the system are positive, LMDB's own are negative.
    const bySystem = Number((cause as { code?: unknown }).code) > 0;
    throw new StoreError(bySystem ? 'UNREADABLE' : 'CORRUPT', text, { cause });
  }
}

function lifecycle(
  { root, leave }: RootUse,
  release: () => void,
  opening: OpeningLock,
): Pick<Environment, 'refresh' | 'transaction' | 'copyTo' | 'close'> {
  let state: 'open' | 'failed' | 'closed' = 'open';
  return {
    refresh: () => root.resetReadTxn(),
    transaction: withMutex(async (write) => {
      if (!opening.tryTake()) await opening.take();
      try {
        for (let left = interruptions; !(await done(root, write, left)); ) left -= 1;
      } catch (error) {
        state = 'failed';
        throw error;
      } finally {
        opening.leave();
      }
    }),
    copyTo: (folder) => root.backup(folder, true),
    async close(this: Environment) {
      // Closing after a failed commit may never return: the process's end does it.
      if (state !== 'open') return;
      state = 'closed';
      try {
        // Nobody may open one of two files while both are replaced.
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

/** False for a transaction that was interrupted and may be tried again. */
async function done(root: Root, write: () => void, triesLeft: number): Promise<boolean> {
  try {
    const begin = () =>
      root.transaction(() => {
        write();
      });
    await trackCommit(begin);
    return true;
  } catch (error) {
    // lmdb rejects a second promise with the cause; unhandled, it would end the process first.
    const { commitError } = error as { commitError?: Promise<never> };
    const cause = await Promise.race([commitError, undefined]).then(
      () => error,
      (reason: unknown) => reason,
    );
    if (triesLeft === 0 || !isInterruption(cause)) throw cause;
    return false;
  }
}

/*
 * A store over an open environment of databases on disk: reads, and batches made durable. Knows of
 * LMDB only what {@link Environment} says; nothing here may write outside of one transaction.
 */

const append = { append: true };
const anywhere = { append: false };
/** How old what is known of the disk's room may be, in milliseconds. */
const ROOM_KNOWN_MS = 20;

interface DiskStoreOptions {
  readOnly: boolean;
  /** Room on the disk below which a commit is `FULL`. */
  freeSpaceBytes: number;
}

/** Reads and, unless `readOnly`, writes. */
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
    // Now and then, not once a request; but room that was made is found at once.
    if (free < needed || performance.now() - lookedAt > ROOM_KNOWN_MS) look();
    return free >= needed;
  }

  async function commit(batch: Batch): Promise<void> {
    if (state !== 'open') throw new Error(`${folder}: commit while the store is ${state}`);
    if (readOnly) throw new Error(`${folder}: commit into a store opened for reading`);
    assertBatch(batch, readMeta(environment));
    look();
    // Whoever asks hasRoom stops at the mark; a batch that was under way may go half below it.
    if (free < freeSpaceBytes / 2) throw full(folder, free, freeSpaceBytes / 2);
    const write = encode(environment, batch);
    crashPoint('commit.before');
    state = 'committing';
    try {
      await environment.transaction(write);
    } catch (cause) {
      state = 'failed';
      throw failed(folder, cause);
    }
    state = 'open';
    if (commits === 0) markBegun(folder);
    commits += 1;
    crashPoint('commit.after');
  }

  async function close(): Promise<void> {
    if (state === 'closed') return;
    if (state === 'committing') throw new Error(`${folder}: close during a commit`);
    // LMDB may never return from closing after a failed commit: the process's end does it.
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
      // A reader keeps the batch it last saw for a while; asking for the end moves it on.
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

/**
 * Turns a batch into the writes of its transaction. All encoding happens here, since a callback
 * that throws half-way would leave its first half in the transaction.
 */
function encode(environment: Environment, batch: Batch): () => void {
  const { log, history, blobs, index, meta } = environment;
  const events = batch.events.map(({ seq, json }) => ({ seq, bytes: Buffer.from(json) }));
  const changes = batch.changes.map(({ table, key, json }) => ({
    database: getTable(environment, table),
    key,
    bytes: json === null ? null : Buffer.from(json),
  }));
  const metaBytes = Buffer.from(JSON.stringify(batch.meta));
  return () => {
    for (const { seq, bytes } of batch.entries) log.putSync(seq, bytes, append);
    for (const { seq, bytes } of events) history.putSync(seq, bytes, append);
    for (const { hash, bytes } of batch.blobs) blobs.putSync(hash, bytes, anywhere);
    for (const { seq, bytes } of batch.index ?? []) index.putSync(seq, bytes, append);
    for (const { database, key, bytes } of changes) {
      if (bytes === null) database.removeSync(key);
      else database.putSync(key, bytes, anywhere);
    }
    meta.putSync(metaKey, metaBytes, anywhere);
  };
}

function full(folder: string, free: number, needed: number): StoreError {
  return new StoreError(
    'FULL',
    `${folder}: ${free} bytes are free on its disk, ${needed} are needed; nothing was written`,
  );
}

function failed(folder: string, cause: unknown): StoreError {
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  const text = 'it is not known what was written; the process must end';
  return new StoreError('FAILED', `${folder}: a commit failed${why}: ${text}`, { cause });
}
