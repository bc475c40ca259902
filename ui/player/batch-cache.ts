/**
 * Cache of row batches by entry, with a size limit in bytes. Evicts the batches farthest from the
 * reader.
 */
import { type RowBatch, type RowKind, type Rows, rowCode } from '../../api/view/model.js';
import { firstRow, newRows, sliceRowBatch } from '../../api/view/row-batch.js';

/** Room for about two million rows with few messages. */
export const MAX_CACHE_BYTES = 64 * 1024 * 1024;
const ROW_BYTES = 25;
/** Estimated size of an object's first occurrence, or of a message without its characters. */
const OBJECT_BYTES = 400;
/** Adjacent small batches are joined up to this size. */
const JOINED_BYTES = 256 * 1024;

export class BatchCache {
  /** In ascending order, without overlap. */
  readonly #batches: RowBatch[] = [];
  #bytes = 0;

  /** Estimated size in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the missing parts of a batch. `near` is the reader's entry. */
  add(batch: RowBatch, near: number): void {
    for (let from = batch.from; from <= batch.to; ) {
      const here = this.reach(from);
      if (here < from) {
        const next = this.#batches.find((one) => one.from > from)?.from ?? Number.POSITIVE_INFINITY;
        const to = Math.min(batch.to, next - 1);
        this.#put(sliceRowBatch(batch, from, to));
        from = to + 1;
      } else from = here + 1;
    }
    while (this.#bytes > MAX_CACHE_BYTES && this.#batches.length > 1) this.#dropFarthest(near);
  }

  #put(batch: RowBatch): void {
    const place = this.#batches.findLastIndex(({ to }) => to < batch.from) + 1;
    this.#bytes += bytesOf(batch);
    const before = this.#batches[place - 1];
    if (before && before.to + 1 === batch.from && joinable(before, batch)) {
      this.#batches[place - 1] = joined(before, batch);
    } else {
      this.#batches.splice(place, 0, batch);
    }
  }

  /**
   * Returns the last entry of the contiguous range that starts at `entry`, or `entry - 1` if
   * `entry` is missing.
   */
  reach(entry: number): number {
    let last = entry - 1;
    const first = this.#indexAt(entry);
    for (let index = first; index >= 0 && index < this.#batches.length; index += 1) {
      const { from, to } = this.#batches[index]!;
      if (from > last + 1) break;
      last = to;
    }
    return last;
  }

  /** Yields the batches with entries `from` to `to`. */
  *between(from: number, to: number): Generator<RowBatch> {
    let index = this.#indexAt(from);
    if (index < 0) return;
    for (; index < this.#batches.length && this.#batches[index]!.from <= to; index += 1) {
      yield this.#batches[index]!;
    }
  }

  /** Returns the last cached entry, starting from `entry`, with a time of at most `at`. */
  entryBy(at: number, entry: number): number {
    let found = entry;
    for (const batch of this.between(entry + 1, Number.POSITIVE_INFINITY)) {
      if (batch.from > found + 1) break;
      if (batch.at <= at) {
        found = batch.to;
        continue;
      }
      const row = firstAfter(batch.rows.at, at);
      if (row > 0) found = Math.max(found, batch.from + batch.rows.entry[row - 1]!);
      // Playback has not yet reached the first later row's entry.
      const next = batch.rows.entry[row];
      if (next !== undefined && batch.from + next <= found) found = batch.from + next - 1;
      break;
    }
    return Math.max(found, entry);
  }

  /** Returns the next entry after `entry` with a row of the kind; null if not cached. */
  next(entry: number, kind?: RowKind): number | null {
    let at = entry;
    for (const batch of this.between(entry + 1, Number.POSITIVE_INFINITY)) {
      if (batch.from > at + 1) break;
      const row = rowOf(batch, firstRow(batch, entry + 1), 1, kind);
      if (row !== undefined) return batch.from + row;
      at = batch.to;
    }
    return null;
  }

  /** Returns the previous entry before `entry` with a row of the kind; null if not cached. */
  previous(entry: number, kind?: RowKind): number | null {
    for (let index = this.#indexAt(entry - 1); index >= 0; index -= 1) {
      const batch = this.#batches[index]!;
      const row = rowOf(batch, firstRow(batch, entry) - 1, -1, kind);
      if (row !== undefined) return batch.from + row;
      if (this.#batches[index - 1]?.to !== batch.from - 1) return null;
    }
    return null;
  }

  #indexAt(entry: number): number {
    let low = 0;
    let high = this.#batches.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const batch = this.#batches[middle]!;
      if (entry < batch.from) high = middle - 1;
      else if (entry > batch.to) low = middle + 1;
      else return middle;
    }
    return -1;
  }

  #dropFarthest(near: number): void {
    const [first, last] = [this.#batches[0]!, this.#batches.at(-1)!];
    const dropped =
      near - first.to > last.from - near ? this.#batches.shift()! : this.#batches.pop()!;
    this.#bytes -= bytesOf(dropped);
  }
}

function bytesOf({ rows, introduced, said }: RowBatch): number {
  const { agents, blocks, memes, alliances } = introduced;
  const objects = agents.length + blocks.length + memes.length + alliances.length + said.length;
  const characters = said.reduce((sum, { text }) => sum + text.length, 0);
  return ROW_BYTES * rows.entry.length + OBJECT_BYTES * objects + 2 * characters;
}

/** Searches in one direction from row `from`, and returns the entry of the first row of a kind. */
function rowOf({ rows }: RowBatch, from: number, by: 1 | -1, kind?: RowKind): number | undefined {
  const code = kind === undefined ? null : rowCode[kind];
  let row = from;
  while (code !== null && (rows.kind[row] ?? code) !== code) row += by;
  return rows.entry[row];
}

const joinable = (one: RowBatch, other: RowBatch) => bytesOf(one) + bytesOf(other) <= JOINED_BYTES;

function joined(one: RowBatch, other: RowBatch): RowBatch {
  const shift = other.from - one.from;
  const rows = newRows(one.rows.entry.length + other.rows.entry.length);
  for (const name of Object.keys(rows) as (keyof Rows)[]) {
    rows[name].set(one.rows[name]);
    const later = other.rows[name];
    const shifted = name === 'entry' ? (later as Uint32Array).map((entry) => entry + shift) : later;
    rows[name].set(shifted, one.rows.entry.length);
  }
  const { agents, blocks, memes, alliances } = one.introduced;
  const more = other.introduced;
  return {
    ...other,
    from: one.from,
    rows,
    introduced: {
      agents: [...agents, ...more.agents],
      blocks: [...blocks, ...more.blocks],
      memes: [...memes, ...more.memes],
      alliances: [...alliances, ...more.alliances],
    },
    said: [...one.said, ...other.said],
    omitted: one.omitted + other.omitted,
  };
}

/** Returns the index of the first element greater than `value` in an ascending array. */
function firstAfter(values: Float64Array, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
