/** A store in memory, for simulations and tests, which also compare the on-disk store with it. */

import type { RecordKey } from '../protocol/schema/record.js';
import {
  assertBatch,
  assertRange,
  type Batch,
  compareKeys,
  isPair,
  keyId,
  type RangeOptions,
  type Store,
  type StoreMeta,
} from './store.js';

interface Slot {
  key: RecordKey;
  /** Null for a deleted record. The slot remains until the next sweep. */
  json: string | null;
}

/** Records by key. The sorted list of the same slots is updated when a range read needs it. */
interface Table {
  slots: Slots;
  sorted: Slot[];
  added: Slot[];
  deleted: number;
}

/** Finds pairs of numbers, such as the keys of votes, without making a text of each. */
class Slots {
  readonly #byId = new Map<string, Slot>();
  readonly #byPair = new Map<number, Map<number, Slot>>();
  size = 0;

  get(key: RecordKey): Slot | undefined {
    return isPair(key) ? this.#byPair.get(key[0])?.get(key[1]) : this.#byId.get(keyId(key));
  }

  add(slot: Slot): void {
    const { key } = slot;
    this.size += 1;
    if (!isPair(key)) this.#byId.set(keyId(key), slot);
    else {
      const slots = this.#byPair.get(key[0]);
      if (slots) slots.set(key[1], slot);
      else this.#byPair.set(key[0], new Map([[key[1], slot]]));
    }
  }

  /** Removes the slots of deleted records. */
  sweep(): void {
    this.size = 0;
    for (const slots of [this.#byId, ...this.#byPair.values()]) {
      for (const [id, { json }] of slots) if (json === null) slots.delete(id as never);
      this.size += slots.size;
    }
  }
}

/** Beyond this number of new slots, sorting all slots is cheaper than inserting each new slot. */
const insertAtMost = 64;

export interface MemoryStoreOptions {
  /** True to store entries, events and blobs too. Default: true. */
  history?: boolean;
}

/** Creates an empty {@link Store}. Copies no bytes and no keys, so callers must not change them. */
export function createMemoryStore({ history: held = true }: MemoryStoreOptions = {}): Store {
  const tables = new Map<string, Table>();
  const log = new Map<number, Uint8Array>();
  const history = new Map<number, string>();
  const blobs = new Map<string, Uint8Array>();
  const index: { seq: number; bytes: Uint8Array }[] = [];
  let meta: StoreMeta | null = null;
  let commits = 0;

  async function commit(batch: Batch): Promise<void> {
    assertBatch(batch, meta);
    if (held) {
      for (const { seq, bytes } of batch.entries) log.set(seq, bytes);
      for (const { seq, json } of batch.events) history.set(seq, json);
      for (const { hash, bytes } of batch.blobs) blobs.set(hash, bytes);
      index.push(...(batch.index ?? []));
    }
    for (const { table, key, json } of batch.changes) change(tableOf(tables, table), key, json);
    meta = { ...batch.meta };
    commits += 1;
  }

  return {
    kind: 'memory',
    get commits() {
      return commits;
    },
    meta: () => (meta === null ? null : { ...meta }),
    get: (table, key) => tables.get(table)?.slots.get(key)?.json ?? undefined,
    range: (table, options = {}) => select(table, tableOf(tables, table), options),
    entry: (seq) => log.get(seq),
    *entries(from, to) {
      for (const [seq, bytes] of run(log, from, to)) yield { seq, bytes };
    },
    event: (seq) => history.get(seq),
    *events(from, to) {
      for (const [seq, json] of run(history, from, to)) yield { seq, json };
    },
    blob: (hash) => blobs.get(hash),
    index: (options = {}) => indexRows(index, options),
    commit,
    hasRoom: () => true,
    close: async () => undefined,
  };
}

function tableOf(tables: Map<string, Table>, name: string): Table {
  const existing = tables.get(name);
  if (existing !== undefined) return existing;
  const created: Table = { slots: new Slots(), sorted: [], added: [], deleted: 0 };
  tables.set(name, created);
  return created;
}

function* run<Value>(from: Map<number, Value>, first: number, last: number) {
  const oldest = from.keys().next().value ?? 0;
  for (let seq = Math.max(first, oldest); seq <= last; seq += 1) {
    const value = from.get(seq);
    if (value === undefined) return;
    yield [seq, value] as const;
  }
}

/** Selects index rows, which are sorted by last entry. */
function indexRows<Row extends { seq: number }>(all: readonly Row[], options: RangeOptions): Row[] {
  const { from = 0, to = Number.POSITIVE_INFINITY, reverse = false, limit } = options;
  const before = (seq: number) => {
    let low = 0;
    let high = all.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (all[middle]!.seq < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const first = before(from as number);
  const end = Math.max(first, before(to as number));
  const most = Math.min(end - first, limit ?? Number.POSITIVE_INFINITY);
  return reverse ? all.slice(end - most, end).reverse() : all.slice(first, first + most);
}

function change(table: Table, key: RecordKey, json: string | null): void {
  const slot = table.slots.get(key);
  if (slot === undefined) {
    if (json === null) return;
    const added = { key, json };
    table.slots.add(added);
    table.added.push(added);
    return;
  }
  if ((slot.json === null) !== (json === null)) table.deleted += json === null ? 1 : -1;
  slot.json = json;
}

/** Returns a snapshot, which a commit during the iteration does not change. */
function select(name: string, table: Table, options: RangeOptions) {
  assertRange(name, options);
  const sorted = sortedSlots(table);
  const { from, to, reverse = false, limit = Number.POSITIVE_INFINITY } = options;
  const first = from === undefined ? 0 : position(sorted, from);
  const end = to === undefined ? sorted.length : position(sorted, to);
  const found: { key: RecordKey; json: string }[] = [];
  for (let step = 0; step < end - first && found.length < limit; step += 1) {
    const { key, json } = sorted[reverse ? end - 1 - step : first + step]!;
    if (json !== null) found.push({ key, json });
  }
  return found;
}

function sortedSlots(table: Table): Slot[] {
  if (table.deleted > 64 && table.deleted * 2 > table.slots.size) sweep(table);
  const { sorted, added } = table;
  table.added = [];
  if (added.length > insertAtMost) {
    for (const slot of added) sorted.push(slot);
    sorted.sort((a, b) => compareKeys(a.key, b.key));
    return sorted;
  }
  for (const slot of added) sorted.splice(position(sorted, slot.key), 0, slot);
  return sorted;
}

function sweep(table: Table): void {
  table.slots.sweep();
  table.sorted = table.sorted.filter((slot) => slot.json !== null);
  table.added = table.added.filter((slot) => slot.json !== null);
  table.deleted = 0;
}

/** Returns the index of the first slot whose key is at or after `key`. */
function position(sorted: readonly Slot[], key: RecordKey): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(sorted[middle]!.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
