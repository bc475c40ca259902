/** Text helpers: hex of keys, signatures and hashes, UTF-8, closest known names, pointer steps. */
import { lowerAscii } from './unicode.js';

/** The pattern of so many hex characters, as schemas have it. */
export const hexPattern = (characters: number) => `^[0-9a-fA-F]{${characters}}$`;

/**
 * A text of so many hex characters in lower case; null where it is none. A loop: the code that a
 * pattern of 64 becomes is so long that a run has to fetch it from afar each time.
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

/** The same. What was asked last is not looked at again. */
function remembering(characters: number): (text: string) => string | null {
  let last = '';
  let lower: string | null = null;
  return (text) => {
    if (text !== last) lower = lowerHex(text, characters);
    last = text;
    return lower;
  };
}

/** A public key in lower case. A request's is looked at by its head, body and credentials. */
export const lowerKey = remembering(64);
/** A sha256 looks as a key does, but one block is named by many votes. */
export const lowerHash = remembering(64);
/** Where nothing is signed, all of them are alike. */
const lowerSignature = remembering(128);

export const isPublicKey = (text: string): boolean => lowerKey(text) !== null;
export const isHash = (text: string): boolean => lowerHash(text) !== null;
export const isSignature = (text: string): boolean => lowerSignature(text) !== null;

const encoder = new TextEncoder();

/** Short texts share memory: an ArrayBuffer for each takes three times as long as the text does. */
const SHARED_BYTES = 8 * 1024;
const LONGEST = 1024;
let shared = new Uint8Array(0);
let used = 0;

/** UTF-8. */
export function utf8(text: string): Uint8Array {
  if (text.length > LONGEST) return encoder.encode(text);
  // It takes three bytes for a UTF-16 unit at most.
  if (shared.length - used < 3 * text.length) {
    shared = new Uint8Array(SHARED_BYTES);
    used = 0;
  }
  const start = used;
  used += encoder.encodeInto(text, shared.subarray(start)).written;
  return shared.subarray(start, used);
}

/** A longer name is not compared: the work grows with the square of it. */
const LONGEST_WORD = 64;

/**
 * The known name with the fewest edits (an insertion, a deletion, a substitution or a swap of two
 * neighbours each count one; the case of ASCII letters does not), the first of equals; null where
 * even that takes more than one edit in three characters.
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

/** The optimal string alignment distance, row by row. */
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

/** A member's name as a step of a pointer. */
export const pointerStep = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

const EXCERPT_CHARACTERS = 64;

/** A received value as messages show it: strings quoted and cut, objects and arrays by type only. */
export function excerpt(value: unknown): string {
  if (typeof value === 'string') {
    const isCut = value.length > EXCERPT_CHARACTERS;
    return JSON.stringify(isCut ? `${value.slice(0, EXCERPT_CHARACTERS)}..` : value);
  }
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}
