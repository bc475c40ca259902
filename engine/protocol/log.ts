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
import type { Entry, EntryKind } from './schema/index.js';

const LENGTH_BYTES = 8;
const DIGEST_BYTES = 32;
/** A stored entry: log digest, digest, frame. */
const STORED_HEAD = 2 * DIGEST_BYTES;

/** Writes frames into a buffer that is used again: a vote costs no copies but the one it keeps. */
class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(64 * 1024);
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
      this.#buffer.writeUInt32BE(0, start);
      this.#buffer.writeUInt32BE(this.#end - start - LENGTH_BYTES, start + 4);
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
    this.#end += this.#buffer.write(text, this.#end);
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

/** @throws {RangeError} when the bytes are not frames. */
function unframe(bytes: Uint8Array): Buffer[] {
  const view = viewOf(bytes);
  const parts: Buffer[] = [];
  for (let at = 0; at < view.length; ) {
    const length = Number(view.readBigUInt64BE(at));
    at += LENGTH_BYTES;
    if (at + length > view.length) throw new RangeError('a frame is longer than what follows it');
    parts.push(view.subarray(at, at + length));
    at += length;
  }
  return parts;
}

const entryParts = (entry: Entry): (string | Uint8Array)[] => {
  const { seq, at, kind, public_key, target, timestamp, signature, body } = entry;
  return [`${seq}`, `${at}`, kind, public_key, target, timestamp, signature, body];
};

/** @throws when the bytes are not those of an entry. */
export function decodeEntry(bytes: Uint8Array): Entry {
  const parts = unframe(bytes);
  if (parts.length !== 8) throw new RangeError(`an entry has 8 parts, found ${parts.length}`);
  const text = parts.slice(0, 7).map((part) => part.toString());
  const [seq, at, kind, public_key, target, timestamp, signature] = text as [
    string,
    string,
    EntryKind,
    string,
    string,
    string,
    string,
  ];
  const body = new Uint8Array(parts[7]!);
  return { seq: Number(seq), at: Number(at), kind, public_key, target, timestamp, signature, body };
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
  const hex = (from: number) => hexOf(stored.subarray(from, from + DIGEST_BYTES));
  const bytes = stored.subarray(STORED_HEAD);
  return { bytes, logDigest: hex(0), digest: hex(DIGEST_BYTES) };
}
