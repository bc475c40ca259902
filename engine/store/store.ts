/**
 * The one interface behind which a network is kept: LMDB on disk, or memory. A store keeps bytes;
 * what they mean is decided above it. Values of records are canonical JSON text.
 */
import type { RecordKey } from '../protocol/schema/record.js';
import type { Segment } from './segment.js';

export type { RecordKey };

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
  readonly archive?: StoreArchive;
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
