/**
 * The rows that a segment is made of, read a bit at a time so that no reader of LMDB stays open
 * over turns. Entries are compared with the log's digest chain on their way: what is damaged is
 * named and stays where it is.
 */
import { createHash } from 'node:crypto';
import { limits } from '../../protocol/limits.js';
import type { Database, Environment } from '../environment.js';
import { StoreError } from '../store.js';
import type { Item } from './write-segment.js';

const digestBytes = 32;
/** A stored entry is its log digest, its digest, then its frame of parts. */
const frameAt = 2 * digestBytes;
const lengthBytes = 8;

export interface ChainDigests {
  log_digest: string;
  digest: string;
}

export function storedDigests(stored: Uint8Array): ChainDigests {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  return {
    log_digest: bytes.toString('hex', 0, digestBytes),
    digest: bytes.toString('hex', digestBytes, frameAt),
  };
}

/** The time of a stored entry: the second part of its frame. */
export function storedAt(stored: Uint8Array): number {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const seqLength = Number(bytes.readBigUInt64BE(frameAt));
  const atHead = frameAt + lengthBytes + seqLength;
  const atLength = Number(bytes.readBigUInt64BE(atHead));
  return Number(bytes.toString('latin1', atHead + lengthBytes, atHead + lengthBytes + atLength));
}

/** Entries from `first`, below `before`, until a segment is full; each continues the chain. */
export class EntryRun implements Iterator<Item> {
  readonly #folder: string;
  readonly #rows: Iterator<{ seq: number; value: Uint8Array }>;
  readonly first: number;
  #bytes = 0;
  /** The last entry that was given, and the digests after it. */
  last: number;
  digests: ChainDigests;

  constructor(environment: Environment, first: number, before: number, digests: ChainDigests) {
    this.#folder = environment.folder;
    this.#rows = rowsFrom(environment.log, first, before - 1, ({ length }) => length);
    this.first = first;
    this.last = first - 1;
    this.digests = digests;
  }

  next(): IteratorResult<Item> {
    const full =
      this.#bytes >= limits.archiveSegmentBytes ||
      this.last - this.first + 1 >= limits.archiveSegmentEntries;
    const row = full ? { done: true as const, value: undefined } : this.#rows.next();
    if (row.done) return { done: true, value: undefined };
    const { seq, value: bytes } = row.value;
    const expected = createHash('sha256')
      .update(this.digests.log_digest, 'hex')
      .update(bytes.subarray(frameAt))
      .digest('hex');
    const found = storedDigests(bytes);
    if (seq !== this.last + 1 || found.log_digest !== expected) {
      const text = `entry ${this.last + 1} does not continue the log; folkmoot replay says more`;
      throw new StoreError('CORRUPT', `${this.#folder}: ${text}`);
    }
    this.last = seq;
    this.digests = found;
    this.#bytes += bytes.length;
    return { done: false, value: { seq, bytes } };
  }
}

/** Events from `first` that are older than `cutAt`, in milliseconds. */
export function* eventsBefore(
  { history }: Environment,
  first: number,
  cutAt: number,
): Generator<Item, void> {
  const last = Number.MAX_SAFE_INTEGER;
  for (const { seq, value } of rowsFrom(history, first, last, ({ length }) => length)) {
    const { data } = JSON.parse(value) as { data?: { timestamp?: string } };
    // Events stand in the order of time. One that says none stays, and all after it.
    if (!(Date.parse(data?.timestamp ?? '') < cutAt)) return;
    yield { seq, bytes: Buffer.from(value) };
  }
}

/** Rows in order, taken from LMDB a block's worth at a time. */
function* rowsFrom<Value>(
  database: Database<Value>,
  first: number,
  last: number,
  size: (value: Value) => number,
): Generator<{ seq: number; value: Value }, void> {
  let next = first;
  for (;;) {
    const taken: { seq: number; value: Value }[] = [];
    let bytes = 0;
    for (const { key, value } of database.getRange({
      start: next,
      end: last,
      inclusiveEnd: true,
    })) {
      taken.push({ seq: key as number, value });
      bytes += size(value);
      if (bytes >= limits.archiveBlockBytes) break;
    }
    yield* taken;
    const newest = taken.at(-1);
    if (newest === undefined || newest.seq >= last) return;
    next = newest.seq + 1;
  }
}
