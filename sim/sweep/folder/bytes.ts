/** Files of a sweep as bytes: looked at and copied in pieces, read whole up to a limit. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../../engine/internal.js';
import { WholeFile } from '../../../report/whole-file.js';

const CHUNK_BYTES = 1_048_576;
/** A million lines of a seal, or the keys of as many cells as a sweep may have, are less. */
const LARGEST_BYTES = 256 * 1_048_576;

/** @throws {StoreError} `CORRUPT` */
export function textOf(path: string): string {
  return reading(path, () => {
    const { size } = statSync(path);
    if (size > LARGEST_BYTES) throw new Error(`it has ${size} bytes, at most ${LARGEST_BYTES}`);
    return readFileSync(path, 'utf8');
  });
}

/** @throws {StoreError} `CORRUPT` */
export function jsonIn(path: string): unknown {
  const text = textOf(path);
  return reading(path, () => JSON.parse(text));
}

/** @throws {StoreError} `CORRUPT` */
export function sha256Of(path: string): string {
  const hash = createHash('sha256');
  for (const chunk of chunksOf(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** @throws {StoreError} `CORRUPT` when it cannot be read, `UNREADABLE` when not written. */
export function copyWhole(name: string, from: string, to: string): void {
  const file = new WholeFile(to, name);
  try {
    for (const chunk of chunksOf(join(from, name))) file.write(chunk);
    file.finish();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

/** Each is valid until the next one. */
function* chunksOf(path: string): Generator<Uint8Array> {
  const file = reading(path, () => openSync(path, 'r'));
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    for (;;) {
      const length = reading(path, () => readSync(file, chunk));
      if (length === 0) return;
      yield chunk.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}

function reading<T>(path: string, what: () => T): T {
  try {
    return what();
  } catch (cause) {
    const why = (cause as Error).message;
    throw new StoreError('CORRUPT', `${path} cannot be read: ${why}`, { cause });
  }
}
