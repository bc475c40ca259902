/**
 * The store interface, implemented on disk (LMDB) and in memory. A store handles bytes without
 * interpreting them. Record values are canonical JSON.
 */
import { assertInvariant } from '../protocol/invariants.js';
import type { RecordKey } from '../protocol/schema/record.js';
import { storeError } from './messages.js';

/** A change to a record. */
export interface RecordChange {
  table: string;
  key: RecordKey;
  /** Canonical JSON, or null to delete. */
  json: string | null;
}

/** Content of a commit. A commit is atomic. */
export interface Batch {
  /** Encoded log entries that continue the log, ascending. */
  entries: { seq: number; bytes: Uint8Array }[];
  /** Events as canonical JSON that continue the history, ascending. */
  events: { seq: number; json: string }[];
  changes: readonly RecordChange[];
  /** Files by the SHA-256 of their content, in hex. */
  blobs: { hash: string; bytes: Uint8Array }[];
  /** Rows in the index from entries to events, each by the last entry that it covers. */
  index?: readonly { seq: number; bytes: Uint8Array }[];
  /** Replaces the stored meta. */
  meta: StoreMeta;
}

/** The end of the log, and the folder's identity. */
export interface StoreMeta {
  schema_version: number;
  network_id: string;
  /** Random id of the folder, not covered by any digest. */
  epoch: string;
  /** Sequence number and time of the last entry. */
  seq: number;
  at: number;
  /** Sequence number of the last event. */
  event_seq: number;
  /** Digests after the last entry, in hex. */
  log_digest: string;
  digest: string;
  /** Position in a cluster's request order. */
  order?: OrderMark;
}

/** Position in a cluster's request order. Not covered by any digest. */
export interface OrderMark {
  /** Random id of the order. */
  log: string;
  /** Number of batches in the order so far. */
  version: number;
  /** Revision of the last batch in the coordinator (etcd). */
  revision: number;
  /** Milliseconds since 1970. Batches without an entry advance the time too. */
  time: number;
}

/** Range and order of a read. */
export interface RangeOptions {
  /** First key, inclusive. */
  from?: RecordKey;
  /** Last key, exclusive. */
  to?: RecordKey;
  /** Reads descending from `to` instead of ascending from `from`. */
  reverse?: boolean;
  limit?: number;
}

/** Storage for one network. */
export interface Store {
  readonly kind: 'lmdb' | 'memory';
  /** Commits that became durable since the store was opened. */
  readonly commits: number;
  /** The stored meta, or null in a new store. */
  meta(): StoreMeta | null;
  /** The durable part of {@link meta}, in a write-behind store. */
  stored?(): StoreMeta | null;
  /** Canonical JSON of a record. */
  get(table: string, key: RecordKey): string | undefined;
  range(table: string, options?: RangeOptions): Iterable<{ key: RecordKey; json: string }>;
  entry(seq: number): Uint8Array | undefined;
  /** Entries from `from` to `to`, both inclusive, ascending. */
  entries(from: number, to: number): Iterable<{ seq: number; bytes: Uint8Array }>;
  event(seq: number): string | undefined;
  /** Events from `from` to `to`, both inclusive, ascending. */
  events(from: number, to: number): Iterable<{ seq: number; json: string }>;
  blob(hash: string): Uint8Array | undefined;
  /** Rows in the index from entries to events, by the last entry that each row covers. */
  index(options?: RangeOptions): Iterable<{ seq: number; bytes: Uint8Array }>;
  /**
   * Commits a batch. Resolves when the batch is durable. Must not be called again before that.
   * @throws {StoreError} `FULL` if nothing was written; `FAILED` if the outcome is unknown, after
   *   which the process must end.
   */
  commit(batch: Batch): Promise<void>;
  /**
   * Returns true if the disk has room for `waiting` bytes of unwritten entries and files and then
   * stays above the free-space limit. During a commit, uses the free space measured before the
   * commit.
   * @throws {StoreError} `UNREADABLE` if the free space is unknown.
   */
  hasRoom(waiting?: number): boolean;
  close(): Promise<void>;
  /** Archive of old entries, for stores on disk only. The store's reads include it. */
  readonly archive?: StoreArchive | undefined;
}

