/** Spans that are at hand, by entry: as many as there is room for; those farthest away go first. */
import { type RowBatch, type RowKind, type Rows, rowCode } from '../../api/view/model.js';
import { firstRow, newRows, sliceRowBatch } from '../../api/view/row-batch.js';

/** Room for two million rows where little is said: texts are as long as strangers like. */
export const MAX_CACHE_BYTES = 64 * 1024 * 1024;
const ROW_BYTES = 25;
/** Of what a row may bring beside its columns, and a text that is said, beside its characters. */
const OBJECT_BYTES = 400;
/** Small spans that follow each other become one, up to that. */
const JOINED_BYTES = 256 * 1024;

export class BatchCache {
  /** Ascending, without overlap. */
  readonly #batches: RowBatch[] = [];
  #bytes = 0;

  /** About what it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps what of a span is not here; `near` is the entry around which it is kept. */
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

  /** The last entry up to which all is here from `entry` on; `entry - 1` where nothing is. */
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

  /** Spans that hold entries `from` to `to`. */
  *between(from: number, to: number): Generator<RowBatch> {
    let index = this.#indexAt(from);
    if (index < 0) return;
    for (; index < this.#batches.length && this.#batches[index]!.from <= to; index += 1) {
      yield this.#batches[index]!;
    }
  }

  /** The last entry from `entry` on that is no later than `at`, as far as it is here. */
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
      // Entries of one time stand together: the one of the row that is later is not reached.
      const next = batch.rows.entry[row];
      if (next !== undefined && batch.from + next <= found) found = batch.from + next - 1;
      break;
    }
    return Math.max(found, entry);
  }

  /** The next entry after `entry` in which something happened, of a kind; null if not here. */
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

  /** The one before `entry`. */
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

/** The entry of the first row of a kind, from a row on in one direction. */
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

/** The first of ascending values that is greater. */
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
