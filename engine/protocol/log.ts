/**
 * The log's bytes and its two digest chains. A frame is parts, each preceded by its length as eight
 * bytes, big-endian. An entry is the frame of `seq, at, kind, public_key, target, timestamp,
 * signature, body`, numbers in decimal.
 *
 *   log_digest(n) = sha256(log_digest(n-1) || frame of entry n)
 *   digest(n)     = sha256(digest(n-1) || log_digest(n) || frame of its events and changed records)
 *
 * Both chains start from 32 zero bytes. Events and records are canonical JSON; a record is
 * `[table, key, value]`, null where it was deleted.
 */
import { sha256 } from '#sha256';
import type { Entry, EntryKind } from './schema/entry.js';

const LENGTH_BYTES = 8;
/** Characters of a part up to which it is written one by one. */
const SHORT = 20;
const DIGEST_BYTES = 32;
/** A stored entry: log digest, digest, frame. */
const STORED_HEAD = 2 * DIGEST_BYTES;

/** Writes frames into a buffer that is used again: a vote costs no copies but the one it keeps. */
class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(64 * 1024);
  /** Of the same bytes: it writes numbers in a third of the time that a Buffer takes. */
  #numbers = new DataView(this.#buffer.buffer);
  #end = 0;

  /** Begins after `head`, which stays in front of the frame. */
  begin(...head: Uint8Array[]): this {
    this.#end = 0;
    for (const bytes of head) this.#append(bytes);
    return this;
  }

  parts(parts: readonly (string | Uint8Array)[]): this {
    for (const part of parts) {
      const start = this.#end;
      this.#reserve(LENGTH_BYTES);
      this.#end += LENGTH_BYTES;
      if (typeof part === 'string') this.#write(part);
      else this.#append(part);
      // No part reaches 4 GiB: the upper half of the length is zero.
      this.#numbers.setUint32(start, 0);
      this.#numbers.setUint32(start + 4, this.#end - start - LENGTH_BYTES);
    }
    return this;
  }

  /** What was written, until the next `begin`. */
  view(): Buffer {
    return this.#buffer.subarray(0, this.#end);
  }

  #write(text: string): void {
    // UTF-8 takes three bytes for a UTF-16 unit at most.
    this.#reserve(3 * text.length);
    if (text.length <= SHORT && this.#writeShort(text)) return;
    this.#end += this.#buffer.write(text, this.#end);
  }

  /** Numbers and names: a call into the platform takes longer than they do. */
  #writeShort(text: string): boolean {
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return false;
      this.#buffer[this.#end + index] = code;
    }
    this.#end += text.length;
    return true;
  }

  #append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(2 * (this.#end + bytes));
    grown.set(this.view());
    this.#buffer = grown;
    this.#numbers = new DataView(grown.buffer);
  }
}

const writer = new FrameWriter();

/**
 * The parts, each preceded by its length as eight bytes, big-endian: how entries and results are
 * hashed.
 */
export function frame(parts: readonly (string | Uint8Array)[]): Uint8Array {
  return Uint8Array.from(writer.begin().parts(parts).view());
}

/** The same bytes as a buffer: nothing is copied. */
const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength);
const hexOf = (bytes: Uint8Array) => viewOf(bytes).toString('hex');

/** Reads the parts of a frame, one after another. What is not a frame is a `RangeError`. */
class FrameReader {
  readonly #view: Buffer;
  #end = 0;

  constructor(bytes: Uint8Array) {
    this.#view = viewOf(bytes);
  }

  text(): string {
    const begin = this.#next();
    return begin === this.#end ? '' : this.#view.toString('utf8', begin, this.#end);
  }

