/** Reads of the committed log itself, and of the index from its entries to their events. */
import { decodeEntry, splitStored } from '../protocol/log.js';
import type { DerivedFrom } from '../store/derived-folder.js';
import type { Store, StoreMeta } from '../store/store.js';
import { findIndexRow, findIndexStart, type IndexRow, readIndexRows } from './entry-index.js';

/** What stands in the log of an entry beside its request: its time, and both digests after it. */
export interface EntryEnd {
  seq: number;
  /** Milliseconds since 1970. */
  at: number;
  /** Hex. */
  digest: string;
  log_digest: string;
}

/** Reads of the committed log itself. */
export class LogReads {
  readonly #store: Store;
  readonly #end: () => number;

  /** @internal */
  constructor(store: Store, end: () => number) {
    this.#store = store;
    this.#end = end;
  }

  /** An entry's time and digests, or undefined where the log has no such entry. */
  entry(seq: number): EntryEnd | undefined {
    const stored = seq <= this.#end() ? this.#store.entry(seq) : undefined;
    if (!stored) return undefined;
    const { bytes, digest, logDigest: log_digest } = splitStored(stored);
    return { seq, at: decodeEntry(bytes).at, digest, log_digest };
  }

  /**
   * The log up to an entry, as the source of a derived file; null where it has no such entry.
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
   * Entries as they are stored, both ends inclusive.
   *
   * @internal
   */
  entries(from: number, to: number): Iterable<{ seq: number; bytes: Uint8Array }> {
    return this.#store.entries(from, Math.min(to, this.#end()));
  }

  /**
   * A file, by its hash.
   *
   * @internal
   */
  blob(hash: string): Uint8Array | undefined {
    return this.#store.blob(hash);
  }

  /**
   * The first entry of the rows of the index that go on without a gap to the end.
   *
   * @internal
   */
  indexedFrom(): number {
    return findIndexStart(this.#store, { seq: this.#end() });
  }

  /**
   * The row of the index that tells of an entry.
   *
   * @internal
   */
  rowOf(seq: number): IndexRow | undefined {
    return findIndexRow(this.#store, seq);
  }

  /**
   * Rows of the index from the one that tells of `from` to the one that tells of `to`.
   *
   * @internal
   */
  rows(from: number, to: number): Iterable<IndexRow> {
    return readIndexRows(this.#store, from, to);
  }
}
