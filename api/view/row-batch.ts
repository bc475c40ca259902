/**
 * Row batches as bytes, for sockets, responses and files: 'FMS1', length of the head, head (JSON),
 * columns, and a CRC-32 of all preceding bytes. Numbers are little-endian. A column stores its
 * values minus the smallest value, or the differences between successive values, in as few bytes as
 * possible. Runs in browsers.
 */
import { rowLists, saidKinds } from '../../engine/protocol/event-types.js';
import { type ViewProblem, type ViewValues, viewMessage } from './messages.js';
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

/** Columns in byte order. Ascending columns are stored as differences. */
const columns = [
  { name: 'entry', ascends: true },
  { name: 'at', ascends: true },
  { name: 'kind', ascends: false },
  { name: 'who', ascends: false },
  { name: 'what', ascends: false },
  { name: 'value', ascends: false },
] as const;

/** Column coding: bytes per value, and the base for the first value or for each value. */
type Coding = [width: number, base: number];

/** The head: the batch without rows, and the column codings. */
interface SpanHead extends Omit<RowBatch, 'rows'> {
  rows: number;
  columns: Coding[];
}

/** Thrown if the bytes are not a complete row batch. */
export class RowBatchDamaged extends Error {
  override name = 'RowBatchDamaged';
  readonly problem: ViewProblem;

  constructor(problem: ViewProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

const damaged = <K extends ViewProblem>(problem: K, ...values: ViewValues<K>) =>
  new RowBatchDamaged(problem, viewMessage(problem, ...values));

/** Returns zeroed columns of the given length. */
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

/** @throws {RangeError} if a column that must ascend does not, which is a bug in the caller. */
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

/** @throws {RowBatchDamaged} if the bytes are not a complete row batch. */
export function decodeRowBatch(bytes: Uint8Array): RowBatch {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length - CRC_BYTES;
  if (end < FIXED || MAGIC.some((byte, index) => bytes[index] !== byte)) {
    throw damaged('NOT_A_ROW_BATCH');
  }
  if (view.getUint32(end, true) !== crc32(bytes.subarray(0, end))) {
    throw damaged('ROW_BATCH_CHECKSUM', { bytes: bytes.length });
  }
  const from = FIXED + view.getUint32(4, true);
  if (from > end) throw damaged('ROW_BATCH_HEAD', { problem: 'longer than the batch' });
  const { rows: length, columns: codings, ...rest } = headIn(bytes.subarray(FIXED, from));
  const rows = newRows(length);
  let at = from;
  for (const [index, { name, ascends }] of columns.entries()) {
    const [width, base] = codings[index]!;
    if (at + width * length > end) throw damaged('ROW_BATCH_COLUMN', { column: name });
    readColumn(bytes, at, rows[name], { width, base, ascends });
    at += width * length;
  }
  if (at !== end) throw damaged('ROW_BATCH_TRAILING', { bytes: end - at });
  const batch = { ...rest, rows };
  const problem = findRowsProblem(batch);
  if (problem) throw damaged('ROW_BATCH_ROWS', { from: batch.from, to: batch.to, problem });
  return batch;
}

function headIn(bytes: Uint8Array): SpanHead {
  let head: unknown;
  try {
    head = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw damaged('ROW_BATCH_HEAD', { problem: 'not JSON' });
  }
  const problem = findHeadProblem(head);
  if (problem) throw damaged('ROW_BATCH_HEAD', { problem });
  return head as SpanHead;
}

/** Code of the rows that introduce an item, by list. */
export const introducing = Object.fromEntries(
  rowLists.map((list) => [list, rowKinds.findIndex((kind) => viewRows[kind].introduces === list)]),
) as Record<keyof Introductions, number>;

function findRowsProblem({ from, to, rows, introduced }: RowBatch): string | null {
  const counts = new Uint32Array(rowKinds.length);
  for (const kind of rows.kind) {
    if (kind >= rowKinds.length) return `unknown row kind ${kind}`;
    counts[kind]! += 1;
  }
  const last = rows.entry.at(-1);
  if (last !== undefined && from + last > to) return `row of entry ${from + last}`;
  for (const name of rowLists) {
    const rowCount = counts[introducing[name]];
    if (introduced[name].length === rowCount) continue;
    return `${introduced[name].length} ${name} introduced by ${rowCount} rows`;
  }
  return null;
}

type Column = Rows[keyof Rows];

function coding(values: Column, ascends: boolean, name: string): Coding {
  if (values.length > viewLimits.spanRows) throw new RangeError('too many rows in a batch');
  if (values.length === 0) return [0, 0];
  if (!ascends) {
    const { least, most } = bounds(values);
    return [widthOf(most - least), least];
  }
  let largest = 0;
  for (let index = 1; index < values.length; index += 1) {
    const step = values[index]! - values[index - 1]!;
    if (!(step >= 0)) throw new RangeError(`column ${name} does not ascend`);
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

/** Six bytes hold 8,900 years in milliseconds. */
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
  stance: text,
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

function findHeadProblem(head: unknown): string | null {
  const wrong = wrongMember(head, own);
  if (wrong) return wrong;
  const { from, to, introduced, said: spoken } = head as Record<string, unknown>;
  if ((to as number) < (from as number) - 1) return `ends at ${to}, before its start at ${from}`;
  if (typeof introduced !== 'object' || introduced === null) return 'introduced missing or invalid';
  for (const [name, shape] of lists) {
    const problem = findListProblem((introduced as Record<string, unknown>)[name], name, shape);
    if (problem) return problem;
  }
  return findListProblem(spoken, 'said', said);
}

function findListProblem(list: unknown, name: string, shape: Record<string, Test>): string | null {
  if (!Array.isArray(list)) return `${name} missing or invalid`;
  for (const [index, item] of list.entries()) {
    const wrong = wrongMember(item, shape);
    if (wrong) return `${name}[${index}]: ${wrong}`;
  }
  return null;
}

function wrongMember(value: unknown, shape: Record<string, Test>): string | null {
  if (typeof value !== 'object' || value === null) return 'not an object';
  for (const [name, fits] of Object.entries(shape)) {
    if (!Object.hasOwn(value, name) || !fits((value as Record<string, unknown>)[name])) {
      return `${name} missing or invalid`;
    }
  }
  return null;
}

const { registered, dormancy } = rowCode;

/** Returns true if a row is an event, which has a number. */
export const isEvent = (kind: number): boolean => kind !== registered && kind !== dormancy;

/**
 * Returns the first row for `entry` or a later entry. Returns the number of rows if there is no
 * such row.
 */
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
 * Returns the part of a batch from entry `from` to `to`, both inclusive. The columns share memory.
 * A part that ends before the batch contains no digests, and its time is that of its last row (0
 * without rows).
 */
export function sliceRowBatch(batch: RowBatch, from: number, to: number): RowBatch {
  const first = Math.max(from, batch.from);
  const last = Math.min(to, batch.to);
  if (first === batch.from && last === batch.to) return batch;
  if (last < first - 1) throw new RangeError(`entries ${from} to ${to} are not in the batch`);
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
