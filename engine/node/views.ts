import type { Change, Reader } from '../core/changes.js';
import { decodeEntry, splitStored } from '../protocol/log.js';
import type { ProposeCommand } from '../protocol/schema/command.js';
import type { Event, EventType } from '../protocol/schema/event.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import type { RecordKey, RecordOf, Table } from '../protocol/schema/record.js';
import type { DerivedFrom } from '../store/derived-folder.js';
import { isPair, type RangeOptions, type Store, type StoreMeta } from '../store/store.js';
import type { Clock } from './clock.js';
import type { EncodedEvent } from './encode.js';
import { firstEventOf, type IndexRow, readIndexRows } from './entry-index.js';
import { type CommittedView, StateViews } from './state-views.js';

/** Reads committed state, never from the engine. Ids and hashes are lower-case hex. */
export class Views extends StateViews {
  readonly #store: Store;
  /** The log and its index. @internal */
  readonly log: LogReads;

  /** @internal */
  constructor(store: Store, genesis: Genesis, clock: Clock, view: CommittedView) {
    super(genesis, clock, view);
    this.#store = store;
    this.log = new LogReads(store, () => this.position.seq);
  }

  /** End of the stored log. On a cluster node, the stored log lags behind `position`. @internal */
  get stored(): StoreMeta {
    return this.#store.stored?.() ?? this.position;
  }

