/**
 * A span as bytes, the same for a socket, an answer and a file: 'FMS1', the length of the head, the
 * head (JSON), the columns, and a CRC-32 of all that. Numbers are little-endian. A column is what
 * its values are above its least one, or what each adds to the one before, in as few bytes as fit.
 * Safe in a browser.
 */
import { rowLists, saidKinds } from '../../engine/protocol/event-types.js';
import {
  type Introductions,
  introducedShapes,
  type MemberKind,
  type RowBatch,
  type Rows,
  rowCode,
  rowKinds,
  viewLimits,
  viewRows,
} from './model.js';

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
interface SpanHead extends Omit<RowBatch, 'rows'> {
  rows: number;
  columns: Coding[];
}

/** No span, or not a whole one: what is wrong with the bytes. */
export class RowBatchDamaged extends Error {
  override name = 'RowBatchDamaged';
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
export function encodeRowBatch(batch: RowBatch): Uint8Array {
  const { rows, ...rest } = batch;
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

/** @throws {RowBatchDamaged} saying what is wrong with the bytes. */
export function decodeRowBatch(bytes: Uint8Array): RowBatch {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length - CRC_BYTES;
  if (end < FIXED || MAGIC.some((byte, index) => bytes[index] !== byte)) {
    throw new RowBatchDamaged('these bytes are not a span: they do not begin with FMS1');
  }
  if (view.getUint32(end, true) !== crc32(bytes.subarray(0, end))) {
    throw new RowBatchDamaged(
      `a span of ${bytes.length} bytes is damaged: its checksum is another`,
    );
  }
  const from = FIXED + view.getUint32(4, true);
  if (from > end) throw new RowBatchDamaged('the head of a span is longer than the span');
  const { rows: length, columns: codings, ...rest } = headIn(bytes.subarray(FIXED, from));
  const rows = newRows(length);
  let at = from;
  for (const [index, { name, ascends }] of columns.entries()) {
    const [width, base] = codings[index]!;
    if (at + width * length > end)
      throw new RowBatchDamaged(`the column ${name} of a span is cut off`);
    readColumn(bytes, at, rows[name], { width, base, ascends });
    at += width * length;
  }
  if (at !== end) throw new RowBatchDamaged(`a span has ${end - at} bytes after its columns`);
  const batch = { ...rest, rows };
  const problem = rowsProblem(batch);
  if (problem)
    throw new RowBatchDamaged(`a span of entries ${batch.from} to ${batch.to}: ${problem}`);
  return batch;
}

function headIn(bytes: Uint8Array): SpanHead {
  let head: unknown;
  try {
    head = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new RowBatchDamaged('the head of a span is not JSON');
  }
  const problem = headProblem(head);
  if (problem) throw new RowBatchDamaged(`the head of a span: ${problem}`);
  return head as SpanHead;
}

/** The code of the rows that add to a list, one item each. */
export const introducing = Object.fromEntries(
  rowLists.map((list) => [list, rowKinds.findIndex((kind) => viewRows[kind].introduces === list)]),
) as Record<keyof Introductions, number>;

function rowsProblem({ from, to, rows, introduced }: RowBatch): string | null {
  const counts = new Uint32Array(rowKinds.length);
  for (const kind of rows.kind) {
    if (kind >= rowKinds.length) return `there is no kind of row ${kind}`;
    counts[kind]! += 1;
  }
  const last = rows.entry.at(-1);
  if (last !== undefined && from + last > to) return `a row is of entry ${from + last}`;
  for (const name of rowLists) {
    const rowCount = counts[introducing[name]];
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

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let value = 0xffff_ffff;
  for (let at = 0; at < bytes.length; at += 1) {
    value = table[(value ^ bytes[at]!) & 0xff]! ^ (value >>> 8);
  }
  return (value ^ 0xffff_ffff) >>> 0;
}

type Test = (value: unknown) => boolean;

const count: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const text: Test = (value) => typeof value === 'string';
const tests: Record<MemberKind, Test> = {
  count,
  text,
  flag: (value) => typeof value === 'boolean',
  counts: (value) => Array.isArray(value) && value.every(count),
};
const said = {
  entry: count,
  at: count,
  who: count,
  kind: (value: unknown) => (saidKinds as readonly unknown[]).includes(value),
  what: count,
  text,
};
const headCoding: Test = (value) =>
  Array.isArray(value) &&
  value.length === 2 &&
  [0, 1, 2, 3, 4, 6].includes(value[0]) &&
  count(value[1]);

const own = {
  from: count,
  to: count,
  event_seq: count,
  at: count,
  digest: text,
  log_digest: text,
  omitted: count,
  rows: (value: unknown) => count(value) && (value as number) <= viewLimits.spanRows,
  columns: (value: unknown) =>
    Array.isArray(value) && value.length === 6 && value.every(headCoding),
};
const lists = Object.entries(introducedShapes).map(([name, shape]) => {
  const members = Object.entries<MemberKind>(shape).map(([member, kind]) => [member, tests[kind]]);
  return [name, Object.fromEntries(members) as Record<string, Test>] as const;
});

/** The first member that is not what it must be, or null. */
function headProblem(head: unknown): string | null {
  const wrong = wrongMember(head, own);
  if (wrong) return wrong;
  const { from, to, introduced, said: spoken } = head as Record<string, unknown>;
  if ((to as number) < (from as number) - 1) return `it ends at ${to} and begins at ${from}`;
  if (typeof introduced !== 'object' || introduced === null) return 'it has no usable introduced';
  for (const [name, shape] of lists) {
    const problem = listProblem((introduced as Record<string, unknown>)[name], name, shape);
    if (problem) return problem;
  }
  return listProblem(spoken, 'said', said);
}

function listProblem(list: unknown, name: string, shape: Record<string, Test>): string | null {
  if (!Array.isArray(list)) return `it has no usable ${name}`;
  for (const [index, item] of list.entries()) {
    const wrong = wrongMember(item, shape);
    if (wrong) return `${name}[${index}]: ${wrong}`;
  }
  return null;
}

function wrongMember(value: unknown, shape: Record<string, Test>): string | null {
  if (typeof value !== 'object' || value === null) return 'it is not an object';
  for (const [name, fits] of Object.entries(shape)) {
    if (!Object.hasOwn(value, name) || !fits((value as Record<string, unknown>)[name])) {
      return `it has no usable ${name}`;
    }
  }
  return null;
}

const { registered, dormancy } = rowCode;

/** Whether a row is an event, and has a number of its own. */
export const isEvent = (kind: number): boolean => kind !== registered && kind !== dormancy;

/** The first row of a span that is of this entry or a later one; all rows where there is none. */
export function firstRow({ from, rows }: Pick<RowBatch, 'from' | 'rows'>, entry: number): number {
  let low = 0;
  let high = rows.entry.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (from + rows.entry[middle]! < entry) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The entries of a span from `from` to `to`, both inclusive, as far as it has them; columns are
 * views of the same memory. What is cut off at the end takes the digests with it, and the time:
 * that of the last row stands for it, 0 where there is none.
 */
export function sliceRowBatch(batch: RowBatch, from: number, to: number): RowBatch {
  const first = Math.max(from, batch.from);
  const last = Math.min(to, batch.to);
  if (first === batch.from && last === batch.to) return batch;
  if (last < first - 1) throw new RangeError(`a span has no entries ${from} to ${to}`);
  const start = firstRow(batch, first);
  const end = firstRow(batch, last + 1);
  const whole = last === batch.to;
  const rows = rowsOf(batch.rows, start, end, first - batch.from);
  return {
    from: first,
    to: last,
    event_seq: batch.event_seq - eventsIn(batch.rows.kind.subarray(end)),
    at: whole ? batch.at : (batch.rows.at[end - 1] ?? 0),
    digest: whole ? batch.digest : '',
    log_digest: whole ? batch.log_digest : '',
    rows,
    introduced: introducedIn(batch, start, end),
    said: batch.said.filter(({ entry }) => entry >= first && entry <= last),
    omitted: batch.omitted,
  };
}

function rowsOf(rows: Rows, start: number, end: number, shift: number): Rows {
  const entry = rows.entry.subarray(start, end);
  return {
    entry: shift === 0 ? entry : entry.map((offset) => offset - shift),
    at: rows.at.subarray(start, end),
    kind: rows.kind.subarray(start, end),
    who: rows.who.subarray(start, end),
    what: rows.what.subarray(start, end),
    value: rows.value.subarray(start, end),
  };
}

function eventsIn(kinds: Uint8Array): number {
  let count = 0;
  for (const kind of kinds) if (isEvent(kind)) count += 1;
  return count;
}

function introducedIn({ rows, introduced }: RowBatch, start: number, end: number): Introductions {
  const counts = (from: number, to: number) => {
    const found = new Uint32Array(rowKinds.length);
    for (const kind of rows.kind.subarray(from, to)) found[kind]! += 1;
    return found;
  };
  const before = counts(0, start);
  const within = counts(start, end);
  const part = <T>(list: readonly T[], kind: number) =>
    list.slice(before[kind], before[kind]! + within[kind]!);
  return {
    agents: part(introduced.agents, introducing.agents),
    blocks: part(introduced.blocks, introducing.blocks),
    memes: part(introduced.memes, introducing.memes),
    alliances: part(introduced.alliances, introducing.alliances),
  };
}
