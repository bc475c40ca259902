/**
 * The index from entries to events. A row covers consecutive entries. Each row contains the number
 * of events per entry and the changes of dormancy, for which there are no events. A row also
 * contains totals up to its last entry, so that computing sums over a part of a long log does not
 * require reading that part. No digest covers the index, because it follows from the log.
 *
 * A row is encoded as integers in base 128, low digits first (LEB128): format, number of entries,
 * number of events up to the end of the row, time of the last entry, totals. Then, per entry,
 * `8 * events + 4 * turned + 2 * closes + registers`. If the entry turned agents dormant or awake,
 * their number and one `2 * ordinal + dormant` per agent follow.
 */
import type { DormancyChange } from '../core/agents.js';
import type { Step } from '../core/engine.js';
import { eventTypes } from '../protocol/event-types.js';
import type { EntryKind } from '../protocol/schema/entry.js';
import type { Event } from '../protocol/schema/event.js';
import { BlockStatus } from '../protocol/schema/primitives.js';
import { type StoreError, storeError } from '../store/messages.js';
import type { Store, StoreMeta } from '../store/store.js';

const FORMAT = 1;

/** Final block statuses, in the order of a row's totals. */
export const blockEnds = BlockStatus.enum.filter((status) => status !== 'voting');

/** Sums since the start of the log. */
export interface IndexTotals {
  /** In the order of `eventTypes`. */
  events: number[];
  /** In the order of `blockEnds`. */
  ends: number[];
  registered: number;
}

export interface IndexedEntry {
  events: number;
  registers: boolean;
  closes: boolean;
  turned: readonly DormancyChange[];
}

export interface IndexRow {
  /** Range of entries, both inclusive. */
  first: number;
  last: number;
  /** Time of the last entry. */
  at: number;
  /** Number of the last event, up to and including the last entry. */
  event_seq: number;
  totals: IndexTotals;
  entries: IndexedEntry[];
}

/** Number of the first event of a row's entries, if it has events. */
export const firstEventOf = ({ event_seq, entries }: IndexRow): number =>
  event_seq - entries.reduce((sum, { events }) => sum + events, 0) + 1;

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

/** Decodes the row that ends with entry `last`. @throws {StoreError} `CORRUPT` */
export function decodeIndexRow(last: number, bytes: Uint8Array): IndexRow {
  const reader = new Reader(last, bytes);
  if (reader.next() !== FORMAT) throw reader.damaged('unknown format');
  const count = reader.next();
  const event_seq = reader.next();
  const at = reader.next();
  const totals: IndexTotals = {
    events: eventTypes.map(() => reader.next()),
    ends: blockEnds.map(() => reader.next()),
    registered: reader.next(),
  };
  if (count < 1 || count > last + 1) throw reader.damaged(`invalid number of entries: ${count}`);
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
      if (byte === undefined) throw this.damaged('truncated');
      this.#at += 1;
      value += (byte % 128) * weight;
      if (!Number.isSafeInteger(value)) throw this.damaged('number too large');
      if (byte < 128) return value;
    }
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw this.damaged('trailing bytes');
  }

  damaged(why: string): StoreError {
    return storeError('INDEX_ROW_DAMAGED', { seq: this.#last, reason: why });
  }
}

/*
 * Reads the index, whose rows cover all entries without gaps.
 */

type Rows = Pick<Store, 'index'>;

/** Yields the rows from the row that contains `from` to the row that contains `to`. */
export function* readIndexRows(store: Rows, from: number, to: number): Generator<IndexRow, void> {
  let next = from;
  for (const { seq, bytes } of store.index({ from })) {
    const row = decodeIndexRow(seq, bytes);
    if (row.first > next) break;
    yield row;
    next = seq + 1;
    if (next > to) return;
  }
  throw storeError('INDEX_ROW_MISSING', { seq: next });
}

/** Maximum number of entries in a row. A row is the finest bucket in an overview. */
const ROW_ENTRIES = 256;

const typeIndex = new Map(eventTypes.map((type, index) => [type, index]));
const endIndex = new Map<string, number>(blockEnds.map((end, index) => [end, index]));

/** An entry and its effects, for the index. */
export interface IndexItem {
  seq: number;
  at: number;
  entry: IndexedEntry;
  events: readonly Event[];
}

export function toIndexItem(
  of: { seq: number; at: number; kind: EntryKind },
  step: Step,
): IndexItem {
  const { seq, at, kind } = of;
  const { events, turned } = step;
  let closes = false;
  for (const { type } of events) closes ||= type === 'block_status';
  const entry = { events: events.length, registers: kind === 'register', closes, turned };
  return { seq, at, entry, events };
}

export class IndexWriter {
  #totals: IndexTotals;
  #eventSeq: number;

  /** Continues the index of a store; without rows, begins with entry 0. */
  constructor(store: Rows, end: Pick<StoreMeta, 'event_seq'> | null) {
    const [last] = store.index({ reverse: true, limit: 1 });
    this.#totals = last ? decodeIndexRow(last.seq, last.bytes).totals : noTotals();
    this.#eventSeq = end?.event_seq ?? 0;
  }

  rows(batch: readonly IndexItem[]): { seq: number; bytes: Uint8Array }[] {
    const rows: { seq: number; bytes: Uint8Array }[] = [];
    for (let from = 0; from < batch.length; from += ROW_ENTRIES) {
      const some = batch.slice(from, from + ROW_ENTRIES);
      rows.push({ seq: some.at(-1)!.seq, bytes: this.row(some) });
    }
    return rows;
  }

  /** Builds a row from one or more entries. */
  row(some: readonly IndexItem[]): Uint8Array {
    for (const one of some) this.#add(one);
    const { at } = some.at(-1)!;
    const entries = some.map(({ entry }) => entry);
    return encodeIndexRow({ at, event_seq: this.#eventSeq, totals: this.#totals, entries });
  }

  #add({ entry, events }: IndexItem): void {
    const totals = this.#totals;
    this.#eventSeq += entry.events;
    if (entry.registers) totals.registered += 1;
    for (const event of events) {
      totals.events[typeIndex.get(event.type)!]! += 1;
      if (event.type === 'block_status') totals.ends[endIndex.get(event.data.status)!]! += 1;
    }
  }
}
