/**
 * All spans of a run, and what is kept beside them, in few bytes: 'FMR1', the length of the head,
 * the head (JSON), the columns, and a CRC-32 of all that. A column is of one kind of row; a filter
 * takes off what is foreseen, and its bytes stand plane by plane, the lowest of all values first:
 * so whatever packs the whole finds what is alike. A text that is said again is there once. Safe in
 * a browser.
 */
import { crc32 } from './crc.js';
import { type Beside, filters } from './filters.js';
import type { Kept } from './kept.js';
import { rowKinds, type Span } from './model.js';
import { SpanDamaged } from './span.js';
import { emptyTable, spansOf, type Table, type TableHead, tableOf } from './table.js';

const MAGIC = [0x46, 0x4d, 0x52, 0x31];
const FIXED = 8;
const CRC_BYTES = 4;

/** Place in `filters`, bytes a value, and what all values are multiples of. */
type Coding = [filter: number, width: number, unit: number];

interface ReelHead extends TableHead {
  kept: Kept;
  columns: Coding[];
}

/** How small some bytes get when they are packed: filters are chosen by it. */
export type PackedSize = (bytes: Uint8Array) => number;

export interface Reel {
  spans: readonly Span[];
  kept: Kept;
}

/** @throws {RangeError} for spans that lack texts: a mistake of the caller. */
export function encodeReel({ spans, kept }: Reel, packedSize: PackedSize): Uint8Array {
  const { table, ...head } = tableOf(spans);
  const { order, rank } = ordered(head);
  const codings: Coding[] = [];
  const columns = [...columnsOf(table.kind)].map(({ name, rows }) => {
    const beside = { who: isAbout(name) ? at(table.who, rows) : null, order, rank };
    const { coding, bytes } = smallest(at(table[name], rows), beside, packedSize);
    codings.push(coding);
    return bytes;
  });
  const text = new TextEncoder().encode(JSON.stringify({ ...head, kept, columns: codings }));
  const length = columns.reduce((sum, column) => sum + column.length, 0);
  const bytes = new Uint8Array(FIXED + text.length + length + CRC_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  view.setUint32(4, text.length, true);
  bytes.set(text, FIXED);
  let end = FIXED + text.length;
  for (const column of columns) {
    bytes.set(column, end);
    end += column.length;
  }
  view.setUint32(end, crc32(bytes.subarray(0, end)), true);
  return bytes;
}

/** @throws {SpanDamaged} when the bytes are not those that were written. */
export function decodeReel(bytes: Uint8Array): Reel {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length - CRC_BYTES;
  if (end < FIXED || MAGIC.some((byte, index) => bytes[index] !== byte)) {
    throw new SpanDamaged('these bytes are not a run: they do not begin with FMR1');
  }
  if (view.getUint32(end, true) !== crc32(bytes.subarray(0, end))) {
    throw new SpanDamaged(`a run of ${bytes.length} bytes is damaged: its checksum is another`);
  }
  const start = FIXED + view.getUint32(4, true);
  const text = new TextDecoder().decode(bytes.subarray(FIXED, start));
  const { columns, kept, ...head } = JSON.parse(text) as ReelHead;
  const { order, rank } = ordered(head);
  const count = head.spans.reduce((sum, { rows }) => sum + rows, 0);
  const table = emptyTable(count);
  let place = start;
  const read = (name: keyof Table, rows: Uint32Array, [filter, width, unit]: Coding) => {
    const left = fromPlanes(bytes.subarray(place, place + width * rows.length), rows.length);
    place += width * rows.length;
    filters[filter]!.on(left, { who: isAbout(name) ? at(table.who, rows) : null, order, rank });
    for (let index = 0; index < rows.length; index += 1) {
      table[name][rows[index]!] = left[index]! * unit;
    }
  };
  // What kinds there are says which columns follow.
  read('kind', all(count), columns[0]!);
  for (const [index, { name, rows }] of [...columnsOf(table.kind)].entries()) {
    if (name !== 'kind') read(name, rows, columns[index]!);
  }
  return { spans: spansOf(head, table), kept };
}

/** Which columns there are, in their order, and of which rows each is. */
function* columnsOf(kinds: Float64Array): Generator<{ name: keyof Table; rows: Uint32Array }> {
  const every = all(kinds.length);
  yield* (['kind', 'entry', 'at'] as const).map((name) => ({ name, rows: every }));
  for (const kind of rowKinds.keys()) {
    const rows = every.filter((row) => kinds[row] === kind);
    if (rows.length === 0) continue;
    yield* (['who', 'what', 'value', 'said'] as const).map((name) => ({ name, rows }));
  }
}

const all = (length: number) => new Uint32Array(length).map((_, index) => index);
function at(values: Float64Array, rows: Uint32Array): Float64Array {
  const found = new Float64Array(rows.length);
  for (let index = 0; index < rows.length; index += 1) found[index] = values[rows[index]!]!;
  return found;
}

/** Whether a column says something of an agent that another names. */
const isAbout = (name: keyof Table) => name === 'what' || name === 'value' || name === 'said';

function ordered({ introduced }: TableHead): Pick<Beside, 'order' | 'rank'> {
  const ids = (introduced.agents.id ?? []) as string[];
  const order = all(ids.length).sort((one, other) => (ids[one]! < ids[other]! ? -1 : 1));
  const rank = new Uint32Array(ids.length);
  for (const [place, number] of order.entries()) rank[number] = place;
  return { order, rank };
}

function smallest(values: Float64Array, beside: Beside, packedSize: PackedSize) {
  const unit = values.reduce(commonDivisor, 0) || 1;
  const found = filters.flatMap(({ off }, filter) => {
    const left = off(
      values.map((value) => value / unit),
      beside,
    );
    if (!left) return [];
    const { bytes, width } = planes(left);
    return [{ coding: [filter, width, unit] as Coding, bytes, size: packedSize(bytes) }];
  });
  return found.reduce((best, one) => (one.size < best.size ? one : best));
}

const commonDivisor = (one: number, other: number): number =>
  other === 0 ? one : commonDivisor(other, one % other);

function planes(values: Float64Array): { bytes: Uint8Array; width: number } {
  const most = values.reduce((largest, value) => Math.max(largest, value), 0);
  let width = 0;
  while (most >= 256 ** width) width += 1;
  const bytes = new Uint8Array(width * values.length);
  for (let index = 0; index < values.length; index += 1) {
    let rest = values[index]!;
    for (let plane = 0; plane < width; plane += 1) {
      bytes[plane * values.length + index] = rest % 256;
      rest = Math.floor(rest / 256);
    }
  }
  return { bytes, width };
}

function fromPlanes(bytes: Uint8Array, length: number): Float64Array {
  const values = new Float64Array(length);
  for (let start = 0, weight = 1; start < bytes.length; start += length, weight *= 256) {
    for (let index = 0; index < length; index += 1)
      values[index]! += bytes[start + index]! * weight;
  }
  return values;
}