  /**
   * Returns an entry's signed body, the signing key, and the number of bytes read from the body and
   * from unpacked archive blocks.
   * @throws {Error} for an unknown entry.
   */
  signed(entry: number): { public_key: string; body: Record<string, unknown>; bytes: number } {
    const unpackedBefore = this.#store.archive?.unpackedBytes ?? 0;
    const stored = this.#store.entry(entry);
    const unpacked = (this.#store.archive?.unpackedBytes ?? 0) - unpackedBefore;
    if (!stored) throw new Error(`unknown log entry: ${entry}`);
    const { public_key, body } = decodeEntry(splitStored(stored).bytes);
    const text = Buffer.from(body).toString();
    return { public_key, body: JSON.parse(text), bytes: body.length + unpacked };
  }

  /** Returns a meme's file, or undefined. */
  memeContent(memeId: string): { bytes: Uint8Array; mediaType: string } | undefined {
    const meme = this.record('memes', memeId);
    const bytes = meme && this.#store.blob(meme.content_sha256);
    return bytes && { bytes, mediaType: meme.media_type };
  }

  /** Yields committed events, both ends inclusive. */
  *events(from: number, to: number): Iterable<Event> {
    for (const { json } of this.#store.events(from, to)) yield JSON.parse(json) as Event;
  }

  /** Yields committed events as stored JSON, both ends inclusive. */
  *eventTexts(from: number, to: number): Iterable<EncodedEvent> {
    for (const { seq, json } of this.#store.events(from, to)) {
      // An event's canonical JSON ends with the member `type`.
      const type = json.slice(json.lastIndexOf('"type":"') + 8, -2) as EventType;
      yield { seq, type, json };
    }
  }

  /** Returns a committed record. */
  override record<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined {
    const json = this.#store.get(table, key);
    return json === undefined ? undefined : (JSON.parse(json) as RecordOf[T]);
  }

  /** Yields a table's committed records, in key order. */
  override *records<T extends Table>(
    table: T,
    options: RangeOptions = {},
  ): Iterable<{ key: RecordKey; value: RecordOf[T] }> {
    for (const { key, json } of this.#store.range(table, options)) {
      yield { key, value: JSON.parse(json) as RecordOf[T] };
    }
  }
}

/*
 * The engine's reader. Overlays uncommitted records on the store, because LMDB does not show
 * uncommitted writes.
 */

/** Tables that the engine reads by key while it runs. It only writes the remaining tables. */
const readTables: readonly Table[] = [
  'agents',
  'alliances',
  'blocks',
  'electorates',
  'equivocations',
  'memes',
  'requests',
  'transactions',
  'votes',
];

type Records = Pick<Store, 'get' | 'range'>;

const TWO_21 = 2 ** 21;
const TWO_32 = 2 ** 32;

/** Identifies a key. A pair of integers becomes one integer, which is faster to look up. */
function idOf(key: RecordKey): string | number {
  if (typeof key !== 'object') return key;
  const isSmall = isPair(key) && key[0] < TWO_21 && key[1] < TWO_32;
  return isSmall ? key[0] * TWO_32 + key[1] : key.join(' ');
}

/** Last uncommitted change of each record in one table. */
type Laid = Map<string | number, Change>;

export class Overlay implements Reader {
  readonly #store: Records;
  readonly #proposal: (entry: number) => ProposeCommand;
  readonly #laid = new Map<Table, Laid>(readTables.map((table) => [table, new Map()]));
  /** Last entry whose changes were added. */
  #last = -1;

  constructor(store: Records, proposal: (entry: number) => ProposeCommand) {
    this.#store = store;
    this.#proposal = proposal;
  }

  read<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined {
    const laid = this.#laid.get(table);
    // The overlay is mostly empty, and an empty overlay needs no text for a composite key.
    const pending = laid && laid.size > 0 ? laid.get(idOf(key)) : undefined;
    if (pending) return (pending.value ?? undefined) as RecordOf[T] | undefined;
    const json = this.#store.get(table, key);
    return json === undefined ? undefined : (JSON.parse(json) as RecordOf[T]);
  }

  *range<T extends Table>(table: T, options: RangeOptions = {}) {
    for (const { key, json } of this.#store.range(table, options)) {
      yield { key, value: JSON.parse(json) as RecordOf[T] };
    }
  }

  proposal(entry: number): ProposeCommand {
    return this.#proposal(entry);
  }

  /** Adds the changes made by entry `seq`. */
  add(seq: number, changes: readonly Change[]): void {
    this.#last = seq;
    for (const change of changes) this.#laid.get(change.table)?.set(idOf(change.key), change);
  }

  /** Removes changes made by entries up to `seq`, which are now in the store. */
  remove(seq: number, changes: readonly Change[]): void {
    if (seq === this.#last) {
      for (const laid of this.#laid.values()) if (laid.size > 0) laid.clear();
      return;
    }
    for (const change of changes) {
      const laid = this.#laid.get(change.table);
      const id = idOf(change.key);
      if (laid?.get(id) === change) laid.delete(id);
    }
  }
}

/** An entry's time and the digests after it. */
export interface EntryEnd {
  seq: number;
  /** Milliseconds since 1970. */
  at: number;
  /** Hex. */
  digest: string;
  log_digest: string;
}

/** Reads the committed log and its index. */
export class LogReads {
  readonly #store: Store;
  readonly #end: () => number;

  /** @internal */
  constructor(store: Store, end: () => number) {
    this.#store = store;
    this.#end = end;
  }

  /** Returns an entry's time and digests, or undefined for an unknown entry. */
  entry(seq: number): EntryEnd | undefined {
    const stored = seq <= this.#end() ? this.#store.entry(seq) : undefined;
    if (!stored) return undefined;
    const { bytes, digest, logDigest: log_digest } = splitStored(stored);
    return { seq, at: decodeEntry(bytes).at, digest, log_digest };
  }

  /**
   * Describes the log up to an entry as the source of a derived file. Returns null for an unknown
   * entry.
   *
   * @internal
   */
  sourceOf(
    format: string,
    { schema_version, network_id, epoch }: StoreMeta,
    seq: number,
  ): DerivedFrom | null {
    const [first, last] = [this.entry(0), this.entry(seq)];
    if (!first || !last) return null;
    const { log_digest, digest } = last;
    const genesis = first.log_digest;
    return { format, schema_version, network_id, epoch, genesis, seq, log_digest, digest };
  }

  /** Returns stored entries, both ends inclusive. @internal */
  entries(from: number, to: number): Iterable<{ seq: number; bytes: Uint8Array }> {
    return this.#store.entries(from, Math.min(to, this.#end()));
  }

  /** Returns a file by its hash. @internal */
  blob(hash: string): Uint8Array | undefined {
    return this.#store.blob(hash);
  }

  /**
   * Yields the index rows from the row that contains `from` to the row that contains `to`.
   *
   * @internal
   * @throws {StoreError} `CORRUPT` if a row is missing or damaged.
   */
  rows(from: number, to: number): Iterable<IndexRow> {
    return readIndexRows(this.#store, from, to);
  }

  /** Returns the index row that contains an entry. @internal */
  rowOf(seq: number): IndexRow {
    const [row] = this.rows(seq, seq);
    return row!;
  }

  /** Returns the index row that contains an event, by binary search. @internal */
  rowOfEvent(event: number): IndexRow {
    let low = 0;
    let high = this.#end();
    for (;;) {
      const row = this.rowOf(Math.floor((low + high) / 2));
      if (event > row.event_seq && row.last < high) low = row.last + 1;
      else if (event < firstEventOf(row) && row.first > low) high = row.first - 1;
      else return row;
    }
  }
}
