/**
 * The one interface behind which a network is kept: LMDB on disk, or memory. A store keeps bytes;
 * what they mean is decided above it. Values of records are canonical JSON text.
 */
import type { RecordKey } from '../protocol/schema/record.js';

/** A record that one batch changed; `null` deletes. */
export interface RecordChange {
  table: string;
  key: RecordKey;
  /** Canonical JSON, or null to delete. */
  json: string | null;
}

/** Everything that one commit makes durable, together or not at all. */
export interface Batch {
  /** Encoded log entries, ascending from the end of the log. */
  entries: { seq: number; bytes: Uint8Array }[];
  /** Events as canonical JSON, ascending from the end of the history. */
  events: { seq: number; json: string }[];
  changes: RecordChange[];
  /** Files by the hex sha256 of their content. */
  blobs: { hash: string; bytes: Uint8Array }[];
  /** Rows of the index from entries to events, each by the last entry that it tells of. */
  index?: readonly { seq: number; bytes: Uint8Array }[];
  /** Replaces the stored meta. */
  meta: StoreMeta;
}

/** Where the log ends, and what folder this is. */
export interface StoreMeta {
  schema_version: number;
  network_id: string;
  /** Drawn once per folder by the host; outside every digest. */
  epoch: string;
  /** Sequence and time of the last entry. */
  seq: number;
  at: number;
  /** Sequence of the last event. */
  event_seq: number;
  /** Hex; of the last entry. */
  log_digest: string;
  digest: string;
  /** Where it stands in the order that its requests come by, where others fix that. */
  order?: OrderMark;
}

/** A place in an order that others fix, and the time that has come there. Outside every digest. */
export interface OrderMark {
  /** Drawn once per order. */
  log: string;
  /** How many batches came so far. */
  version: number;
  /** Where whoever keeps the order finds the last of them. */
  revision: number;
  /** Milliseconds since 1970: also batches that leave no entry move it. */
  time: number;
}

/** Which records of a table, in which order. */
export interface RangeOptions {
  /** First key, inclusive. */
  from?: RecordKey;
  /** Last key, exclusive. */
  to?: RecordKey;
  /** Descending from `to` instead of ascending from `from`. */
  reverse?: boolean;
  limit?: number;
}

/** Where a network is kept: bytes by table and key, one batch at a time. */
export interface Store {
  readonly kind: 'lmdb' | 'memory';
  /** Commits that became durable since the store was opened. */
  readonly commits: number;
  /** The stored meta, or null in a new store. */
  meta(): StoreMeta | null;
  /** What of that outlives the process by now, where that is not all. */
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
  /** Rows of the index from entries to events, by the last entry that each tells of. */
  index(options?: RangeOptions): Iterable<{ seq: number; bytes: Uint8Array }>;
  /**
   * Resolves when the batch is durable. One at a time.
   * @throws {StoreError} `FULL` before anything was written; `FAILED` when the outcome is unknown,
   * after which the process must end.
   */
  commit(batch: Batch): Promise<void>;
  /**
   * Whether there is room for another batch beside `waiting` bytes of entries and files that are
   * not written yet; false below the free-space mark. While a commit runs it goes by what was free
   * when that began.
   * @throws {StoreError} `UNREADABLE` when the disk does not say.
   */
  hasRoom(waiting?: number): boolean;
  close(): Promise<void>;
  /** What was moved out of the store; none in memory. Reads go over both. */
  readonly archive?: StoreArchive | undefined;
}

/** The past of a store in segments: compressed files that stand beside it. */
export interface StoreArchive {
  /** Ascending, from entry 1, without gaps. */
  readonly segments: readonly Segment[];
  /** The last entry and event that are in segments; 0 before the first. */
  readonly end: { entry: number; event: number };
  /** What blocks held that were unpacked for reads since the store was opened. */
  readonly unpackedBytes: number;
  /** What a look at the files' names and lengths finds, a line each. */
  problems(): string[];
  /** Reads all segments whole and tells what is damaged, a line each. */
  damage(): AsyncIterable<string>;
  /**
   * Makes one segment of entries below `before` and of the events older than what stays; null when
   * there is nothing to move. Reads go on meanwhile, and commits. Never twice at a time.
   * @throws {StoreError} `CORRUPT` naming an entry that does not continue the log's chain.
   */
  move(before: number): Promise<Segment | null>;
  /** Deletes some rows that segments hold; false when there are none. Never beside a `move`. */
  trim(): Promise<boolean>;
  /** Rewrites the data without free pages and closes the store; nothing may be under way. */
  compactAndClose(): Promise<void>;
  /** Room on the disk. */
  freeBytes(): number;
}

