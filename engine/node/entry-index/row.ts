/**
 * A row of the index from entries to events: some entries that follow each other, how many events
 * came of each, and what no event tells; with totals up to its end, so that a part of a long log is
 * summed up without being read. Outside of every digest: it follows from the log.
 *
 * Whole numbers in base 128, low digits first (LEB128): format, entries, events in all, time of the
 * last entry, totals; then for each entry `8 * events + 4 * turned + 2 * closes + registers`, and
 * where agents turned, how many, and for each `2 * ordinal + dormant`.
 */
import type { Turned } from '../../core/index.js';
import { BlockStatus, type EventType, eventTopics } from '../../protocol/schema/index.js';
import { StoreError } from '../../store/index.js';

const FORMAT = 1;

/** Kinds of events and ends of blocks, in the order in which a row has their totals. */
export const eventTypes = Object.keys(eventTopics) as EventType[];
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
  turned: readonly Turned[];
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

const nobody: readonly Turned[] = Object.freeze([]);

function entryIn(reader: Reader): IndexedEntry {
  const word = reader.next();
  const registers = word % 2 === 1;
  const closes = Math.floor(word / 2) % 2 === 1;
  const events = Math.floor(word / 8);
  if (Math.floor(word / 4) % 2 === 0) return { events, registers, closes, turned: nobody };
  const turned: Turned[] = [];
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
    const text = `the index of events that ends with entry ${this.#last} is damaged: ${why}`;
    return new StoreError('CORRUPT', text);
  }
}