  /** The part itself: nothing is copied. */
  bytes(): Uint8Array {
    const begin = this.#next();
    const { buffer, byteOffset } = this.#view;
    return new Uint8Array(buffer, byteOffset + begin, this.#end - begin);
  }

  /** How many are left. */
  rest(): number {
    let parts = 0;
    for (; this.#end < this.#view.length; parts += 1) this.#next();
    return parts;
  }

  /** Where the next part begins, which ends at `#end`. */
  #next(): number {
    const begin = this.#end + LENGTH_BYTES;
    if (begin > this.#view.length) throw new RangeError('a frame ends before its last part');
    const upper = this.#view.readUInt32BE(this.#end);
    this.#end = begin + upper * 2 ** 32 + this.#view.readUInt32BE(this.#end + 4);
    if (this.#end <= this.#view.length) return begin;
    throw new RangeError('a frame is longer than what follows it');
  }
}

const entryParts = (entry: Entry): (string | Uint8Array)[] => {
  const { seq, at, kind, public_key, target, timestamp, signature, body } = entry;
  return [`${seq}`, `${at}`, kind, public_key, target, timestamp, signature, body];
};

/** The body is a view of the bytes. @throws when they are not those of an entry. */
export function decodeEntry(bytes: Uint8Array): Entry {
  const parts = new FrameReader(bytes);
  const entry = {
    seq: Number(parts.text()),
    at: Number(parts.text()),
    kind: parts.text() as EntryKind,
    public_key: parts.text(),
    target: parts.text(),
    timestamp: parts.text(),
    signature: parts.text(),
    body: parts.bytes(),
  };
  const more = parts.rest();
  if (more > 0) throw new RangeError(`an entry has 8 parts, found ${8 + more}`);
  return entry;
}

/** The two chains; `advance` moves both by one entry. */
export class Digests {
  #log: Uint8Array;
  #state: Uint8Array;

  /** Begins where a log ends whose digests these are (hex); by default before entry 0. */
  constructor(logDigest = '00'.repeat(DIGEST_BYTES), digest = '00'.repeat(DIGEST_BYTES)) {
    this.#log = Buffer.from(logDigest, 'hex');
    this.#state = Buffer.from(digest, 'hex');
  }

  /** Hex, of the entries alone. */
  get logDigest(): string {
    return hexOf(this.#log);
  }

  /** Hex, of the entries and all that followed from them. */
  get digest(): string {
    return hexOf(this.#state);
  }

  /**
   * `results`: the canonical JSON of each event, then of each changed record, in order. Gives what
   * is stored of the entry: both digests after it, then its frame.
   */
  advance(entry: Entry, results: readonly string[]): Uint8Array {
    // The previous digest stands where the new ones will, so that the frame is written once.
    const gap = this.#state;
    const framed = writer.begin(gap, this.#log).parts(entryParts(entry)).view();
    // Buffer.from takes the bytes from a shared pool: an ArrayBuffer each would cost more.
    const stored = Buffer.from(framed);
    this.#log = sha256(stored.subarray(DIGEST_BYTES));
    this.#state = sha256(writer.begin(this.#state, this.#log).parts(results).view());
    stored.set(this.#log, 0);
    stored.set(this.#state, DIGEST_BYTES);
    return stored;
  }
}

/** A stored entry: its frame, and the digests that were recorded with it. */
export interface StoredEntry {
  bytes: Uint8Array;
  logDigest: string;
  digest: string;
}

/** A stored entry, taken apart: both digests, then the frame. */
export function splitStored(stored: Uint8Array): StoredEntry {
  return new Stored(stored);
}

/** Its digests are text when they are asked for. */
class Stored implements StoredEntry {
  readonly bytes: Uint8Array;
  readonly #head: Uint8Array;

  constructor(stored: Uint8Array) {
    this.bytes = stored.subarray(STORED_HEAD);
    this.#head = stored;
  }

  get logDigest(): string {
    return hexOf(this.#head.subarray(0, DIGEST_BYTES));
  }

  get digest(): string {
    return hexOf(this.#head.subarray(DIGEST_BYTES, STORED_HEAD));
  }
}
