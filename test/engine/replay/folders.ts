/** Copies of a saved run, changed through LMDB, as a forger would do. */

import { join } from 'node:path';
import { type Database, open } from 'lmdb';
import { copyOf } from '../../support/runs.js';

type Key = string | number | (string | number)[];

export interface Stored {
  log: Database<Buffer, Key>;
  events: Database<string, Key>;
  blobs: Database<Buffer, Key>;
  meta: Database<string, Key>;
  records(table: string): Database<string, Key>;
}

/** Copies and changes the run. Removes the copy after the test. */
export async function changed(run: string, change: (stored: Stored) => void): Promise<string> {
  const copy = copyOf(run);
  const root = open<Buffer, Key>({
    path: join(copy, 'network'),
    noSubdir: false,
    encoding: 'binary',
    maxDbs: 64,
    pageSize: 8192,
  });
  const binary = (name: string) => root.openDB<Buffer, Key>(name, { encoding: 'binary' });
  const text = (name: string) => root.openDB<string, Key>(name, { encoding: 'string' });
  change({
    log: binary('log'),
    events: text('events'),
    blobs: binary('blobs'),
    meta: text('meta'),
    records: (table) => text(`records/${table}`),
  });
  await root.close();
  return copy;
}

/** Returns the parts of an entry's frame as text. */
export interface Parts {
  seq: string;
  at: string;
  kind: string;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: string;
}

const names = 'seq at kind public_key target timestamp signature body'.split(' ');
/** Two digests of 32 bytes precede the frame. */
const DIGESTS = 64;

/** Changes the entry and keeps its stored digests. */
export function changeEntry({ log }: Stored, seq: number, change: (parts: Parts) => object): void {
  const stored = Buffer.from(log.get(seq)!);
  const parts: Record<string, string> = {};
  let at = DIGESTS;
  for (const name of names) {
    const length = Number(stored.readBigUInt64BE(at));
    parts[name] = stored.subarray(at + 8, at + 8 + length).toString();
    at += 8 + length;
  }
  const made: Record<string, string> = { ...parts, ...change(parts as unknown as Parts) };
  const framed = names.map((name) => {
    const text = Buffer.from(made[name]!);
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(text.length));
    return Buffer.concat([length, text]);
  });
  log.putSync(seq, Buffer.concat([stored.subarray(0, DIGESTS), ...framed]));
}

export function changeJson(
  database: Database<string, Key>,
  key: Key,
  change: (value: Record<string, unknown>) => Record<string, unknown>,
): void {
  const value = JSON.parse(database.get(key)!) as Record<string, unknown>;
  database.putSync(key, JSON.stringify(change(value)));
}