/** What is wrong with a store; see docs/operating.md. */
export type StoreErrorCode =
  | 'LOCKED'
  | 'OTHER_NETWORK'
  | 'NEWER_SCHEMA'
  | 'OLDER_SCHEMA'
  | 'MISSING'
  | 'UNREADABLE'
  | 'CORRUPT'
  | 'ARCHIVE'
  | 'FULL'
  | 'FAILED';

/**
 * A store that cannot be opened, read or written: `code` says which, the message what happened and
 * what was expected.
 */
export class StoreError extends Error {
  override name = 'StoreError';
  /**
   * With what happened, and what was expected.
   *
   * @param code which mistake or damage.
   */
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/*
 * What every store relies on in a batch, checked before anything of it is written. A batch that
 * fails here is a bug of the caller: it throws, and the store is unchanged.
 */

/** @throws {Error} when the batch does not continue the log and the history that `stored` ends. */
export function assertBatch(batch: Batch, stored: StoreMeta | null): void {
  assertSequence('entry', batch.entries, stored?.seq, batch.meta.seq);
  assertSequence('event', batch.events, stored?.event_seq, batch.meta.event_seq);
  assertIndex(batch);
  for (const { table, key } of batch.changes) assertRecordKey(table, key);
  for (const { hash } of batch.blobs) assertRecordKey('blobs', hash);
}

/** Rows are of entries of the batch, so they are appended, too. */
function assertIndex({ index = [], entries }: Batch): void {
  let previous = (entries[0]?.seq ?? 0) - 1;
  const last = entries.at(-1)?.seq ?? previous;
  for (const { seq } of index) {
    if (!(seq > previous && seq <= last)) throw new Error(`no row of the index can be of ${seq}`);
    previous = seq;
  }
}

/** Appends are written without looking for their place, so they must be at the end. */
function assertSequence(
  what: string,
  items: readonly { seq: number }[],
  last: number | undefined,
  metaLast: number,
): void {
  let previous = last;
  for (const { seq } of items) {
    const follows = previous === undefined ? seq >= 0 : seq === previous + 1;
    if (!Number.isSafeInteger(seq) || !follows) {
      throw new Error(`${what} ${seq} does not follow ${previous ?? 'an empty store'}`);
    }
    previous = seq;
  }
  if (previous !== undefined && previous !== metaLast) {
    throw new Error(`meta says the last ${what} is ${metaLast}, the batch ends at ${previous}`);
  }
}

/*
 * Which record keys exist and how they are ordered, the same for every store. The order is that of
 * lmdb's ordered-binary encoding, so that memory and disk never disagree about a range.
 */

/**
 * Characters (UTF-16 units) in all strings of a key. LMDB takes 1,978 bytes with lmdb's defaults;
 * 512 units are at most 1,536 bytes of UTF-8, which leaves room for numbers and separators.
 */
const maxKeyUnits = 512;
const maxKeyParts = 8;

/** Control characters separate the parts of a tuple; a lone surrogate has no UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const unstorable = /[\u0000-\u001f\u007f-\u009f\ud800-\udfff]/u;

/** Sorts after every string that names something: a noncharacter, the last code point. */
const lastText = '\u{10ffff}';

/**
 * Whether a record can have this key: a safe integer (not -0), a string of at most 512 characters
 * without control characters, or a tuple of 2 to 8 of these.
 */
export function isRecordKey(key: RecordKey): boolean {
  if (typeof key !== 'object') return isPart(key) && units(key) <= maxKeyUnits;
  return key.length >= 2 && isBound(key);
}

/** Throws for what cannot be a key: the caller's mistake, never an expected outcome. */
function assertRecordKey(table: string, key: RecordKey): void {
  if (!isRecordKey(key)) throw new TypeError(`${table}: not a record key: ${JSON.stringify(key)}`);
}

/** A bound may also be a tuple of one: the place just before everything that starts with it. */
export function assertRange(table: string, options: RangeOptions): void {
  for (const key of [options.from, options.to]) {
    if (key === undefined || isRecordKey(key) || (typeof key === 'object' && isBound(key)))
      continue;
    throw new TypeError(`${table}: not a bound of a range: ${JSON.stringify(key)}`);
  }
}

/** The range of every tuple that starts with these parts. */
export function keysUnder(...parts: readonly (string | number)[]): {
  from: RecordKey;
  to: RecordKey;
} {
  return { from: parts, to: [...parts, lastText] };
}

/** A text that is the same for equal keys only: `1` and `'1'` differ. */
export function keyId(key: RecordKey): string {
  if (typeof key === 'string') return `s${key}`;
  return typeof key === 'number' ? `n${key}` : JSON.stringify(key);
}

/**
 * Numbers before strings, numbers by value, strings by code point, tuples part by part, and a key
 * before every tuple that continues it.
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

/** Surrogates stand for code points above U+FFFF, so they rank after U+E000..U+FFFF as in UTF-8. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** What the opener expects of a folder. */
interface Expected {
  folder: string;
  /** The layout and rules of this program. */
  schemaVersion: number;
  /** Any network when left out. */
  networkId?: string | undefined;
}

const numbers = ['schema_version', 'seq', 'at', 'event_seq'] as const;
const strings = ['network_id', 'epoch', 'log_digest', 'digest'] as const;
const marks = ['version', 'revision', 'time'] as const;

/** @throws {StoreError} `CORRUPT` when the text is not a meta. */
export function parseMeta(folder: string, text: string): StoreMeta {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new StoreError('CORRUPT', `${folder}: the stored meta is not JSON`, { cause });
  }
  const fields = new Map<string, unknown>(
    typeof value === 'object' && value !== null ? Object.entries(value) : [],
  );
  const wrong =
    numbers.find((name) => !Number.isSafeInteger(fields.get(name))) ??
    strings.find((name) => typeof fields.get(name) !== 'string') ??
    (isMark(fields.get('order')) ? undefined : 'order');
  if (wrong !== undefined) {
    throw new StoreError('CORRUPT', `${folder}: the stored meta has no usable ${wrong}`);
  }
  return value as StoreMeta;
}