/** A store's old entries and events, in compressed files (segments). */
export interface StoreArchive {
  /** Ascending, from entry 1, without gaps. */
  readonly segments: readonly Segment[];
  /** Last archived entry and event; 0 if nothing is archived. */
  readonly end: { entry: number; event: number };
  /** Total size of the blocks unpacked for reads since the store was opened. */
  readonly unpackedBytes: number;
  /** Checks the files' names and lengths. Returns one message per problem. */
  problems(): string[];
  /** Verifies all segments in full. Yields one message per problem. */
  damage(): AsyncIterable<string>;
  /**
   * Writes one segment with entries below `before` and the events older than the remaining entries.
   * Returns null if there is nothing to move. Reads and commits can continue. Calls must not
   * overlap.
   * @throws {StoreError} `CORRUPT` if an entry does not continue the digest chain.
   */
  move(before: number): Promise<Segment | null>;
  /** Deletes some archived rows. Returns false if none are left. Must not run during `move`. */
  trim(): Promise<boolean>;
  /** Rewrites the data without free pages, closes the store. No other operation may be running. */
  compactAndClose(): Promise<void>;
  /** Free disk space in bytes. */
  freeBytes(): number;
}

/*
 * Assertions on batches. A failure is a bug in the caller, and throws before anything is written.
 */

/** @throws {Violation} if the batch does not continue the log and the history. */
export function assertBatch(batch: Batch, stored: StoreMeta | null): void {
  assertSequence('entry', batch.entries, stored?.seq, batch.meta.seq);
  assertSequence('event', batch.events, stored?.event_seq, batch.meta.event_seq);
  assertIndex(batch);
  for (const { table, key } of batch.changes) assertRecordKey(table, key);
  for (const { hash } of batch.blobs) assertRecordKey('blobs', hash);
}

/** Rows must cover entries in the batch, so that the rows can be appended. */
function assertIndex({ index = [], entries }: Batch): void {
  let previous = (entries[0]?.seq ?? 0) - 1;
  const last = entries.at(-1)?.seq ?? previous;
  for (const { seq } of index) {
    assertInvariant(seq > previous && seq <= last, 'INDEX_ROW', seq, previous);
    previous = seq;
  }
}

/** Appended rows must follow the last row, since LMDB does not search for their position. */
function assertSequence(
  what: string,
  items: readonly { seq: number }[],
  last: number | undefined,
  metaLast: number,
): void {
  let previous = last;
  for (const { seq } of items) {
    const follows = previous === undefined ? seq >= 0 : seq === previous + 1;
    const isNext = Number.isSafeInteger(seq) && follows;
    assertInvariant(isNext, 'BATCH_SEQUENCE', `${what} ${seq}`, previous ?? 'an empty store');
    previous = seq;
  }
  const isEnd = previous === undefined || previous === metaLast;
  assertInvariant(isEnd, 'BATCH_END', `${what} ${previous}`, metaLast);
}

/*
 * Record keys and their order, which are the same in every store. The order follows lmdb's
 * ordered-binary encoding, so that both stores return the same ranges.
 */

/**
 * Limit of UTF-16 units in all strings in a key. LMDB accepts 1,978 bytes with lmdb's defaults. 512
 * units take at most 1,536 bytes in UTF-8, which leaves room for numbers and separators.
 */
const maxKeyUnits = 512;
const maxKeyParts = 8;

/** Control characters separate the parts of a tuple. A lone surrogate has no UTF-8 encoding. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern detects control characters
const unstorable = /[\u0000-\u001f\u007f-\u009f\ud800-\udfff]/u;

/** The last code point, a noncharacter. Sorts after every string used in keys. */
const lastText = '\u{10ffff}';

/**
 * Returns true for a valid record key: a safe integer (not -0), a string without control characters
 * or lone surrogates, or a tuple of 2 to 8 such values. All strings in a key together have at most
 * 512 UTF-16 units.
 */
export function isRecordKey(key: RecordKey): boolean {
  if (typeof key !== 'object') return isPart(key) && units(key) <= maxKeyUnits;
  return key.length >= 2 && isBound(key);
}

