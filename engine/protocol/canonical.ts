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
  const text = isInOrder(value)
    ? JSON.stringify(value)
    : Array.isArray(value)
      ? stringify(value)
      : sorted(value as Readonly<Record<string, unknown>>);
  if (text === undefined) throw new TypeError('value has no JSON form');
  return text;
}

/** Sorts the members of an object and encodes it. */
function sorted(object: Readonly<Record<string, unknown>>): string {
  return sortedAtOnce(object) ?? sortedByMember(object);
}

/**
 * Encodes a sorted copy in one call. Returns null if a member is not in order, or if a name does
 * not begin with a lower-case letter, because a copy cannot reorder integers and `__proto__`.
 */
function sortedAtOnce(object: Readonly<Record<string, unknown>>): string | null {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(object).sort()) {
    const first = key.charCodeAt(0);
    const member = object[key];
    if (!(first >= LOWER_A && first <= LOWER_Z)) return null;
    if (typeof member === 'object' && !isInOrder(member)) return null;
    copy[key] = member;
  }
  return JSON.stringify(copy);
}

const [LOWER_A, LOWER_Z] = [0x61, 0x7a];

function sortedByMember(object: Readonly<Record<string, unknown>>): string {
  const members = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key])}`);
  return `{${members.join(',')}}`;
}

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
