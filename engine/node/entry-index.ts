/**
 * A row of the index from entries to events: some entries that follow each other, how many events
 * came of each, and what no event tells; with totals up to its end, so that a part of a long log is
 * summed up without being read. Outside of every digest: it follows from the log.
 *
 * Whole numbers in base 128, low digits first (LEB128): format, entries, events in all, time of the
 * last entry, totals; then for each entry `8 * events + 4 * turned + 2 * closes + registers`, and
 * where agents turned, how many, and for each `2 * ordinal + dormant`.
 */
import type { DormancyChange } from '../core/agents.js';
import type { Step } from '../core/engine.js';
import { type EventType, eventTypes } from '../protocol/event-types.js';
import type { EntryKind } from '../protocol/schema/entry.js';
import { BlockStatus } from '../protocol/schema/primitives.js';
import { type Store, StoreError, type StoreMeta } from '../store/store.js';

const FORMAT = 1;

/** Ends of blocks, in the order in which a row has their totals. */
export const blockEnds = BlockStatus.enum.filter((status) => status !== 'voting');

/** Sums since the log or, where older entries have no index, the index began. */
export interface IndexTotals {
  /** By `eventTypes`. */
  events: number[];
  /** By `blockEnds`. */
  ends: number[];
  registered: number;
}

/** What the index has of one entry. */
export interface IndexedEntry {
  events: number;
  /** It registered an agent. */
  registers: boolean;
  /** A block left voting by it. */
  closes: boolean;
  turned: readonly DormancyChange[];
}

export interface IndexRow {
  /** The entries that it tells of, both inclusive. */
  first: number;
  last: number;
  /** Time of its last entry. */
  at: number;
  /** The last event up to its end. */
  event_seq: number;
  totals: IndexTotals;
  entries: IndexedEntry[];
}

export const noTotals = (): IndexTotals => ({
  events: eventTypes.map(() => 0),
  ends: blockEnds.map(() => 0),
  registered: 0,
});

export function encodeIndexRow(row: Omit<IndexRow, 'first' | 'last'>): Uint8Array {
  const { at, event_seq, totals, entries } = row;
  const bytes: number[] = [];
  const head = [...totals.events, ...totals.ends, totals.registered];
  for (const value of [FORMAT, entries.length, event_seq, at, ...head]) put(bytes, value);
  for (const { events, turned, closes, registers } of entries) {
    const flags = (turned.length > 0 ? 4 : 0) + (closes ? 2 : 0) + (registers ? 1 : 0);
    put(bytes, 8 * events + flags);
    if (turned.length === 0) continue;
    put(bytes, turned.length);
    for (const { agent, dormant } of turned) put(bytes, 2 * agent + (dormant ? 1 : 0));
  }
  return Uint8Array.from(bytes);
}

function put(bytes: number[], value: number): void {
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
}

/** The row that ends with entry `last`. @throws {StoreError} `CORRUPT` when it is none. */
export function decodeIndexRow(last: number, bytes: Uint8Array): IndexRow {
  const reader = new Reader(last, bytes);
  if (reader.next() !== FORMAT) throw reader.damaged('it is of another format');
  const count = reader.next();
  const event_seq = reader.next();
  const at = reader.next();
  const totals: IndexTotals = {
    events: eventTypes.map(() => reader.next()),
    ends: blockEnds.map(() => reader.next()),
    registered: reader.next(),
  };
  if (count < 1 || count > last + 1) throw reader.damaged(`it tells of ${count} entries`);
  const entries: IndexedEntry[] = [];
  while (entries.length < count) entries.push(entryIn(reader));
  reader.end();
  return { first: last - count + 1, last, at, event_seq, totals, entries };
}

const noAgents: readonly DormancyChange[] = Object.freeze([]);

function entryIn(reader: Reader): IndexedEntry {
  const word = reader.next();
  const registers = word % 2 === 1;
  const closes = Math.floor(word / 2) % 2 === 1;
  const events = Math.floor(word / 8);
  if (Math.floor(word / 4) % 2 === 0) return { events, registers, closes, turned: noAgents };
  const turned: DormancyChange[] = [];
  for (let left = reader.next(); left > 0; left -= 1) {
    const one = reader.next();
    turned.push({ agent: Math.floor(one / 2), dormant: one % 2 === 1 });
  }
  return { events, registers, closes, turned };
}

class Reader {
  readonly #last: number;
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(last: number, bytes: Uint8Array) {
    this.#last = last;
    this.#bytes = bytes;
  }

