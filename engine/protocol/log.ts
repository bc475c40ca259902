/**
 * The encoding of the log and its two digest chains. A frame is a sequence of parts, each preceded
 * by its length in eight bytes, big-endian. An entry is a frame with the parts
 * `seq, at, kind, public_key, target, timestamp, signature, body`, and its numbers are decimal.
 *
 *   log_digest(n) = sha256(log_digest(n-1) || frame of entry n)
 *   digest(n)     = sha256(digest(n-1) || log_digest(n) || frame of its events and changed records)
 *
 * Both chains start from 32 zero bytes. Events and records are canonical JSON. A record is
 * `[table, key, value]`, where the value null marks a deleted record.
 */
import { sha256 } from '#sha256';
import type { Entry, EntryKind } from './schema/entry.js';

const LENGTH_BYTES = 8;
/** Longest text, in characters, that is written one character at a time. */
const SHORT = 20;
const DIGEST_BYTES = 32;
/** A stored entry: log digest, digest, frame. */
const STORED_HEAD = 2 * DIGEST_BYTES;

/** Writes frames into a reused buffer. */
class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(64 * 1024);
  /** View of the same bytes, which writes numbers three times as fast as a Buffer. */
  #numbers = new DataView(this.#buffer.buffer);
  #end = 0;

  /** Begins a frame after the bytes in `head`. */
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
      // No part reaches 4 GiB, so the upper half of the length is zero.
      this.#numbers.setUint32(start, 0);
      this.#numbers.setUint32(start + 4, this.#end - start - LENGTH_BYTES);
    }
    return this;
  }

  /** Returns a view of the written bytes, valid until the next `begin`. */
  view(): Buffer {
    return this.#buffer.subarray(0, this.#end);
  }

  #write(text: string): void {
    // A UTF-16 unit takes at most three bytes in UTF-8.
    this.#reserve(3 * text.length);
    if (text.length <= SHORT && this.#writeShort(text)) return;
    this.#end += this.#buffer.write(text, this.#end);
  }

  /** Writes short ASCII texts in a loop, because a native call takes longer for them. */
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

/** Encodes parts as a frame. */
export function frame(parts: readonly (string | Uint8Array)[]): Uint8Array {
  return Uint8Array.from(writer.begin().parts(parts).view());
}

/** Returns a Buffer over the same bytes. */
const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength);
const hexOf = (bytes: Uint8Array) => viewOf(bytes).toString('hex');

/** Reads a frame's parts in order. Throws a `RangeError` for an invalid frame. */
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

  /** Returns a view of the next part. */
  bytes(): Uint8Array {
    const begin = this.#next();
    const { buffer, byteOffset } = this.#view;
    return new Uint8Array(buffer, byteOffset + begin, this.#end - begin);
  }

  /** Returns the number of remaining parts. */
  rest(): number {
    let parts = 0;
    for (; this.#end < this.#view.length; parts += 1) this.#next();
    return parts;
  }

  /** Returns the start of the next part, which ends at `#end`. */
  #next(): number {
    const begin = this.#end + LENGTH_BYTES;
    if (begin > this.#view.length) throw new RangeError('truncated frame');
    const upper = this.#view.readUInt32BE(this.#end);
    this.#end = begin + upper * 2 ** 32 + this.#view.readUInt32BE(this.#end + 4);
    if (this.#end <= this.#view.length) return begin;
    throw new RangeError('truncated part of a frame');
  }
}

const entryParts = (entry: Entry): (string | Uint8Array)[] => {
  const { seq, at, kind, public_key, target, timestamp, signature, body } = entry;
  return [`${seq}`, `${at}`, kind, public_key, target, timestamp, signature, body];
};

/** Decodes an entry, whose body is a view of the bytes. @throws {RangeError} for invalid bytes. */
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
  if (more > 0)
    throw new RangeError(`invalid number of parts of an entry: ${8 + more} (expected 8)`);
  return entry;
}

/** Both digest chains. `advance` adds an entry. */
export class Digests {
  #log: Uint8Array;
  #state: Uint8Array;

  /** Continues a log with these digests (hex). Default: before entry 0. */
  constructor(logDigest = '00'.repeat(DIGEST_BYTES), digest = '00'.repeat(DIGEST_BYTES)) {
    this.#log = Buffer.from(logDigest, 'hex');
    this.#state = Buffer.from(digest, 'hex');
  }

  /** Digest of the entries, in hex. */
  get logDigest(): string {
    return hexOf(this.#log);
  }

  /** Digest of the entries and their results, in hex. */
  get digest(): string {
    return hexOf(this.#state);
  }

  /**
   * Advances both chains. `results` is the canonical JSON of each event, then of each changed
   * record, in order. Returns the stored entry: both digests after it, then its frame.
   */
  advance(entry: Entry, results: readonly string[]): Uint8Array {
    // Reserves space for the new digests, so that the frame is written once.
    const gap = this.#state;
    const framed = writer.begin(gap, this.#log).parts(entryParts(entry)).view();
    // Buffer.from uses a shared pool, which is cheaper than one ArrayBuffer per entry.
    const stored = Buffer.from(framed);
    this.#log = sha256(stored.subarray(DIGEST_BYTES));
    this.#state = sha256(writer.begin(this.#state, this.#log).parts(results).view());
    stored.set(this.#log, 0);
    stored.set(this.#state, DIGEST_BYTES);
    return stored;
  }
}

/** A stored entry: its frame and the digests stored with it. */
export interface StoredEntry {
  bytes: Uint8Array;
  logDigest: string;
  digest: string;
}

/** Splits a stored entry into its digests and its frame. */
export function splitStored(stored: Uint8Array): StoredEntry {
  return new Stored(stored);
}

/** Converts digests to hex on demand. */
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
