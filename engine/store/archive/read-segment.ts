/**
 * Reads of one segment, checked against what the folder recorded of it: whatever is not as it was
 * written is an {@link ArchiveError}, never wrong data. Reads are synchronous, as LMDB's are: a
 * block unpacks in a tenth of a millisecond.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import type { Segment } from '../segment.js';
import {
  ArchiveError,
  type Block,
  itemHeadBytes,
  type SegmentIndex,
  segmentPath,
  trailerBytes,
} from './segment-file.js';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** @throws {ArchiveError} when the file is missing, of another length, or its index another. */
export function readIndex(folder: string, segment: Segment): SegmentIndex {
  const { bytes, index_bytes } = segment;
  const index = readAt(folder, segment, bytes - trailerBytes - index_bytes, index_bytes);
  if (sha256(index) !== segment.index_sha256) {
    throw damaged(folder, segment, 'is damaged in its index, or another file in its place');
  }
  return JSON.parse(index.toString()) as SegmentIndex;
}

/** The items of a block. @throws {ArchiveError} */
export function readBlock(folder: string, segment: Segment, block: Block): Buffer[] {
  const packed = readAt(folder, segment, block.offset, block.bytes);
  if (sha256(packed) !== block.sha256) {
    const end = block.offset + block.bytes;
    throw damaged(folder, segment, `is damaged between bytes ${block.offset} and ${end}`);
  }
  return itemsOf(inflateRawSync(packed, { maxOutputLength: block.raw_bytes }));
}

function itemsOf(raw: Buffer): Buffer[] {
  const items: Buffer[] = [];
  for (let at = 0; at < raw.length; ) {
    const start = at + itemHeadBytes;
    at = start + raw.readUInt32BE(at);
    items.push(raw.subarray(start, at));
  }
  return items;
}

/** Which file is missing or of another length; null where a look from outside finds nothing. */
export function outerProblem(folder: string, segment: Segment): ArchiveError | null {
  try {
    readAt(folder, segment, 0, 0);
    return null;
  } catch (error) {
    if (error instanceof ArchiveError) return error;
    throw error;
  }
}

/** Opened for each block: nothing stays open that a full table of files could lack. */
function readAt(folder: string, segment: Segment, offset: number, length: number): Buffer {
  const fd = openSegment(folder, segment);
  try {
    const { size } = fstatSync(fd);
    if (size !== segment.bytes) {
      throw damaged(folder, segment, `has ${size} bytes in place of ${segment.bytes}`);
    }
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let done = 0; done < length; ) {
      const got = readSync(fd, bytes, done, length - done, offset + done);
      if (got === 0) throw damaged(folder, segment, 'ends too early');
      done += got;
    }
    return bytes;
  } catch (cause) {
    if (cause instanceof ArchiveError) throw cause;
    throw damaged(folder, segment, `cannot be read (${codeOf(cause)})`, cause);
  } finally {
    closeSync(fd);
  }
}

function openSegment(folder: string, segment: Segment): number {
  try {
    return openSync(segmentPath(folder, segment), 'r');
  } catch (cause) {
    const code = codeOf(cause);
    const what = code === 'ENOENT' ? 'is missing' : `cannot be opened (${code})`;
    throw damaged(folder, segment, what, cause);
  }
}

const codeOf = (cause: unknown) => (cause as NodeJS.ErrnoException).code ?? String(cause);

const damaged = (folder: string, segment: Segment, what: string, cause?: unknown) =>
  new ArchiveError(segmentPath(folder, segment), segment, what, { cause });
