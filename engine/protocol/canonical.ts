/**
 * Canonical JSON (RFC 8785) for JSON values without lone surrogates, used for signing, hashing and
 * storing. Pure; runs in browsers.
 */
import { stringify } from 'safe-stable-stringify';

/**
 * Encodes a value. Values with sorted members, which are frequent, go through JSON.stringify, which
 * is faster and returns a flat string. A test compares the result with an RFC 8785 library, which
 * takes three to six times as long.
 * @throws {TypeError} for a value without a JSON form.
 */
export function canonical(value: unknown): string {
  const text = isInOrder(value) ? JSON.stringify(value) : (sortedAtOnce(value) ?? stringify(value));
  if (text === undefined) throw new TypeError('value has no JSON form');
  return text;
}

/** Encodes a sorted copy in one call. Returns null if a copy cannot have the members in order. */
function sortedAtOnce(value: unknown): string | null {
  const copy = sortedCopy(value);
  return copy === unsortable ? null : JSON.stringify(copy);
}

const unsortable = Symbol('unsortable');

/**
 * Copies a value with its members in order. Parts in order are shared. Returns `unsortable` if a
 * name does not begin with a lower-case letter, because a copy cannot reorder integers and
 * `__proto__`.
 */
function sortedCopy(value: unknown): unknown {
  if (typeof value !== 'object' || isInOrder(value)) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      const copied = sortedCopy(item);
      if (copied === unsortable) return unsortable;
      items.push(copied);
    }
    return items;
  }
  const object = value as Readonly<Record<string, unknown>>;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(object).sort()) {
    const first = key.charCodeAt(0);
    if (!(first >= LOWER_A && first <= LOWER_Z)) return unsortable;
    const member = sortedCopy(object[key]);
    if (member === unsortable) return unsortable;
    copy[key] = member;
  }
  return copy;
}

const [LOWER_A, LOWER_Z] = [0x61, 0x7a];

function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && !isInOrder(item)) return false;
    return true;
  }
  let before = '';
  // Inherited members are not encoded, but checking them does no harm.
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (key < before || (typeof member === 'object' && !isInOrder(member))) return false;
    before = key;
  }
  return true;
}

/** First difference between two JSON values. */
export interface JsonDifference {
  /** Path, such as `scenario.agents.0.count`; '' for the whole value. */
  path: string;
  /** JSON text, shortened if long; `nothing` for a missing member. */
  a: string;
  b: string;
}

/** Returns the first difference between two JSON values, or null. */
export function jsonDifference(a: unknown, b: unknown, path = ''): JsonDifference | null {
  if (Object.is(a, b)) return null;
  if (!isTree(a) || !isTree(b) || Array.isArray(a) !== Array.isArray(b)) {
    return { path, a: jsonText(a), b: jsonText(b) };
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = jsonDifference(a[key], b[key], path === '' ? key : `${path}.${key}`);
    if (found) return found;
  }
  return null;
}

type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

const LONGEST = 120;

function jsonText(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 3)}...`;
}