  next(): number {
    let value = 0;
    for (let weight = 1; ; weight *= 128) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw this.damaged('it is cut off');
      this.#at += 1;
      value += (byte % 128) * weight;
      if (!Number.isSafeInteger(value)) throw this.damaged('it has a number beyond all bounds');
      if (byte < 128) return value;
    }
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw this.damaged('it has more than its entries');
  }

  damaged(why: string): StoreError {
    return new StoreError('INDEX_ROW_DAMAGED', { seq: this.#last, reason: why });
  }
}

/*
 * Reads of the index from entries to events. Whoever opened the folder with an older program left
 * entries without rows: what is told here is where the rows begin that go on to the log's end.
 */

type Rows = Pick<Store, 'index'>;

/** The last row, if it ends with the log; null also where it is damaged. */
function lastRow(store: Rows, end: Pick<StoreMeta, 'seq'>): IndexRow | null {
  const [stored] = store.index({ reverse: true, limit: 1 });
  if (stored?.seq !== end.seq) return null;
  try {
    return decodeIndexRow(stored.seq, stored.bytes);
  } catch (error) {
    if (error instanceof StoreError) return null;
    throw error;
  }
}

/** The row that tells of an entry, or undefined. @throws {StoreError} `CORRUPT` */
export function findIndexRow(store: Rows, seq: number): IndexRow | undefined {
  const [stored] = store.index({ from: seq, limit: 1 });
  const row = stored && decodeIndexRow(stored.seq, stored.bytes);
  return row && row.first <= seq ? row : undefined;
}

/** Rows from the one that tells of `from` to the one that tells of `to`, as far as there are. */
export function* readIndexRows(store: Rows, from: number, to: number): Generator<IndexRow, void> {
  for (const { seq, bytes } of store.index({ from })) {
    const row = decodeIndexRow(seq, bytes);
    if (row.first > to) return;
    yield row;
    if (seq >= to) return;
  }
}

/** Events that came before a row's totals begin: the same for all rows of one run. */
const eventsBefore = ({ event_seq, totals }: IndexRow) =>
  event_seq - totals.events.reduce((sum, count) => sum + count, 0);

/**
 * The first entry of the rows that go on without a gap to the log's end; one beyond its end where
 * there are none.
 */
export function findIndexStart(store: Rows, end: Pick<StoreMeta, 'seq'>): number {
  const last = lastRow(store, end);
  if (!last) return end.seq + 1;
  const before = eventsBefore(last);
  // Rows of an older run have fewer events before them, or the same where none came in between.
  let low = 0;
  let high = last.first;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = findIndexRow(store, middle);
    if (row && eventsBefore(row) === before) high = row.first;
    else low = row ? row.last + 1 : middle + 1;
  }
  return high;
}

/** Entries that a row tells of at the most: a bucket of an overview is no finer. */
const ROW_ENTRIES = 256;

const typeIndex = new Map(eventTypes.map((type, index) => [type, index]));
const endIndex = new Map<string, number>(blockEnds.map((end, index) => [end, index]));

/** An entry with what came of it, as the index keeps it. */
export interface IndexItem {
  seq: number;
  at: number;
  entry: IndexedEntry;
  types: readonly EventType[];
  ends: readonly string[];
}

/** What the index keeps of a step. */
export function toIndexItem(
  of: { seq: number; at: number; kind: EntryKind },
  step: Step,
): IndexItem {
  const { seq, at, kind } = of;
  const ends: string[] = [];
  for (const event of step.events) {
    if (event.type === 'block_status') ends.push(event.data.status);
  }
  const entry = {
    events: step.events.length,
    registers: kind === 'register',
    closes: ends.length > 0,
    turned: step.turned,
  };
  return { seq, at, entry, ends, types: step.events.map(({ type }) => type) };
}

export class IndexWriter {
  #totals: IndexTotals;
  #eventSeq: number;

  /** Goes on where the index ends, if it ends with the log; begins anew elsewhere. */
  constructor(store: Pick<Store, 'index'>, end: Pick<StoreMeta, 'seq' | 'event_seq'> | null) {
    this.#totals = (end && lastRow(store, end))?.totals ?? noTotals();
    this.#eventSeq = end?.event_seq ?? 0;
  }

  /** The rows of a batch. */
  rows(batch: readonly IndexItem[]): { seq: number; bytes: Uint8Array }[] {
    const rows: { seq: number; bytes: Uint8Array }[] = [];
    for (let from = 0; from < batch.length; from += ROW_ENTRIES) {
      const some = batch.slice(from, from + ROW_ENTRIES);
      rows.push({ seq: some.at(-1)!.seq, bytes: this.row(some) });
    }
    return rows;
  }

  /** One row of some entries, at least one. */
  row(some: readonly IndexItem[]): Uint8Array {
    for (const one of some) this.#add(one);
    const { at } = some.at(-1)!;
    const entries = some.map(({ entry }) => entry);
    return encodeIndexRow({ at, event_seq: this.#eventSeq, totals: this.#totals, entries });
  }

  #add({ entry, types, ends }: IndexItem): void {
    const totals = this.#totals;
    this.#eventSeq += entry.events;
    if (entry.registers) totals.registered += 1;
    for (const type of types) totals.events[typeIndex.get(type)!]! += 1;
    for (const end of ends) totals.ends[endIndex.get(end)!]! += 1;
  }
}