/** @throws {TypeError} for an invalid key, which is a bug in the caller. */
function assertRecordKey(table: string, key: RecordKey): void {
  if (!isRecordKey(key)) throw new TypeError(`${table}: not a record key: ${JSON.stringify(key)}`);
}

/**
 * Asserts that bounds are valid. A bound can also be a tuple with one part, which precedes all keys
 * that start with that part.
 */
export function assertRange(table: string, options: RangeOptions): void {
  for (const key of [options.from, options.to]) {
    if (key === undefined || isRecordKey(key) || (typeof key === 'object' && isBound(key)))
      continue;
    throw new TypeError(`${table}: not a range bound: ${JSON.stringify(key)}`);
  }
}

/** Returns the range of all tuples that start with these parts. */
export function keysUnder(...parts: readonly (string | number)[]): {
  from: RecordKey;
  to: RecordKey;
} {
  return { from: parts, to: [...parts, lastText] };
}

/** Returns the rows within a range, in its order. Ignores its limit. */
export function rowsWithin<Row extends { key: RecordKey }>(
  rows: Iterable<Row>,
  { from, to, reverse = false }: RangeOptions,
): Row[] {
  const found = [...rows].filter(
    ({ key }) =>
      (from === undefined || compareKeys(key, from) >= 0) &&
      (to === undefined || compareKeys(key, to) < 0),
  );
  return found.sort((a, b) => (reverse ? -1 : 1) * compareKeys(a.key, b.key));
}

/**
 * Yields the records of a range with changes applied.
 *
 * @param records in the order of the range.
 * @param changes the last change to each record, in the order of the range.
 */
export function* withChanges(
  records: Iterable<{ key: RecordKey; json: string }>,
  changes: readonly Changed[],
  { reverse = false, limit = Number.POSITIVE_INFINITY }: RangeOptions,
): Generator<{ key: RecordKey; json: string }, void> {
  let left = limit;
  for (const { key, json } of merged(records, changes, reverse)) {
    if (json === null) continue;
    if (left === 0) return;
    left -= 1;
    yield { key, json };
  }
}

type Changed = Pick<RecordChange, 'key' | 'json'>;

/** Merges two lists in one order. Of two rows with the same key, only the change remains. */
function* merged(records: Iterable<Changed>, changes: readonly Changed[], reverse: boolean) {
  let next = 0;
  for (const record of records) {
    let order = -1;
    while (order < 0 && next < changes.length) {
      order = (reverse ? -1 : 1) * compareKeys(changes[next]!.key, record.key);
      if (order > 0) break;
      yield changes[next]!;
      next += 1;
    }
    if (order !== 0) yield record;
  }
  yield* changes.slice(next);
}

/** Returns a text that is unique to the key, so that `1` and `'1'` differ. */
export function keyId(key: RecordKey): string {
  if (typeof key === 'string') return `s${key}`;
  return typeof key === 'number' ? `n${key}` : encodeKey(key);
}

/** Returns `JSON.stringify(key)`. Most keys are numbers or pairs of numbers. */
export function encodeKey(key: RecordKey): string {
  if (typeof key === 'number') return `${key}`;
  return isPair(key) ? `[${key[0]},${key[1]}]` : JSON.stringify(key);
}

/** Returns true for a pair of numbers. */
export function isPair(key: RecordKey): key is readonly [number, number] {
  if (typeof key !== 'object' || key.length !== 2) return false;
  return typeof key[0] === 'number' && typeof key[1] === 'number';
}

/**
 * Compares record keys. Numbers come before strings, and a key before every tuple that continues
 * it. Numbers are compared by value, strings by code point, tuples part by part.
 */
