/**
 * Compares the stored index from entries to events with what follows from the log. The index is
 * outside of every digest, so nothing else finds a changed byte in it. An older program wrote none:
 * entries without a row are no difference, and rows after such a gap begin their totals anew.
 */
import { decodeIndexRow } from '../node/entry-index/row.js';
import { type Indexed, IndexWriter } from '../node/entry-index/writer.js';
import { type Store, StoreError } from '../store/index.js';
import type { Divergence } from './divergence.js';

type Row = { seq: number; bytes: Uint8Array };

/** Where rows begin whose totals count from there. */
const anew = (end: { seq: number; event_seq: number }) => new IndexWriter({ index: () => [] }, end);

export class IndexComparison {
  readonly #store: Pick<Store, 'index'>;
  /** The row that tells of the next entry, with its first entry; null where there is none. */
  #row: (Row & { first: number }) | null = null;
  /** Entries of that row so far. */
  #taken: Indexed[] = [];
  /** Makes what the next row must be; null at the beginning and after a gap. */
  #writer: IndexWriter | null = null;
  /** Of the entries before the row. */
  #eventSeq = 0;

  constructor(store: Pick<Store, 'index'>) {
    this.#store = store;
  }

  /** Takes what came of each entry, in order. */
  take(kind: string, one: Indexed): Divergence | null {
    this.#row ??= this.#rowFrom(one.seq);
    const { seq } = one;
    if (this.#row && this.#row.first < seq - this.#taken.length) {
      const expected = `a row that begins after entry ${seq - this.#taken.length - 1}`;
      return this.#different(kind, expected, textOf(this.#row));
    }
    if (!this.#row || this.#row.first > seq) {
      this.#writer = null;
      this.#row = null;
      this.#eventSeq += one.entry.events;
      return null;
    }
    this.#taken.push(one);
    return seq === this.#row.seq ? this.#compare(kind) : null;
  }

  #rowFrom(seq: number): (Row & { first: number }) | null {
    for (const row of this.#store.index({ from: seq, limit: 1 })) {
      return { ...row, first: firstOf(row) };
    }
    return null;
  }

  #compare(kind: string): Divergence | null {
    const row = this.#row!;
    const found = Buffer.from(row.bytes);
    const start = { seq: row.first - 1, event_seq: this.#eventSeq };
    const wanted = [this.#writer, anew(start)].flatMap((writer) =>
      writer ? { writer, bytes: writer.row(this.#taken) } : [],
    );
    const same = wanted.find(({ bytes }) => found.equals(bytes));
    if (!same) {
      const expected = textOf({ seq: row.seq, bytes: wanted[0]!.bytes });
      return this.#different(kind, expected, textOf(row));
    }
    this.#writer = same.writer;
    for (const { entry } of this.#taken) this.#eventSeq += entry.events;
    this.#row = null;
    this.#taken = [];
    return null;
  }

  #different(kind: string, expected: string, found: string): Divergence {
    const { seq } = this.#row!;
    return { seq, kind, what: 'record', which: `index ${seq}`, expected, found };
  }
}

/** The first entry of a row; its last one where it cannot be decoded. */
function firstOf({ seq, bytes }: Row): number {
  try {
    return decodeIndexRow(seq, bytes).first;
  } catch (error) {
    if (error instanceof StoreError) return seq;
    throw error;
  }
}

function textOf({ seq, bytes }: Row): string {
  try {
    return JSON.stringify(decodeIndexRow(seq, bytes));
  } catch (error) {
    if (error instanceof StoreError) return JSON.stringify({ damaged: error.message });
    throw error;
  }
}
