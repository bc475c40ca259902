/** The index from entries to events of a folder that has none: made by going through its log. */
import { setImmediate } from 'node:timers/promises';
import { type Indexed, IndexWriter, indexed } from '../node/entry-index/writer.js';
import { genesisOf } from '../node/open-store.js';
import { SCHEMA_VERSION, tables } from '../protocol/schema/index.js';
import { storedLines } from '../replay/index.js';
import { openLmdbStore, type Store, StoreError } from '../store/index.js';
import type { HistoryWork } from './history.js';
import { Walk } from './walk.js';

/** Entries of a row, and between two turns of the event loop. */
const TURN = 128;

/**
 * The rows of entries 0 to `to` of a folder, which is only read.
 *
 * @throws {StoreError} `CORRUPT` when what is stored does not follow from the log.
 * @throws the signal's reason, when it is aborted.
 */
export async function replayedIndex(
  path: string,
  to: number,
  work: HistoryWork = {},
): Promise<{ seq: number; bytes: Uint8Array }[]> {
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  try {
    return await goThrough(store, to, work);
  } finally {
    await store.close();
  }
}

async function goThrough(store: Store, to: number, { onProgress, signal }: HistoryWork) {
  const rows: { seq: number; bytes: Uint8Array }[] = [];
  const writer = new IndexWriter({ index: () => [] }, null);
  const walk = new Walk(store, genesisOf(store), null);
  while (walk.seq < to) {
    const until = Math.min(to, walk.seq + TURN);
    const some: Indexed[] = [];
    for (const line of [...storedLines(store, walk.seq + 1, until)]) {
      some.push(indexed(line.entry, walk.step(line)));
    }
    if (walk.seq < until) throw new StoreError('CORRUPT', `the log has no entry ${walk.seq + 1}`);
    rows.push(...writer.rows(some));
    onProgress?.(walk.seq, to);
    await setImmediate();
    signal?.throwIfAborted();
  }
  return rows;
}
