/**
 * A store over an open environment of databases on disk: reads, and batches made durable. Knows of
 * LMDB only what {@link Environment} says; nothing here may write outside of one transaction.
 */
import { limits } from '../../protocol/limits.js';
import { assertBatch } from '../batch.js';
import { bounds } from '../bounds.js';
import { crashPoint } from '../crash.js';
import { type Environment, metaKey, readMeta, tableOf } from '../environment.js';
import { freeBytes, markBegun } from '../file/folder.js';
import { assertRange, isRecordKey } from '../keys.js';
import { type Batch, type Store, StoreError } from '../store.js';

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
export function createDiskStore(environment: Environment, options: DiskStoreOptions): Store {
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
    get: (table, key) => (isRecordKey(key) ? tableOf(environment, table).get(key) : undefined),
    *range(table, options = {}) {
      assertRange(table, options);
      const found = tableOf(environment, table).getRange(bounds(options));
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
    database: tableOf(environment, table),
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
