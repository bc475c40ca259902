/** Log lines: entries as they are printed, one JSON object a line, and where they are read from. */
import { createReadStream } from 'node:fs';
import { decodeEntry, splitStored } from '../protocol/log.js';
import type { Entry, EntryKind } from '../protocol/schema/index.js';
import { lowerAscii } from '../protocol/unicode/unicode.js';
import { type Store, StoreError } from '../store/index.js';
import { splitLines } from './split-lines.js';

/** An entry with what was recorded beside it. Digests are absent in lines that others made. */
export interface LogLine {
  entry: Entry;
  logDigest: string | undefined;
  digest: string | undefined;
  /** The file of a meme. */
  file: Uint8Array | undefined;
}

/** The JSON of one line. `body` and `file` are text and base64. */
export interface PrintedLine {
  seq: number;
  at: number;
  kind: EntryKind;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: string;
  log_digest?: string;
  digest?: string;
  /** base64. */
  file?: string;
}

/** Lines of a stored log, both ends inclusive. */
export function* storedLines(store: Store, from: number, to: number): Iterable<LogLine> {
  for (const { seq, bytes } of store.entries(from, to)) {
    yield storedLine(store, seq, bytes);
  }
}

function storedLine(store: Store, seq: number, stored: Uint8Array): LogLine {
  const { bytes, logDigest, digest } = splitStored(stored);
  let entry: Entry;
  try {
    entry = decodeEntry(bytes);
  } catch (cause) {
    throw new StoreError('CORRUPT', `entry ${seq} cannot be read: ${String(cause)}`, { cause });
  }
  const file = entry.kind === 'meme' ? store.blob(contentHash(entry)) : undefined;
  return { entry, logDigest, digest, file };
}

function contentHash({ body }: Entry): string {
  try {
    const form = JSON.parse(Buffer.from(body).toString()) as { content_sha256?: unknown };
    return lowerAscii(String(form.content_sha256));
  } catch {
    return '';
  }
}

/** A log line as the JSON object that the command `log` prints. */
export function printLine({ entry, logDigest, digest, file }: LogLine): PrintedLine {
  return {
    ...entry,
    body: Buffer.from(entry.body).toString(),
    ...(logDigest === undefined ? {} : { log_digest: logDigest }),
    ...(digest === undefined ? {} : { digest }),
    ...(file ? { file: Buffer.from(file).toString('base64') } : {}),
  };
}

/**
 * The log lines of a file that the command `log` printed, NDJSON.
 *
 * @throws {StoreError} `CORRUPT`, naming the line that is not an entry.
 */
export async function* fileLines(path: string): AsyncIterable<LogLine> {
  let number = 0;
  for await (const text of splitLines(createReadStream(path))) {
    number += 1;
    if (!/^[\t\r ]*$/.test(text)) yield parseLine(text, `${path} line ${number}`);
  }
}

function parseLine(text: string, where: string): LogLine {
  let line: PrintedLine;
  try {
    line = JSON.parse(text) as PrintedLine;
  } catch {
    throw new StoreError('CORRUPT', `${where} is not JSON; expected what the command log prints`);
  }
  if (typeof line !== 'object' || line === null) {
    throw new StoreError('CORRUPT', `${where} is not a JSON object`);
  }
  const { body, file, log_digest, digest } = line;
  if (file !== undefined && typeof file !== 'string') {
    throw new StoreError('CORRUPT', `${where} has a member file that is not text`);
  }
  for (const member of [
    'kind',
    'public_key',
    'target',
    'timestamp',
    'signature',
    'body',
  ] as const) {
    if (typeof line[member] !== 'string') {
      throw new StoreError('CORRUPT', `${where} has no text member ${member}`);
    }
  }
  const { seq, at, kind, public_key, target, timestamp, signature } = line;
  if (!Number.isSafeInteger(seq) || !Number.isSafeInteger(at)) {
    throw new StoreError('CORRUPT', `${where} has no integer members seq and at`);
  }
  return {
    entry: { seq, at, kind, public_key, target, timestamp, signature, body: Buffer.from(body) },
    logDigest: log_digest,
    digest,
    file: file === undefined ? undefined : Buffer.from(file, 'base64'),
  };
}
