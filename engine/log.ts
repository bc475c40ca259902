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

export function frame(parts: readonly (string | Uint8Array)[]): Uint8Array {
  let total = 0;
  const lengths = parts.map((part) => {
    const length = typeof part === 'string' ? Buffer.byteLength(part) : part.length;
    total += LENGTH_BYTES + length;
    return length;
  });
  const framed = Buffer.allocUnsafe(total);
  let at = 0;
  for (const [index, part] of parts.entries()) {
    // No part reaches 4 GiB: the upper half of the length is zero.
    framed.writeUInt32BE(0, at);
    framed.writeUInt32BE(lengths[index]!, at + 4);
    at += LENGTH_BYTES;
    if (typeof part === 'string') framed.write(part, at);
    else framed.set(part, at);
    at += lengths[index]!;
  }
  return framed;
}

/** @throws {RangeError} when the bytes are not frames. */
export function unframe(bytes: Uint8Array): Uint8Array[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < view.length; ) {
    const length = Number(view.readBigUInt64BE(at));
    at += LENGTH_BYTES;
    if (at + length > view.length) throw new RangeError('a frame is longer than what follows it');
    parts.push(view.subarray(at, at + length));
    at += length;
  }
  return parts;
}

export function encodeEntry(entry: Entry): Uint8Array {
  const { seq, at, kind, public_key, target, timestamp, signature, body } = entry;
  return frame([`${seq}`, `${at}`, kind, public_key, target, timestamp, signature, body]);
}

/** @throws when the bytes are not those of an entry. */
export function decodeEntry(bytes: Uint8Array): Entry {
  const parts = unframe(bytes);
  if (parts.length !== 8) throw new RangeError(`an entry has 8 parts, found ${parts.length}`);
  const text = parts.slice(0, 7).map((part) => Buffer.from(part).toString());
  const [seq, at, kind, public_key, target, timestamp, signature] = text as [
    string,
    string,
    EntryKind,
    string,
    string,
    string,
    string,
  ];
  const body = Uint8Array.from(parts[7]!);
  return { seq: Number(seq), at: Number(at), kind, public_key, target, timestamp, signature, body };
}

/** The two chains; `advance` moves both by one entry. */
export class Digests {
  #log: Uint8Array;
  #state: Uint8Array;

  constructor(logDigest = '00'.repeat(DIGEST_BYTES), digest = '00'.repeat(DIGEST_BYTES)) {
    this.#log = Buffer.from(logDigest, 'hex');
    this.#state = Buffer.from(digest, 'hex');
  }

  get logDigest(): string {
    return Buffer.from(this.#log).toString('hex');
  }

  get digest(): string {
    return Buffer.from(this.#state).toString('hex');
  }

  /** `results`: the canonical JSON of each event, then of each changed record, in order. */
  advance(entry: Uint8Array, results: readonly string[]): void {
    this.#log = sha256(Buffer.concat([this.#log, entry]));
    this.#state = sha256(Buffer.concat([this.#state, this.#log, frame(results)]));
  }

  /** What is stored of an entry: both digests after it, then its frame. */
  stored(entry: Uint8Array): Uint8Array {
    return Buffer.concat([this.#log, this.#state, entry]);
  }
}

/** A stored entry: its frame, and the digests that were recorded with it. */
export interface StoredEntry {
  bytes: Uint8Array;
  logDigest: string;
  digest: string;
}

export function splitStored(stored: Uint8Array): StoredEntry {
  const hex = (from: number) =>
    Buffer.from(stored.subarray(from, from + DIGEST_BYTES)).toString('hex');
  const bytes = stored.subarray(2 * DIGEST_BYTES);
  return { bytes, logDigest: hex(0), digest: hex(DIGEST_BYTES) };
}