/** Only a network whose requests come by an order has one. */
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
  if (meta.schema_version > schemaVersion) {
    throw new StoreError(
      'NEWER_SCHEMA',
      `${folder}: written with schema version ${meta.schema_version}; ` +
        `this program reads up to ${schemaVersion}: use a newer one`,
    );
  }
  if (meta.schema_version < schemaVersion) {
    throw new StoreError(
      'OLDER_SCHEMA',
      `${folder}: written with schema version ${meta.schema_version}, whose rules are not those ` +
        `of this program (${schemaVersion}): read it with the version of folkmoot that wrote it, ` +
        'or begin a new network in another folder',
    );
  }
  if (networkId !== undefined && meta.network_id !== networkId) {
    throw new StoreError(
      'OTHER_NETWORK',
      `${folder}: holds the network '${meta.network_id}', expected '${networkId}'`,
    );
  }
}

/** lmdb's ranges start inclusive and end exclusive in both directions; ours are from, below to. */
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

/** Which part of the past a segment holds, both ends inclusive, and both ends of its chains. */
export interface SegmentRange {
  first: number;
  last: number;
  /** `last_event` is `first_event - 1` where there are none. */
  first_event: number;
  last_event: number;
  /** Hex; both digests before the first entry, and after the last. */
  log_digest_before: string;
  digest_before: string;
  log_digest: string;
  digest: string;
}

/** What the folder records of a segment: any change of the file contradicts it. */
export interface Segment extends SegmentRange {
  /** Name in the folder's `archive/`. */
  file: string;
  bytes: number;
  /** Hex, of the whole file. */
  sha256: string;
  index_bytes: number;
  /** Hex, of the index, which holds the digest of each block. */
  index_sha256: string;
  /** Entries and events as they were stored, before compression. */
  raw_bytes: number;
}
