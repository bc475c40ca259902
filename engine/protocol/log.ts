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
const SHORT = 24;
const DIGEST_BYTES = 32;
/** A stored entry: log digest, digest, frame. */
const STORED_HEAD = 2 * DIGEST_BYTES;
const BUFFER_BYTES = 64 * 1024;

type Part = string | Uint8Array;

/** Writes frames into a large buffer, which is cheaper than one buffer for each frame. */
class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** View of the same bytes, which writes numbers three times as fast as a Buffer. */
  #numbers = new DataView(this.#buffer.buffer);
  #end = 0;

  /** @param keeps false if a frame is valid only until the next one, so that bytes are reused. */
  constructor(private readonly keeps: boolean) {}

  /** Returns a view of two digests and the frame of the parts after them. */
  write(first: Uint8Array, second: Uint8Array, parts: readonly Part[]): Buffer {
    const begin = this.#begin(parts);
    this.#append(first);
    this.#append(second);
    for (const part of parts) {
      const start = this.#end;
      this.#end += LENGTH_BYTES;
      if (typeof part === 'string') this.#write(part);
      else this.#append(part);
      // No part reaches 4 GiB, so the upper half of the length is zero.
      this.#numbers.setUint32(start, 0);
      this.#numbers.setUint32(start + 4, this.#end - start - LENGTH_BYTES);
    }
    return this.#buffer.subarray(begin, this.#end);
  }

  /** Returns the start of a frame, after which there is room for all of its parts. */
  #begin(parts: readonly Part[]): number {
    let bytes = STORED_HEAD;
    // A UTF-16 unit takes at most three bytes in UTF-8.
    for (const part of parts) {
      bytes += LENGTH_BYTES + (typeof part === 'string' ? 3 * part.length : part.length);
    }
    if (!this.keeps) this.#end = 0;
    if (this.#end + bytes > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(bytes, BUFFER_BYTES));
      this.#numbers = new DataView(this.#buffer.buffer);
      this.#end = 0;
    }
    return this.#end;
  }

  #write(text: string): void {
    if (text.length <= SHORT && this.#writeShort(text)) return;
    this.#end += this.#buffer.write(text, this.#end);
  }

  /** Writes short ASCII texts in a loop, because a native call takes longer for them. */
  #writeShort(text: string): boolean {
    const buffer = this.#buffer;
    const end = this.#end;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return false;
      buffer[end + index] = code;
    }
    this.#end = end + text.length;
    return true;
  }

  #append(bytes: Uint8Array): void {
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
  }
}

const keptFrames = new FrameWriter(true);
const hashedFrames = new FrameWriter(false);
const none = new Uint8Array();

/** Encodes parts as a frame. */
export function frame(parts: readonly Part[]): Uint8Array {
  return Uint8Array.from(hashedFrames.write(none, none, parts));
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

const entryParts = (entry: Entry): Part[] => {
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
    // The first digest is a place for the new log digest.
    const stored = keptFrames.write(this.#state, this.#log, entryParts(entry));
    this.#log = sha256(stored.subarray(DIGEST_BYTES));
    this.#state = sha256(hashedFrames.write(this.#state, this.#log, results));
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
