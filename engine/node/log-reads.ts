import { decodeEntry, splitStored } from '../protocol/log.js';
import type { DerivedFrom } from '../store/derived-folder.js';
import type { Store, StoreMeta } from '../store/store.js';
import { findIndexRow, findIndexStart, type IndexRow, readIndexRows } from './entry-index.js';

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

  /**
   * Returns stored entries, both ends inclusive.
   *
   * @internal
   */
  entries(from: number, to: number): Iterable<{ seq: number; bytes: Uint8Array }> {
    return this.#store.entries(from, Math.min(to, this.#end()));
  }

  /**
   * Returns a file by its hash.
   *
   * @internal
   */
  blob(hash: string): Uint8Array | undefined {
    return this.#store.blob(hash);
  }

  /**
   * Returns the first entry from which the index is complete.
   *
   * @internal
   */
  indexedFrom(): number {
    return findIndexStart(this.#store, { seq: this.#end() });
  }

  /**
   * Returns the index row that contains an entry.
   *
   * @internal
   */
  rowOf(seq: number): IndexRow | undefined {
    return findIndexRow(this.#store, seq);
  }

  /**
   * Returns the index rows from the row that contains `from` to the row that contains `to`.
   *
   * @internal
   */
  rows(from: number, to: number): Iterable<IndexRow> {
    return readIndexRows(this.#store, from, to);
  }
}
