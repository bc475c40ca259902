/** How many values a JSON text has at the least, counted in its bytes before anything is parsed. */
import { type Refusal, refuse } from '../../engine/internal.js';
import { serverBounds } from '../contract/limit-table.js';

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [...'"\\,[{'].map((char) => char.charCodeAt(0));

/**
 * Whether there are more values than `most`. Each has a comma before it or a bracket or brace; what
 * is in a text does not count. It stops as soon as it knows.
 */
export function hasMoreValues(bytes: Uint8Array, most: number): boolean {
  // A value takes two bytes: a short text cannot have so many.
  if (bytes.length <= most) return false;
  let values = 1;
  for (let index = 0; index < bytes.length && values <= most; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) index = endOfText(bytes, index + 1);
    else if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1;
  }
  return values > most;
}

/** Why a body is not parsed, or null. */
export function tooManyValues(bytes: Uint8Array): Refusal | null {
  const most = serverBounds.jsonValues;
  if (!hasMoreValues(bytes, most)) return null;
  return refuse('BAD_JSON', `the body has more than ${most} values`, { pointer: '' });
}

/** Where the text that begins at `from` ends. */
function endOfText(bytes: Uint8Array, from: number): number {
  let end = bytes.indexOf(QUOTE!, from);
  while (end >= 0 && isEscaped(bytes, from, end)) end = bytes.indexOf(QUOTE!, end + 1);
  return end < 0 ? bytes.length : end;
}

/** Whether an odd number of backslashes stands before. */
function isEscaped(bytes: Uint8Array, from: number, at: number): boolean {
  let before = at;
  while (before > from && bytes[before - 1] === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}
