/**
 * A write-behind store makes a batch readable at once and writes it later, many batches per commit.
 * Used by a cluster node, whose requests are already durable in the coordinator. After a crash, the
 * node fetches the unwritten batches from the coordinator. Reads cover both unwritten and written
 * data.
 */

import type { RecordKey } from '../protocol/schema/record.js';
import { commitWhenRoom } from './environment.js';
import { type HostClock, hostClock } from './host-clock.js';
import {
  assertBatch,
  type Batch,
  keyId,
  type RangeOptions,
  type RecordChange,
  rowsWithin,
  type Store,
  type StoreMeta,
  withChanges,
} from './store.js';

/** Maximum delay before a batch is written, unless the disk is slower. */
const BEHIND_MS = 100;
/** Size of entries and files that triggers a write. `commit` waits for it at `MOST_BYTES`. */
const ENOUGH_BYTES = 1024 * 1024;
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Wraps a store, which the wrapper then owns. Once the wrapped store fails, `commit` and `hasRoom`
 * throw the store's error. `close` writes the unwritten batches.
 */
export const createWriteBehind = (store: Store, host: HostClock = hostClock): Store =>
  new WriteBehind(store, host);

class WriteBehind implements Store {
  readonly #store: Store;
  #stored: StoreMeta | null;
  #next = new Layer();
  /** The layer that is being written, or whose write failed. */
  #writing: Layer | null = null;
  #failure: Error | null = null;
  /** Cancels the planned write; null if none is planned. */
  #cancel: (() => void) | null = null;
  #running: Promise<void> | null = null;

  constructor(
    store: Store,
    private readonly host: HostClock,
  ) {
    this.#store = store;
    this.#stored = store.meta();
  }

  get kind(): Store['kind'] {
    return this.#store.kind;
  }

  get commits(): number {
    return this.#store.commits;
  }

  get archive(): Store['archive'] {
    return this.#store.archive;
  }

  meta(): StoreMeta | null {
    const last = this.#last;
    return last && { ...last };
  }

  stored(): StoreMeta | null {
    return this.#stored;
  }

  get(table: string, key: RecordKey): string | undefined {
    const change = this.#next.change(table, key) ?? this.#writing?.change(table, key);
    return change ? (change.json ?? undefined) : this.#store.get(table, key);
  }

