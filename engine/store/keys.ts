/**
 * Which record keys exist and how they are ordered, the same for every store. The order is that of
 * lmdb's ordered-binary encoding, so that memory and disk never disagree about a range.
 */
import type { RangeOptions, RecordKey } from './store.js';

/**
 * Characters (UTF-16 units) in all strings of a key. LMDB takes 1,978 bytes with lmdb's defaults;
 * 512 units are at most 1,536 bytes of UTF-8, which leaves room for numbers and separators.
 */
const maxKeyUnits = 512;
const maxKeyParts = 8;

/** Control characters separate the parts of a tuple; a lone surrogate has no UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const unstorable = /[\u0000-\u001f\u007f-\u009f\ud800-\udfff]/u;

/** Sorts after every string that names something: a noncharacter, the last code point. */
const lastText = '\u{10ffff}';

/**
 * Whether a record can have this key: a safe integer (not -0), a string of at most 512 characters
 * without control characters, or a tuple of 2 to 8 of these.
 */
export function isRecordKey(key: RecordKey): boolean {
  if (typeof key !== 'object') return isPart(key) && units(key) <= maxKeyUnits;
  return key.length >= 2 && isBound(key);
}

/** Throws for what cannot be a key: the caller's mistake, never an expected outcome. */
export function assertRecordKey(table: string, key: RecordKey): void {
  if (!isRecordKey(key)) throw new TypeError(`${table}: not a record key: ${JSON.stringify(key)}`);
}

/** A bound may also be a tuple of one: the place just before everything that starts with it. */
export function assertRange(table: string, options: RangeOptions): void {
  for (const key of [options.from, options.to]) {
    if (key === undefined || isRecordKey(key) || (typeof key === 'object' && isBound(key)))
      continue;
    throw new TypeError(`${table}: not a bound of a range: ${JSON.stringify(key)}`);
  }
}

/** The range of every tuple that starts with these parts. */
export function keysUnder(...parts: readonly (string | number)[]): {
  from: RecordKey;
  to: RecordKey;
} {
  return { from: parts, to: [...parts, lastText] };
}

/** A text that is the same for equal keys only: `1` and `'1'` differ. */
export function keyId(key: RecordKey): string {
  if (typeof key === 'string') return `s${key}`;
  return typeof key === 'number' ? `n${key}` : JSON.stringify(key);
}

/**
 * Numbers before strings, numbers by value, strings by code point, tuples part by part, and a key
 * before every tuple that continues it.
 */
export function compareKeys(a: RecordKey, b: RecordKey): number {
  if (typeof a !== 'object' && typeof b !== 'object') return compareParts(a, b);
  const left = typeof a === 'object' ? a : [a];
  const right = typeof b === 'object' ? b : [b];
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const order = compareParts(left[index]!, right[index]!);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function isBound(key: readonly (string | number)[]): boolean {
  if (key.length === 0 || key.length > maxKeyParts || !key.every(isPart)) return false;
  return key.reduce<number>((sum, part) => sum + units(part), 0) <= maxKeyUnits;
}

function isPart(part: string | number): boolean {
  if (typeof part === 'string') return !unstorable.test(part);
  return Number.isSafeInteger(part) && !Object.is(part, -0);
}

function units(part: string | number): number {
  return typeof part === 'string' ? part.length : 0;
}

function compareParts(a: string | number, b: string | number): number {
  if (typeof a === 'number') return typeof b === 'number' ? a - b : -1;
  return typeof b === 'number' ? 1 : compareText(a, b);
}

function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above U+FFFF, so they rank after U+E000..U+FFFF as in UTF-8. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
