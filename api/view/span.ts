/**
 * A span as bytes, the same for a socket, an answer and a file: 'FMS1', the length of the head, the
 * head (JSON), the columns, and a CRC-32 of all that. Numbers are little-endian. A column is what
 * its values are above its least one, or what each adds to the one before, in as few bytes as fit.
 * Safe in a browser.
 */
import { crc32 } from './crc.js';
import { headProblem } from './head.js';
import { type Rows, rowKinds, type Span, viewLimits } from './model.js';

const MAGIC = [0x46, 0x4d, 0x53, 0x31];
const FIXED = 8;
const CRC_BYTES = 4;

/** Columns in the order of their bytes; those that ascend are coded by differences. */
const columns = [
  { name: 'entry', ascends: true },
  { name: 'at', ascends: true },
  { name: 'kind', ascends: false },
  { name: 'who', ascends: false },
  { name: 'what', ascends: false },
  { name: 'value', ascends: false },
] as const;

/** How a column is coded: bytes a value, and what is taken off the first or each value. */
type Coding = [width: number, base: number];

/** What stands in the head beside the span's own members. */
export interface SpanHead extends Omit<Span, 'rows'> {
  rows: number;
  columns: Coding[];
}

/** No span, or not a whole one: what is wrong with the bytes. */
export class SpanDamaged extends Error {
  override name = 'SpanDamaged';
}

/** An empty set of columns of so many rows. */
export function newRows(length: number): Rows {
  return {
    entry: new Uint32Array(length),
    at: new Float64Array(length),
    kind: new Uint8Array(length),
    who: new Uint32Array(length),
    what: new Uint32Array(length),
    value: new Uint32Array(length),
  };
}

/** @throws {RangeError} for a column that ought to ascend and does not: a mistake of the caller. */
export function encodeSpan(span: Span): Uint8Array {
  const { rows, ...rest } = span;
  const length = rows.entry.length;
  const codings = columns.map(({ name, ascends }): Coding => coding(rows[name], ascends, name));
  const head: SpanHead = { ...rest, rows: length, columns: codings };
  const text = new TextEncoder().encode(JSON.stringify(head));
  const columnBytes = codings.reduce((sum, [width]) => sum + width * length, 0);
  const bytes = new Uint8Array(FIXED + text.length + columnBytes + CRC_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  view.setUint32(4, text.length, true);
  bytes.set(text, FIXED);
  let at = FIXED + text.length;
  for (const [index, { name, ascends }] of columns.entries()) {
    const [width, base] = codings[index]!;
    writeColumn(bytes, at, rows[name], { width, base, ascends });
    at += width * length;
  }
  view.setUint32(at, crc32(bytes.subarray(0, at)), true);
  return bytes;
}

/** @throws {SpanDamaged} saying what is wrong with the bytes. */
export function decodeSpan(bytes: Uint8Array): Span {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length - CRC_BYTES;
  if (end < FIXED || MAGIC.some((byte, index) => bytes[index] !== byte)) {
    throw new SpanDamaged('these bytes are not a span: they do not begin with FMS1');
  }
  if (view.getUint32(end, true) !== crc32(bytes.subarray(0, end))) {
    throw new SpanDamaged(`a span of ${bytes.length} bytes is damaged: its checksum is another`);
  }
  const from = FIXED + view.getUint32(4, true);
  if (from > end) throw new SpanDamaged('the head of a span is longer than the span');
  const { rows: length, columns: codings, ...rest } = headIn(bytes.subarray(FIXED, from));
  const rows = newRows(length);
  let at = from;
  for (const [index, { name, ascends }] of columns.entries()) {
    const [width, base] = codings[index]!;
    if (at + width * length > end) throw new SpanDamaged(`the column ${name} of a span is cut off`);
    readColumn(bytes, at, rows[name], { width, base, ascends });
    at += width * length;
  }
  if (at !== end) throw new SpanDamaged(`a span has ${end - at} bytes after its columns`);
  const span = { ...rest, rows };
  const problem = rowsProblem(span);
  if (problem) throw new SpanDamaged(`a span of entries ${span.from} to ${span.to}: ${problem}`);
  return span;
}

function headIn(bytes: Uint8Array): SpanHead {
  let head: unknown;
  try {
    head = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new SpanDamaged('the head of a span is not JSON');
  }
  const problem = headProblem(head);
  if (problem) throw new SpanDamaged(`the head of a span: ${problem}`);
  return head as SpanHead;
}

/** What each kind of row brings, one for one. */
const brought = {
  agents: rowKinds.indexOf('registered'),
  blocks: rowKinds.indexOf('block_proposal'),
  memes: rowKinds.indexOf('meme_posted'),
  alliances: rowKinds.indexOf('alliance_update'),
} as const;

function rowsProblem({ from, to, rows, introduced }: Span): string | null {
  const counts = new Uint32Array(rowKinds.length);
  for (const kind of rows.kind) {
    if (kind >= rowKinds.length) return `there is no kind of row ${kind}`;
    counts[kind]! += 1;
  }
  const last = rows.entry.at(-1);
  if (last !== undefined && from + last > to) return `a row is of entry ${from + last}`;
  for (const name of ['agents', 'blocks', 'memes', 'alliances'] as const) {
    const rowCount = counts[brought[name]];
    if (introduced[name].length === rowCount) continue;
    return `it introduces ${introduced[name].length} ${name} in ${rowCount} rows`;
  }
  return null;
}

type Column = Rows[keyof Rows];

function coding(values: Column, ascends: boolean, name: string): Coding {
  if (values.length > viewLimits.spanRows) throw new RangeError('a span has too many rows');
  if (values.length === 0) return [0, 0];
  if (!ascends) {
    const { least, most } = bounds(values);
    return [widthOf(most - least), least];
  }
  let largest = 0;
  for (let index = 1; index < values.length; index += 1) {
    const step = values[index]! - values[index - 1]!;
    if (!(step >= 0)) throw new RangeError(`the column ${name} of a span does not ascend`);
    if (step > largest) largest = step;
  }
  return [widthOf(largest), values[0]!];
}

function bounds(values: Column): { least: number; most: number } {
  let least = values[0]!;
  let most = least;
  for (const value of values) {
    if (value < least) least = value;
    else if (value > most) most = value;
  }
  return { least, most };
}

/** Six bytes hold 8,900 years of milliseconds. */
const widths = [0, 1, 2, 3, 4, 6] as const;
const widthOf = (value: number) => widths.find((width) => value < 256 ** width)!;

interface HowCoded {
  width: number;
  base: number;
  ascends: boolean;
}

function writeColumn(bytes: Uint8Array, start: number, values: Column, how: HowCoded): void {
  const { width, ascends } = how;
  let { base } = how;
  let at = start;
  for (const value of values) {
    let rest = value - base;
    for (let byte = 0; byte < width; byte += 1) {
      bytes[at] = rest % 256;
      rest = Math.floor(rest / 256);
      at += 1;
    }
    if (ascends) base = value;
  }
}

function readColumn(bytes: Uint8Array, start: number, values: Column, how: HowCoded): void {
  const { width, ascends } = how;
  let { base } = how;
  let at = start;
  for (let index = 0; index < values.length; index += 1) {
    let rest = 0;
    for (let byte = 0, weight = 1; byte < width; byte += 1, weight *= 256) {
      rest += bytes[at]! * weight;
      at += 1;
    }
    const value = base + rest;
    values[index] = value;
    if (ascends) base = value;
  }
}