export function compareKeys(a: RecordKey, b: RecordKey): number {
  if (typeof a !== 'object' && typeof b !== 'object') return compareParts(a, b);
  const left = typeof a === 'object' ? a : [a];
  const right = typeof b === 'object' ? b : [b];
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const order = compareParts(left[index]!, right[index]!);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function isBound(key: readonly (string | number)[]): boolean {
  if (key.length === 0 || key.length > maxKeyParts || !key.every(isPart)) return false;
  return key.reduce<number>((sum, part) => sum + units(part), 0) <= maxKeyUnits;
}

function isPart(part: string | number): boolean {
  if (typeof part === 'string') return !unstorable.test(part);
  return Number.isSafeInteger(part) && !Object.is(part, -0);
}

function units(part: string | number): number {
  return typeof part === 'string' ? part.length : 0;
}

function compareParts(a: string | number, b: string | number): number {
  if (typeof a === 'number') return typeof b === 'number' ? a - b : -1;
  return typeof b === 'number' ? 1 : compareText(a, b);
}

function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above U+FFFF, so they rank after U+E000..U+FFFF, as in UTF-8. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

interface Expected {
  folder: string;
  schemaVersion: number;
  /** Default: any network. */
  networkId?: string | undefined;
}

const numbers = ['schema_version', 'seq', 'at', 'event_seq'] as const;
const strings = ['network_id', 'epoch', 'log_digest', 'digest'] as const;
const marks = ['version', 'revision', 'time'] as const;

/** @throws {StoreError} `CORRUPT` */
export function parseMeta(folder: string, text: string): StoreMeta {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw storeError('META_DAMAGED', { path: folder, reason: 'not JSON' }, { cause });
  }
  const fields = new Map<string, unknown>(
    typeof value === 'object' && value !== null ? Object.entries(value) : [],
  );
  const wrong =
    numbers.find((name) => !Number.isSafeInteger(fields.get(name))) ??
    strings.find((name) => typeof fields.get(name) !== 'string') ??
    (isMark(fields.get('order')) ? undefined : 'order');
  if (wrong !== undefined) {
    throw storeError('META_DAMAGED', { path: folder, reason: `invalid ${wrong}` });
  }
  return value as StoreMeta;
}

/** Accepts undefined, because only networks in a cluster have an order mark. */
function isMark(value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value !== 'object' || value === null) return false;
  const mark = new Map<string, unknown>(Object.entries(value));
  return (
    typeof mark.get('log') === 'string' && marks.every((n) => Number.isSafeInteger(mark.get(n)))
  );
}

/** @throws {StoreError} `NEWER_SCHEMA`, `OLDER_SCHEMA` or `OTHER_NETWORK`. */
export function assertExpected(meta: StoreMeta, expected: Expected): void {
  const { folder, schemaVersion, networkId } = expected;
  const versions = { path: folder, version: meta.schema_version, supported: schemaVersion };
  if (meta.schema_version > schemaVersion) throw storeError('NEWER_SCHEMA', versions);
  if (meta.schema_version < schemaVersion) throw storeError('OLDER_SCHEMA', versions);
  if (networkId !== undefined && meta.network_id !== networkId) {
    const ids = { found: meta.network_id, expected: networkId };
    throw storeError('WRONG_NETWORK', { path: folder, ...ids });
  }
}

/** Converts a range to lmdb's: start inclusive, end exclusive, in both directions. */
export function bounds({ from, to, reverse = false, limit }: RangeOptions): object {
  const start = reverse ? to : from;
  const end = reverse ? from : to;
  return {
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...(reverse && { reverse, exclusiveStart: to !== undefined, inclusiveEnd: true }),
    ...(limit !== undefined && { limit }),
  };
}

/** Entries and events in a segment, both ends inclusive, with the digests at both ends. */
export interface SegmentRange {
  first: number;
  last: number;
  /** `last_event` is `first_event - 1` if there are no events. */
  first_event: number;
  last_event: number;
  /** Digests before the first entry and after the last entry, in hex. */
  log_digest_before: string;
  digest_before: string;
  log_digest: string;
  digest: string;
}

/** A segment's record in the folder. Detects any change to the file. */
export interface Segment extends SegmentRange {
  /** Name in the folder's `archive/`. */
  file: string;
  bytes: number;
  /** SHA-256 of the whole file, in hex. */
  sha256: string;
  index_bytes: number;
  /** SHA-256 of the index, which contains each block's digest, in hex. */
  index_sha256: string;
  /** Size of the entries and events before compression. */
  raw_bytes: number;
}
