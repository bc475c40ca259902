/** A log line: an entry as it is printed, one JSON object. Safe in a browser. */
import type { Entry, EntryKind } from '../protocol/schema/index.js';
import { StoreError } from '../store/store.js';

/** An entry with what was recorded beside it. Digests are absent in lines that others made. */
export interface LogLine {
  entry: Entry;
  logDigest: string | undefined;
  digest: string | undefined;
  /** The file of a meme. */
  file: Uint8Array | undefined;
  /** As it lies in a store, both digests included: what is equal as a whole is not taken apart. */
  stored?: Uint8Array;
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

/** @throws {StoreError} `CORRUPT`, naming the line that is not an entry. */
export function parseLine(text: string, where: string): LogLine {
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