  range(table: string, options: RangeOptions = {}): Iterable<Found> {
    const last = new Map(this.#layers.flatMap((layer) => [...layer.changesOf(table)]));
    const changes = rowsWithin(last.values(), options);
    if (changes.length === 0) return this.#store.range(table, options);
    const { limit: _, ...all } = options;
    return withChanges(this.#store.range(table, all), changes, options);
  }

  entry(seq: number): Uint8Array | undefined {
    return rowOf(this.#layers, 'entries', seq)?.bytes ?? this.#store.entry(seq);
  }

  entries(from: number, to: number): Iterable<{ seq: number; bytes: Uint8Array }> {
    const laid = this.#layers.map(({ entries }) => entries);
    return rowsOver((first, last) => this.#store.entries(first, last), laid, from, to);
  }

  event(seq: number): string | undefined {
    return rowOf(this.#layers, 'events', seq)?.json ?? this.#store.event(seq);
  }

  events(from: number, to: number): Iterable<{ seq: number; json: string }> {
    const laid = this.#layers.map(({ events }) => events);
    return rowsOver((first, last) => this.#store.events(first, last), laid, from, to);
  }

  blob(hash: string): Uint8Array | undefined {
    return this.#next.blob(hash) ?? this.#writing?.blob(hash) ?? this.#store.blob(hash);
  }

  index(options: RangeOptions = {}): Iterable<IndexRow> {
    const { from = 0, to = Number.POSITIVE_INFINITY, reverse, limit } = options;
    const rows = this.#layers.flatMap((layer) => layer.index);
    if (rows.length === 0) return this.#store.index(options);
    const laid = rows.filter(({ seq }) => seq >= (from as number) && seq < (to as number));
    const last = Math.min(to as number, rows[0]!.seq);
    const below = () =>
      (from as number) < last ? this.#store.index({ ...options, to: last }) : [];
    const above = () => (reverse ? laid.reverse() : laid);
    return reverse ? chained(above, below, limit) : chained(below, above, limit);
  }

  async commit(batch: Batch): Promise<void> {
    if (this.#failure) throw this.#failure;
    assertBatch(batch, this.#last);
    this.#next.take(batch);
    if (this.#waiting >= MOST_BYTES) return this.#writeAll();
    if (this.#next.bytes >= ENOUGH_BYTES) void this.#writeNow();
    else this.#plan();
  }

  hasRoom(more = 0): boolean {
    if (this.#failure) throw this.#failure;
    return this.#store.hasRoom(this.#waiting + more);
  }

  async close(): Promise<void> {
    try {
      await this.#writeAll();
    } finally {
      await this.#store.close();
    }
  }

  /** Unwritten layers, oldest first. */
  get #layers(): Layer[] {
    return this.#writing ? [this.#writing, this.#next] : [this.#next];
  }

  get #waiting(): number {
    return this.#next.bytes + (this.#writing?.bytes ?? 0);
  }

  get #last(): StoreMeta | null {
    return this.#next.meta ?? this.#writing?.meta ?? this.#stored;
  }

  async #write(): Promise<void> {
    const layer = this.#next;
    this.#next = new Layer();
    this.#writing = layer;
    try {
      await commitWhenRoom(this.#store, layer.batch(), this.host);
    } catch (error) {
      this.#failure = error as Error;
      return;
    }
    this.#stored = layer.meta;
    this.#writing = null;
  }

  /** Writes the next layer, or waits for the running write. Resolves even after a failure. */
  #writeNow(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    this.#running ??= this.#write().finally(() => {
      this.#running = null;
      this.#plan();
    });
    return this.#running;
  }

  #plan(): void {
    if (this.#cancel || this.#running || this.#failure || !this.#next.meta) return;
    const ms = this.#next.bytes < ENOUGH_BYTES ? BEHIND_MS : 0;
    this.#cancel = this.host.after(ms, () => void this.#writeNow());
  }

  async #writeAll(): Promise<void> {
    while (!this.#failure && (this.#running || this.#next.meta)) await this.#writeNow();
    if (this.#failure) throw this.#failure;
  }
}

/** Finds a row by number. Rows are consecutive. */
function rowOf<Kind extends 'entries' | 'events'>(
  layers: readonly Layer[],
  kind: Kind,
  seq: number,
): Layer[Kind][number] | undefined {
  for (const layer of layers) {
    const first = layer[kind][0]?.seq;
    if (first !== undefined && seq >= first) {
      const row = layer[kind][seq - first];
      if (row) return row;
    }
  }
  return undefined;
}

type Change = RecordChange;

/** A row in the index from entries to events. */
type IndexRow = { seq: number; bytes: Uint8Array };

class Layer {
  readonly entries: Batch['entries'] = [];
  readonly events: Batch['events'] = [];
  readonly index: IndexRow[] = [];
  readonly #blobs = new Map<string, Uint8Array>();
  /** Last change to each record, by table and key. */
  readonly #changes = new Map<string, Map<string, Change>>();
  /** Meta from the last batch; null before the first batch. */
  meta: StoreMeta | null = null;
  /** Size of entries and files. */
  bytes = 0;

  take({ entries, events, changes, blobs, index = [], meta }: Batch): void {
    for (const entry of entries) {
      this.entries.push(entry);
      this.bytes += entry.bytes.length;
    }
    for (const event of events) this.events.push(event);
    for (const row of index) this.index.push(row);
    for (const change of changes) this.changesOf(change.table).set(keyId(change.key), change);
    for (const { hash, bytes } of blobs) {
      this.#blobs.set(hash, bytes);
      this.bytes += bytes.length;
    }
    this.meta = { ...meta };
  }

  /** Merges all batches into one. */
  batch(): Batch {
    const { entries, events, index } = this;
    const changes = [...this.#changes.values()].flatMap((ofTable) => [...ofTable.values()]);
    const blobs = [...this.#blobs].map(([hash, bytes]) => ({ hash, bytes }));
    return { entries, events, changes, blobs, index, meta: this.meta! };
  }

  blob(hash: string): Uint8Array | undefined {
    return this.#blobs.get(hash);
  }

  change(table: string, key: RecordKey): Change | undefined {
    return this.#changes.get(table)?.get(keyId(key));
  }

  /** Returns the last change to each record of a table, by the id of its key. */
  changesOf(table: string): Map<string, Change> {
    const known = this.#changes.get(table);
    if (known) return known;
    const made = new Map<string, Change>();
    this.#changes.set(table, made);
    return made;
  }
}

type Found = { key: RecordKey; json: string };

/** Yields numbered rows of the store, then of memory. @param stored reads, both ends inclusive. */
function rowsOver<Row extends { seq: number }>(
  stored: (from: number, to: number) => Iterable<Row>,
  laid: readonly (readonly Row[])[],
  from: number,
  to: number,
): Iterable<Row> {
  const first = laid.find((rows) => rows.length > 0)?.[0]?.seq;
  if (first === undefined || to < first) return stored(from, to);
  // Copied now, because a layer that is written before the iteration ends leaves memory.
  const rows = laid.flatMap((some) => within(some, from, to));
  const below = () => (from < first ? stored(from, first - 1) : []);
  return chained(below, () => rows);
}

/** Slices consecutive rows by number, both ends inclusive. */
function within<Row extends { seq: number }>(rows: readonly Row[], from: number, to: number) {
  const first = rows[0]?.seq ?? 0;
  return rows.slice(Math.max(0, from - first), Math.max(0, to - first + 1));
}

/** Yields both inputs in order, up to a limit. */
function* chained<Row>(
  first: () => Iterable<Row>,
  then: () => Iterable<Row>,
  limit = Number.POSITIVE_INFINITY,
): Generator<Row, void> {
  let left = limit;
  for (const part of [first, then]) {
    if (left === 0) return;
    for (const row of part()) {
      yield row;
      left -= 1;
      if (left === 0) return;
    }
  }
}
