/**
 * The index from entries to events, whole: as the network has it, and for entries that an older
 * program wrote as one replay makes it, which is kept among the files of the view.
 */
import {
  type DerivedFolder,
  decodeIndexRow,
  type IndexRow,
  type IndexTotals,
  noTotals,
  replayedIndex,
  type ServedNetwork,
  StoreError,
} from '../../../../engine/internal.js';

/** How long work is watched, and ended. */
export interface ViewWork {
  /** Told of entries that are gone through, and where that ends. */
  onProgress?: ((entry: number, to: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

interface Bytes {
  seq: number;
  bytes: Uint8Array;
}

/** Another encoding is another format. */
const INDEX_FORMAT = 'index 2';

const nameOf = (last: number) => `${String(last).padStart(16, '0')}.index`;

export class IndexSource {
  readonly #network: ServedNetwork;
  readonly #folder: DerivedFolder;
  /** Of entries before those that the network has rows of. */
  #old: Bytes[] = [];
  #base: IndexTotals = noTotals();
  /** The first entry of the network's own rows. */
  #from: number | null = null;

  constructor(network: ServedNetwork, folder: DerivedFolder) {
    this.#network = network;
    this.#folder = folder;
  }

  /**
   * Makes what is missing.
   *
   * @throws {StoreError} `CORRUPT` when the log cannot be gone through.
   */
  async prepare(work: ViewWork): Promise<void> {
    const { read, folder } = this.#network;
    if (this.#from === 0) return;
    const from = read.log.indexedFrom();
    const last = from - 1;
    if (last >= 0 && this.#old.at(-1)?.seq !== last) {
      if (folder === null) throw new StoreError('CORRUPT', `entry ${last} has no row of the index`);
      const name = nameOf(last);
      const source = read.log.sourceOf(INDEX_FORMAT, read.position, last);
      if (!source) throw new StoreError('CORRUPT', `the log has no entry ${last}`);
      const file = await this.#folder.read(name, source);
      const known = file && rowsIn(file, last);
      this.#old = known ?? (await replayedIndex(folder, last, work));
      if (!known) await this.#folder.write(name, source, fileOf(this.#old));
      this.#base = decodeIndexRow(last, this.#old.at(-1)!.bytes).totals;
    }
    this.#from = from;
  }

  /** Rows from the one that tells of `from` to the one that tells of `to`. */
  *rows(from: number, to: number): Generator<IndexRow, void> {
    let next = from;
    for (let place = this.#place(from); place < this.#old.length && next <= to; place += 1) {
      const { seq, bytes } = this.#old[place]!;
      yield decodeIndexRow(seq, bytes);
      next = seq + 1;
    }
    if (next > to) return;
    for (const row of this.#network.read.log.rows(next, to)) {
      if (row.first > next) break;
      yield this.#whole(row);
      next = row.last + 1;
    }
    if (next <= to) throw new StoreError('CORRUPT', `entry ${next} has no row of the index`);
  }

  /** The row that tells of an entry. */
  rowOf(seq: number): IndexRow {
    for (const row of this.rows(seq, seq)) return row;
    throw new StoreError('CORRUPT', `entry ${seq} has no row of the index`);
  }

  /** The row that tells of an event's entry, by the number of the event. */
  rowOfEvent(event: number): IndexRow {
    let low = 0;
    let high = this.#network.read.position.seq;
    for (;;) {
      const row = this.rowOf(Math.floor((low + high) / 2));
      const count = row.entries.reduce((sum, { events }) => sum + events, 0);
      if (event > row.event_seq && row.last < high) low = row.last + 1;
      else if (event <= row.event_seq - count && row.first > low) high = row.first - 1;
      else return row;
    }
  }

  /** Totals of the network's own rows begin where these do. */
  #whole(row: IndexRow): IndexRow {
    if (this.#old.length === 0) return row;
    const sum = (a: number[], b: number[]) => a.map((value, index) => value + b[index]!);
    const { totals } = row;
    return {
      ...row,
      totals: {
        events: sum(totals.events, this.#base.events),
        ends: sum(totals.ends, this.#base.ends),
        registered: totals.registered + this.#base.registered,
      },
    };
  }

  /** Which of the older rows tells of an entry, or comes after it. */
  #place(seq: number): number {
    let low = 0;
    let high = this.#old.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#old[middle]!.seq < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A line a row: the last entry, and the bytes in base64. */
function fileOf(rows: readonly Bytes[]): Buffer {
  const lines = rows.map(({ seq, bytes }) => `${seq} ${Buffer.from(bytes).toString('base64')}`);
  return Buffer.from(lines.join('\n'));
}

/** Null where the rows are not those of all entries up to `last`. */
function rowsIn(file: Buffer, last: number): Bytes[] | null {
  const lines = file.toString('latin1').split('\n');
  const rows = lines.map((line): Bytes => {
    const [seq = '', text = ''] = line.split(' ');
    return { seq: Number(seq), bytes: Buffer.from(text, 'base64') };
  });
  try {
    let next = 0;
    for (const { seq, bytes } of rows) {
      if (decodeIndexRow(seq, bytes).first !== next) return null;
      next = seq + 1;
    }
    return next === last + 1 ? rows : null;
  } catch {
    return null;
  }
}
