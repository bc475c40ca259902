/**
 * JSON of small bodies of plain texts, as bytes: what a run without signatures composes. Each
 * character is looked at once, by a few lines; the platform's encoders make a text first, and what
 * they need lies far apart: in a run they take three times as long. Safe in a browser.
 */
import type { CommandKind } from './schema/command.js';
import type { SignedRequest } from './schema/entry.js';
import type { JsonBody } from './signing.js';

/** Bodies share memory: an ArrayBuffer for each takes longer than to fill it. */
const SHARED_BYTES = 16 * 1024;
/** A body that is longer is written otherwise; behind a text there is room for some marks. */
const LONGEST = 2 * 1024;
const MARKS = 16;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const [BEGIN, END] = [0x5b, 0x5d];
const [OPEN, CLOSE] = [0x7b, 0x7d];
const NOT_PLAIN = -1;

let bytes = new Uint8Array(0);
let used = 0;

/**
 * The JSON of a body of texts, truths and lists of texts, if they and the names are of printable
 * ASCII that needs no escape, so that to parse it gives back what is in the body; null of any
 * other. Of each list the body gets a copy of its own.
 */
export function plainJson(body: Record<string, unknown>): Uint8Array | null {
  if (bytes.length - used < LONGEST) {
    bytes = new Uint8Array(SHARED_BYTES);
    used = 0;
  }
  let end = used;
  for (const name in body) {
    if (name === '__proto__' || name === 'constructor' || name === 'prototype') return null;
    bytes[end] = end === used ? OPEN : COMMA;
    end = quoted(name, end + 1);
    if (end === NOT_PLAIN) return null;
    bytes[end] = COLON;
    const value = body[name];
    if (typeof value === 'string') end = quoted(value, end + 1);
    else if (typeof value === 'boolean') end = word(`${value}`, end + 1);
    else if (Array.isArray(value)) {
      const list: unknown[] = [...value];
      end = listed(list, end + 1);
      body[name] = list;
    } else return null;
    if (end === NOT_PLAIN) return null;
  }
  if (end === used) bytes[end++] = OPEN;
  bytes[end] = CLOSE;
  const start = used;
  used = end + 1;
  return bytes.subarray(start, used);
}

/** Where a list ends that begins at a place; NOT_PLAIN where it is none. */
function listed(list: readonly unknown[], start: number): number {
  bytes[start] = BEGIN;
  let end = start + 1;
  for (const text of list) {
    if (typeof text !== 'string') return NOT_PLAIN;
    if (end > start + 1) bytes[end++] = COMMA;
    end = quoted(text, end);
    if (end === NOT_PLAIN) return NOT_PLAIN;
  }
  bytes[end] = END;
  return end + 1;
}

function quoted(text: string, start: number): number {
  if (start + text.length + MARKS > used + LONGEST) return NOT_PLAIN;
  bytes[start] = QUOTE;
  const last = text.length < HASH ? undefined : lasts.get(text.length);
  const end = last ? again(text, start + 1, last) : word(text, start + 1);
  if (end === NOT_PLAIN) return NOT_PLAIN;
  bytes[end] = QUOTE;
  return end + 1;
}

/** The last text of some length, and its bytes. */
interface Last {
  text: string;
  bytes: Uint8Array;
}

/** Characters of what comes again: many vote on one block, and all are signed alike. */
const HASH = 64;
const SIGNATURE = 128;
const lasts = new Map<number, Last>(
  [HASH, SIGNATURE].map((length) => [length, { text: '', bytes: new Uint8Array(0) }]),
);

function again(text: string, start: number, last: Last): number {
  if (text === last.text) {
    bytes.set(last.bytes, start);
    return start + text.length;
  }
  const end = word(text, start);
  if (end !== NOT_PLAIN) {
    // A copy: should the body turn out not to be plain, the next one is written here.
    last.text = text;
    last.bytes = bytes.slice(start, end);
  }
  return end;
}

/** Where a text ends that begins at a place. */
function word(text: string, start: number): number {
  const into = bytes;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character < 0x20 || character > 0x7e) return NOT_PLAIN;
    if (character === QUOTE || character === BACKSLASH) return NOT_PLAIN;
    into[start + index] = character;
  }
  return start + text.length;
}

/** A request, but for its body. */
export type AroundBody = Omit<SignedRequest, 'body'>;

/**
 * Knows what its body says, so that whoever admits it here need not read its text. What is signed
 * is read from its bytes, as those are what was signed.
 */
export class UnsignedRequest implements SignedRequest {
  kind: CommandKind;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: Uint8Array;
  declare file?: Uint8Array;
  readonly #body: JsonBody;
  readonly #bytes: Uint8Array;

  /** @param bytes JSON of `said`, by `plainJson`. */
  constructor(around: AroundBody, composedBody: JsonBody, bytes: Uint8Array) {
    this.kind = around.kind;
    this.public_key = around.public_key;
    this.target = around.target;
    this.timestamp = around.timestamp;
    this.signature = around.signature;
    this.#body = composedBody;
    this.#bytes = bytes;
    this.body = bytes;
    if (around.file) this.file = around.file;
  }

  /**
   * What parsing a request's body would give, where that is known; null where it must be parsed.
   * Neither a copy of a request nor one that was given another body knows it.
   */
  static composedBody(request: SignedRequest): JsonBody | null {
    return #body in request && request.#bytes === request.body ? request.#body : null;
  }
}
