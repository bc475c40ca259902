/** Fixtures for store tests: folders, stores and batches. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LmdbStoreOptions, openLmdbStore } from '../../../dist/engine/store/lmdb.js';
import type { Batch, Store, StoreMeta } from '../../../dist/engine/store/store.js';

const schemaVersion = 3;
const tables = ['votes', 'blocks'] as const;

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function openLmdb(path: string, options: Partial<LmdbStoreOptions> = {}): Store {
  return openLmdbStore({ path, tables, schemaVersion, freeSpaceBytes: 0, ...options });
}

export function closedLater(store: Store): Store {
  onTestFinished(() => store.close());
  return store;
}

export const openStore = (path: string, options: Partial<LmdbStoreOptions> = {}): Store =>
  closedLater(openLmdb(path, options));

export function metaAt(seq: number, changes: Partial<StoreMeta> = {}): StoreMeta {
  return {
    schema_version: schemaVersion,
    network_id: 'testnet',
    epoch: 'e1',
    seq,
    at: 1_000 + seq,
    event_seq: seq,
    log_digest: 'aa',
    digest: 'bb',
    ...changes,
  };
}

/** Builds the batch with entry and event `seq`; `changes` override members. */
export function batchAt(seq: number, changes: Partial<Batch> = {}): Batch {
  return {
    entries: [{ seq, bytes: new TextEncoder().encode(`entry ${seq}`) }],
    events: [{ seq, json: JSON.stringify({ seq, text: 'grüße 🎉' }) }],
    changes: [],
    blobs: [],
    meta: metaAt(seq),
    ...changes,
  };
}

/** Reads a store's progress from meta, entries, events and records. */
export function ends(store: Store): Record<string, unknown> {
  return {
    meta: store.meta()?.seq ?? 0,
    entries: [...store.entries(0, 1_000)].map(({ seq }) => seq),
    events: [...store.events(0, 1_000)].map(({ seq }) => seq),
    votes: [...store.range('votes')].map(({ key }) => key),
  };
}

/** Returns the expected result of `ends` after `count` batches from writer.mjs. */
export function endsAfter(count: number): Record<string, unknown> {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  return { meta: count, entries: all, events: all, votes: all };
}
