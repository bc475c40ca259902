/**
 * Text helpers: letters and lower case of one version of Unicode, hex for keys, signatures and
 * hashes, UTF-8, closest known names, pointer steps.
 */
import { lowerRuns, tagBorders } from './unicode-tables.js';

export const UNICODE_VERSION = '16.0';

/** Pattern for use in the documents. Validation uses `isTag`. */
export const TAG_PATTERN = '^[\\p{L}\\p{M}\\p{N}_-]{1,32}$';

const LONGEST_TAG = 32;
const plainTag = /^[A-Za-z0-9_-]{1,32}$/;
const capitals = /[A-Z]+/g;
const capital = /[A-Z]/;

const numbersIn = (text: string): number[] =>
  text.split(' ').map((number) => Number.parseInt(number, 36));

/** Decoded on first use, because most texts are ASCII. */
let borders: number[] | undefined;
let lower: Map<number, number> | undefined;

/** Returns true for 1 to 32 letters, marks, numbers (General_Category L, M, N), `_` or `-`. */
export function isTag(text: string): boolean {
  if (plainTag.test(text)) return true;
  const characters = [...text];
  return (
    characters.length >= 1 &&
    characters.length <= LONGEST_TAG &&
    characters.every((character) => isInTag(character.codePointAt(0)!))
  );
}

/** Maps each code point by its Simple_Lowercase_Mapping, without context or language. */
export function lowerCase(text: string): string {
  if (plainTag.test(text)) return lowerAscii(text);
  lower ??= lowerMap();
  const points = [...text].map((character) => character.codePointAt(0)!);
  return String.fromCodePoint(...points.map((point) => lower!.get(point) ?? point));
}

/** Lower-cases ASCII letters only. */
export function lowerAscii(text: string): string {
  return !capital.test(text) ? text : text.replace(capitals, (found) => found.toLowerCase());
}

function isInTag(point: number): boolean {
  if (point === 0x2d || point === 0x5f) return true;
  borders ??= sums(numbersIn(tagBorders));
  let low = 0;
  let high = borders.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (borders[middle]! <= point) low = middle + 1;
    else high = middle;
  }
  // If the number of borders at or below the point is odd, the last border begins a range.
  return low % 2 === 1;
}

function sums(steps: readonly number[]): number[] {
  let sum = 0;
  return steps.map((step) => {
    sum += step;
    return sum;
  });
}

function lowerMap(): Map<number, number> {
  const map = new Map<number, number>();
  const runs = numbersIn(lowerRuns);
  for (let index = 0; index < runs.length; index += 4) {
    const [from, count, step, by] = runs.slice(index, index + 4) as [
      number,
      number,
      number,
      number,
    ];
    for (let one = 0; one < count; one += 1) map.set(from + one * step, from + one * step + by);
  }
  return map;
}

/**
 * Lower-cases a text of `characters` hex characters. Returns null for any other text. A loop is
 * faster than a pattern, whose compiled code is too long to stay in the instruction cache.
 */
function lowerHex(text: string, characters: number): string | null {
  if (text.length !== characters) return null;
  let capitals = false;
  for (let index = 0; index < characters; index += 1) {
    const code = text.charCodeAt(index);
    if ((code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66)) continue;
    if (code < 0x41 || code > 0x46) return null;
    capitals = true;
  }
  return capitals ? lowerAscii(text) : text;
}

/** Caches the most recent text. */
function remembering(characters: number): (text: string) => string | null {
  let last = '';
  let lower: string | null = null;
  return (text) => {
    if (text !== last) lower = lowerHex(text, characters);
    last = text;
    return lower;
  };
}

/** Lower-cases a public key. Cached: the checks of head, body and credentials share a key. */
export const lowerKey = remembering(64);
/** Lower-cases a sha256. Uses a separate cache, because many votes name the same block. */
export const lowerHash = remembering(64);
/** Cached, because all signatures are equal in a network without signatures. */
const lowerSignature = remembering(128);

export const isPublicKey = (text: string): boolean => lowerKey(text) !== null;
export const isHash = (text: string): boolean => lowerHash(text) !== null;
export const isSignature = (text: string): boolean => lowerSignature(text) !== null;

const encoder = new TextEncoder();

/** Size of shared memory for short texts. An ArrayBuffer each would take three times as long. */
const SHARED_BYTES = 8 * 1024;
const LONGEST = 1024;
let shared = new Uint8Array(0);
let used = 0;

export function utf8(text: string): Uint8Array {
  if (text.length > LONGEST) return encoder.encode(text);
  // A UTF-16 unit takes at most three bytes in UTF-8.
  if (shared.length - used < 3 * text.length) {
    shared = new Uint8Array(SHARED_BYTES);
    used = 0;
  }
  const start = used;
  used += encoder.encodeInto(text, shared.subarray(start)).written;
  return shared.subarray(start, used);
}

/** Maximum length of a name to compare, because the cost is quadratic. */
const LONGEST_WORD = 64;

/**
 * Returns the known name that needs the fewest edits (insertion, deletion, substitution, swap of
 * adjacent characters; ASCII case is ignored), or the first of several. Ignores names that need
 * more than one edit per three characters of the longer name. Returns null if none remains.
 */
export function nearest(name: string, known: Iterable<string>): string | null {
  if (name.length === 0 || name.length > LONGEST_WORD) return null;
  const wanted = lowerAscii(name);
  let best: string | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const one of known) {
    if (one.length > LONGEST_WORD) continue;
    const count = edits(wanted, lowerAscii(one));
    if (count >= fewest || count > Math.max(name.length, one.length) / 3) continue;
    fewest = count;
    best = one;
  }
  return best;
}

/** Computes the optimal string alignment distance. */
function edits(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const here = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      here[column] = Math.min(
        above[column]! + 1,
        here[column - 1]! + 1,
        above[column - 1]! + (same ? 0 : 1),
        row > 1 && column > 1 && swapped ? before[column - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, above] = [above, here];
  }
  return above[b.length]!;
}

/** Escapes a member name as a step in a JSON Pointer. */
export const pointerStep = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

const EXCERPT_CHARACTERS = 64;
const KEY_EXCERPT_CHARACTERS = 16;

/** Formats a received value for a message: quotes and truncates strings, names objects' types. */
export function excerpt(value: unknown, most = EXCERPT_CHARACTERS): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > most ? `${value.slice(0, most)}..` : value);
  }
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}

/** Shows only the first characters, because a client may have sent a private key by mistake. */
export const excerptKey = (value: unknown): string => excerpt(value, KEY_EXCERPT_CHARACTERS);
