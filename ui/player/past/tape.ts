/** Spans that are at hand, by entry: as many as there is room for; those farthest away go first. */
import { cutSpan, firstRow } from '../../../api/view/cut.js';
import { type RowKind, type Rows, rowKinds, type Span } from '../../../api/view/model.js';
import { newRows } from '../../../api/view/span.js';

/** Room for two million rows where little is said: texts are as long as strangers like. */
export const TAPE_BYTES = 64 * 1024 * 1024;
const ROW_BYTES = 25;
/** Of what a row may bring beside its columns, and a text that is said, beside its characters. */
const OBJECT_BYTES = 400;
/** Small spans that follow each other become one, up to that. */
const JOINED_BYTES = 256 * 1024;

export class Tape {
  /** Ascending, without overlap. */
  readonly #spans: Span[] = [];
  #bytes = 0;

  /** About what it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps what of a span is not here; `near` is the entry around which it is kept. */
  add(span: Span, near: number): void {
    for (let from = span.from; from <= span.to; ) {
      const here = this.reach(from);
      if (here < from) {
        const next = this.#spans.find((one) => one.from > from)?.from ?? Number.POSITIVE_INFINITY;
        const to = Math.min(span.to, next - 1);
        this.#put(cutSpan(span, from, to));
        from = to + 1;
      } else from = here + 1;
    }
    while (this.#bytes > TAPE_BYTES && this.#spans.length > 1) this.#dropFarthest(near);
  }

  #put(span: Span): void {
    const place = this.#spans.findLastIndex(({ to }) => to < span.from) + 1;
    this.#bytes += bytesOf(span);
    const before = this.#spans[place - 1];
    if (before && before.to + 1 === span.from && joinable(before, span)) {
      this.#spans[place - 1] = joined(before, span);
    } else {
      this.#spans.splice(place, 0, span);
    }
  }

  /** The last entry up to which all is here from `entry` on; `entry - 1` where nothing is. */
  reach(entry: number): number {
    let last = entry - 1;
    const first = this.#indexAt(entry);
    for (let index = first; index >= 0 && index < this.#spans.length; index += 1) {
      const { from, to } = this.#spans[index]!;
      if (from > last + 1) break;
      last = to;
    }
    return last;
  }

  /** Spans that hold entries `from` to `to`. */
  *between(from: number, to: number): Generator<Span> {
    let index = this.#indexAt(from);
    if (index < 0) return;
    for (; index < this.#spans.length && this.#spans[index]!.from <= to; index += 1) {
      yield this.#spans[index]!;
    }
  }

  /** The last entry from `entry` on that is no later than `at`, as far as it is here. */
  entryBy(at: number, entry: number): number {
    let found = entry;
    for (const span of this.between(entry + 1, Number.POSITIVE_INFINITY)) {
      if (span.from > found + 1) break;
      if (span.at <= at) {
        found = span.to;
        continue;
      }
      const row = firstAfter(span.rows.at, at);
      if (row > 0) found = Math.max(found, span.from + span.rows.entry[row - 1]!);
      // Entries of one time stand together: the one of the row that is later is not reached.
      const next = span.rows.entry[row];
      if (next !== undefined && span.from + next <= found) found = span.from + next - 1;
      break;
    }
    return Math.max(found, entry);
  }

  /** The next entry after `entry` in which something happened, of a kind; null if not here. */
  next(entry: number, kind?: RowKind): number | null {
    let at = entry;
    for (const span of this.between(entry + 1, Number.POSITIVE_INFINITY)) {
      if (span.from > at + 1) break;
      const row = rowOf(span, firstRow(span, entry + 1), 1, kind);
      if (row !== undefined) return span.from + row;
      at = span.to;
    }
    return null;
  }

  /** The one before `entry`. */
  previous(entry: number, kind?: RowKind): number | null {
    for (let index = this.#indexAt(entry - 1); index >= 0; index -= 1) {
      const span = this.#spans[index]!;
      const row = rowOf(span, firstRow(span, entry) - 1, -1, kind);
      if (row !== undefined) return span.from + row;
      if (this.#spans[index - 1]?.to !== span.from - 1) return null;
    }
    return null;
  }

  #indexAt(entry: number): number {
    let low = 0;
    let high = this.#spans.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const span = this.#spans[middle]!;
      if (entry < span.from) high = middle - 1;
      else if (entry > span.to) low = middle + 1;
      else return middle;
    }
    return -1;
  }

  #dropFarthest(near: number): void {
    const [first, last] = [this.#spans[0]!, this.#spans.at(-1)!];
    const dropped = near - first.to > last.from - near ? this.#spans.shift()! : this.#spans.pop()!;
    this.#bytes -= bytesOf(dropped);
  }
}

function bytesOf({ rows, introduced, said }: Span): number {
  const { agents, blocks, memes, alliances } = introduced;
  const objects = agents.length + blocks.length + memes.length + alliances.length + said.length;
  const characters = said.reduce((sum, { text }) => sum + text.length, 0);
  return ROW_BYTES * rows.entry.length + OBJECT_BYTES * objects + 2 * characters;
}

/** The entry of the first row of a kind, from a row on in one direction. */
function rowOf({ rows }: Span, from: number, by: 1 | -1, kind?: RowKind): number | undefined {
  const code = kind === undefined ? null : rowKinds.indexOf(kind);
  let row = from;
  while (code !== null && (rows.kind[row] ?? code) !== code) row += by;
  return rows.entry[row];
}

const joinable = (one: Span, other: Span) => bytesOf(one) + bytesOf(other) <= JOINED_BYTES;

function joined(one: Span, other: Span): Span {
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
