/**
 * Fast JSON encoding of small ASCII bodies, for runs without signatures. JSON.stringify and
 * TextEncoder take three times as long in a run. Runs in browsers.
 */
import type { CommandKind } from './schema/command.js';
import type { SignedRequest } from './schema/entry.js';
import type { JsonBody } from './signing.js';

/** Size of shared memory. Allocating an ArrayBuffer per body takes longer than filling it. */
const SHARED_BYTES = 16 * 1024;
/** Longest body in bytes, and the space reserved for punctuation after a text. */
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
 * Encodes a body of strings, booleans and lists of strings in printable ASCII without escapes.
 * Returns null for any other body. Replaces each list in the body with a copy.
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

/** Writes a list. Returns its end, or NOT_PLAIN. */
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

/** The most recent text of a given length, and its bytes. */
interface Last {
  text: string;
  bytes: Uint8Array;
}

/** Lengths of texts that repeat: block hashes, and the signature placeholder. */
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
    // Copied, because the next body overwrites these bytes if the current body is not plain.
    last.text = text;
    last.bytes = bytes.slice(start, end);
  }
  return end;
}

/** Writes a text. Returns its end, or NOT_PLAIN. */
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

export type AroundBody = Omit<SignedRequest, 'body'>;

/**
 * A request that keeps its parsed body, so that admission in the same process need not parse the
 * bytes again. Signing inputs still use the bytes.
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

  /** @param bytes JSON of `composedBody`, from `plainJson`. */
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
   * Returns the parsed body. Returns null if the body must be parsed, because the request is a copy
   * or its body was replaced.
   */
  static composedBody(request: SignedRequest): JsonBody | null {
    return #body in request && request.#bytes === request.body ? request.#body : null;
  }
}
