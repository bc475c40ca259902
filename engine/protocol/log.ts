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
import type { Entry, EntryKind, NewEntry } from './schema/entry.js';

const LENGTH_BYTES = 8;
const DIGEST_BYTES = 32;
/** A stored entry: log digest, digest, frame. */
const STORED_HEAD = 2 * DIGEST_BYTES;
const BUFFER_BYTES = 64 * 1024;

type Part = string | Uint8Array;

let lastTime = { at: 0, text: '0' };

/** Formats an integer above 2^31, which takes three times as long as a smaller one. */
function formatTime(at: number): string {
  if (at !== lastTime.at) lastTime = { at, text: `${at}` };
  return lastTime.text;
}

/** Stands for the length of a text until the length is known. */
const GAP = '\0'.repeat(LENGTH_BYTES);

/** Writes frames into a large buffer, which is cheaper than one buffer for each frame. */
class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** View of the same bytes, which writes numbers three times as fast as a Buffer. */
  #numbers = new DataView(this.#buffer.buffer);
  #end = 0;

  /** @param keeps false if a frame is valid only until the next one, so that bytes are reused. */
  constructor(private readonly keeps: boolean) {}

  /** Returns a view of two digests and the frame of the parts after them. */
  write(first: Uint8Array, second: Uint8Array, parts: readonly Part[]): Uint8Array {
    const begin = this.#begin(first, second, parts);
    for (const part of parts) this.#append(part);
    return this.#since(begin);
  }

  /**
   * Returns what `write` returns for an entry. Writes ASCII texts in one native call, because a
   * call takes as long as 300 bytes. Results are written one by one instead: writing a text makes
   * it flat for its later readers.
   */
  writeEntry(first: Uint8Array, second: Uint8Array, entry: NewEntry): Uint8Array {
    const { seq, kind, public_key, target, timestamp, signature, body } = entry;
    const number = `${seq}`;
    const at = formatTime(entry.at);
    const parts = [number, at, kind, public_key, target, timestamp, signature, body];
    const begin = this.#begin(first, second, parts);
    // One expression: V8 writes such a text faster than one that a loop puts together.
    const head = `${GAP}${number}${GAP}${at}${GAP}${kind}${GAP}${public_key}${GAP}${target}`;
    const texts = `${head}${GAP}${timestamp}${GAP}${signature}`;
    const all = typeof body === 'string' ? `${texts}${GAP}${body}` : texts;
    const isAscii = this.#buffer.write(all, this.#end) === all.length;
    for (const part of parts) {
      if (isAscii && typeof part === 'string') this.#measure(part.length);
      else this.#append(part);
    }
    return this.#since(begin);
  }

  #since(begin: number): Uint8Array {
    return new Uint8Array(this.#buffer.buffer, begin, this.#end - begin);
  }

  /** Makes room for a frame and writes the digests before it. Returns the start. */
  #begin(first: Uint8Array, second: Uint8Array, parts: readonly Part[]): number {
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
    const begin = this.#end;
    this.#buffer.set(first, begin);
    this.#buffer.set(second, begin + first.length);
    this.#end = begin + first.length + second.length;
    return begin;
  }

  #append(part: Part): void {
    const start = this.#end + LENGTH_BYTES;
    if (typeof part === 'string') this.#measure(this.#buffer.write(part, start));
    else {
      this.#buffer.set(part, start);
      this.#measure(part.length);
    }
  }

  /** Writes the length of the next part, and passes it. */
  #measure(length: number): void {
    // No part reaches 4 GiB, so the upper half of the length is zero.
    this.#numbers.setUint32(this.#end, 0);
    this.#numbers.setUint32(this.#end + 4, length);
    this.#end += LENGTH_BYTES + length;
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
  advance(entry: NewEntry, results: readonly string[]): Uint8Array {
    // The first digest is a place for the new log digest.
    const stored = keptFrames.writeEntry(this.#state, this.#log, entry);
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
