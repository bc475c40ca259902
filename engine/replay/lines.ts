/** Sources of log lines: a store or a file. */
import { createReadStream } from 'node:fs';
import { decodeEntry, type StoredEntry, splitStored } from '../protocol/log.js';
import type { Entry } from '../protocol/schema/entry.js';
import { lowerAscii } from '../protocol/text.js';
import type { Store } from '../store/store.js';
import { type LogLine, parseLine, replayError } from './recompute.js';

/** Yields lines from a stored log, both ends inclusive. */
export function* storedLines(
  store: Pick<Store, 'entries' | 'blob'>,
  from: number,
  to: number,
): Iterable<LogLine> {
  for (const { seq, bytes } of store.entries(from, to)) {
    yield storedLine(store, seq, bytes);
  }
}

function storedLine(store: Pick<Store, 'blob'>, seq: number, stored: Uint8Array): LogLine {
  const parts = splitStored(stored);
  let entry: Entry;
  try {
    entry = decodeEntry(parts.bytes);
  } catch (cause) {
    throw replayError('ENTRY_UNDECODABLE', { seq, reason: String(cause) }, { cause });
  }
  const file = entry.kind === 'meme' ? store.blob(contentHash(entry)) : undefined;
  return new StoredLine(entry, file, stored, parts);
}

/** A log line that converts its digests to hex on demand. */
class StoredLine implements LogLine {
  readonly #parts: StoredEntry;

  constructor(
    readonly entry: Entry,
    readonly file: Uint8Array | undefined,
    readonly stored: Uint8Array,
    parts: StoredEntry,
  ) {
    this.#parts = parts;
  }

  get logDigest(): string {
    return this.#parts.logDigest;
  }

  get digest(): string {
    return this.#parts.digest;
  }
}

function contentHash({ body }: Entry): string {
  try {
    const form = JSON.parse(Buffer.from(body).toString()) as { content_sha256?: unknown };
    return lowerAscii(String(form.content_sha256));
  } catch {
    return '';
  }
}

/**
 * Yields the log lines in an NDJSON file written by `folkmoot log`.
 *
 * @throws {StoreError} `CORRUPT` with the number of the invalid line.
 */
export async function* fileLines(path: string): AsyncIterable<LogLine> {
  let number = 0;
  for await (const text of splitLines(createReadStream(path))) {
    number += 1;
    if (!/^[\t\r ]*$/.test(text)) yield parseLine(text, `${path} line ${number}`);
  }
}

/** Limits for a verification batch, below the capacity of the verifier's queue. */
const CHUNK = 1_024;
const CHUNK_BYTES = 4 * 1024 * 1024;

/** Yields lines up to entry `to`, in batches that can be verified together. */
export async function* toChunks(
  lines: Iterable<LogLine> | AsyncIterable<LogLine>,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<LogLine[]> {
  let chunk: LogLine[] = [];
  let bytes = 0;
  try {
    reading: for await (const ready of readyOf(lines)) {
      for (const line of ready) {
        if (line.entry.seq > to) break reading;
        chunk.push(line);
        bytes += line.entry.body.length;
        if (chunk.length < CHUNK && bytes < CHUNK_BYTES) continue;
        yield chunk;
        chunk = [];
        bytes = 0;
      }
    }
  } catch (error) {
    // The lines before the unreadable line can still be checked.
    if (chunk.length > 0) yield chunk;
    throw error;
  }
  if (chunk.length > 0) yield chunk;
}

/** Groups lines that are available without waiting. */
async function* readyOf(
  lines: Iterable<LogLine> | AsyncIterable<LogLine>,
): AsyncGenerator<Iterable<LogLine>> {
  if (Symbol.iterator in lines) yield lines;
  else for await (const line of lines) yield [line];
}

/*
 * Splits a byte stream into lines at LF only. node:readline also splits at CR and, in newer
 * versions, at characters that are valid in JSON strings.
 */

/** Length limit of a line. No entry with its results reaches this length. */
const MOST_CHARACTERS = 64 * 1_048_576;

/**
 * Yields the lines in a UTF-8 stream. The last line needs no LF. Invalid UTF-8 becomes U+FFFD.
 *
 * @throws {StoreError} `CORRUPT` for a line of more than 64 Mi characters.
 */
export async function* splitLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    // Only the new chunk is searched, so that a long line takes linear time.
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    if (rest.length > MOST_CHARACTERS) {
      throw replayError('LINE_TOO_LONG', { most: MOST_CHARACTERS });
    }
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
