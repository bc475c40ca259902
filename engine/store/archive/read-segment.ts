/**
 * Reads of one segment, checked against what the folder recorded of it: whatever is not as it was
 * written is an {@link ArchiveError}, never wrong data. Reads are synchronous, as LMDB's are: a
 * block unpacks in a tenth of a millisecond.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import { limits } from '../../protocol/limits.js';
import type { Segment, SegmentRange } from '../segment.js';
import {
  ArchiveError,
  type Block,
  itemHeadBytes,
  type SegmentIndex,
  segmentPath,
  trailerBytes,
} from './segment-file.js';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** More than the index of any segment that this program writes. */
const MOST_INDEX_BYTES = 64 * 1024 * 1024;
/** A block ends with the item that fills it: no entry or event is larger than two requests. */
const MOST_RAW_BYTES = limits.archiveBlockBytes + 2 * limits.proposalBytes;

/** @throws {ArchiveError} when the file is missing, of another length, or its index another. */
export function readIndex(folder: string, segment: Segment): SegmentIndex {
  const { bytes, index_bytes } = segment;
  // A record of another origin may say anything: room for it is made only within bounds.
  if (index_bytes < 0 || index_bytes > Math.min(bytes - trailerBytes, MOST_INDEX_BYTES)) {
    throw damaged(folder, segment, `has an index of ${index_bytes} bytes by its record`);
  }
  const index = readAt(folder, segment, bytes - trailerBytes - index_bytes, index_bytes);
  if (sha256(index) !== segment.index_sha256) {
    throw damaged(folder, segment, 'is damaged in its index, or another file in its place');
  }
  const problem = indexProblem(index.toString(), segment);
  if (problem) throw damaged(folder, segment, `has an index that cannot be used: ${problem}`);
  return JSON.parse(index.toString()) as SegmentIndex;
}

/**
 * Compares the record of a segment, as the folder has it, with what the file says of itself.
 * @throws {ArchiveError}
 */
export function assertRecord(folder: string, segment: Segment): void {
  const { entries, events, ...said } = readIndex(folder, segment);
  for (const name of rangeNames) {
    if (said[name] === segment[name]) continue;
    throw damaged(folder, segment, `has another ${name} than its record: ${said[name]}`);
  }
  const blocks = [...entries, ...events];
  const raw = blocks.reduce(
    (sum, { raw_bytes, count }) => sum + raw_bytes - itemHeadBytes * count,
    0,
  );
  if (raw !== segment.raw_bytes) {
    throw damaged(folder, segment, `has ${raw} bytes unpacked, not ${segment.raw_bytes}`);
  }
}

const rangeNames = [
  'first',
  'last',
  'first_event',
  'last_event',
  'log_digest_before',
  'digest_before',
  'log_digest',
  'digest',
] as const satisfies (keyof SegmentRange)[];

/** Says what an index lacks that blocks are read by; null where it lacks nothing. */
function indexProblem(text: string, segment: Segment): string | null {
  let index: Partial<SegmentIndex>;
  try {
    index = JSON.parse(text) as Partial<SegmentIndex>;
  } catch {
    return 'it is not JSON';
  }
  const { first, last, first_event, last_event } = segment;
  return (
    blocksProblem(index.entries, [first, last], segment) ??
    blocksProblem(index.events, [first_event, last_event], segment)
  );
}

const blockNumbers = ['offset', 'bytes', 'raw_bytes', 'first', 'count'] as const;

/** Blocks must hold all of a range in its order, within the file, and unpack within bounds. */
function blocksProblem(
  blocks: readonly Partial<Block>[] | undefined,
  [first, last]: [number, number],
  { bytes }: Segment,
): string | null {
  if (!Array.isArray(blocks)) return 'it has no list of blocks';
  let next = first;
  for (const block of blocks as Block[]) {
    const isWhole = blockNumbers.every((name) => Number.isSafeInteger(block?.[name]));
    if (!isWhole || block.offset < 0 || block.bytes < 0) return 'a block has no usable place';
    if (block.offset + block.bytes > bytes) return `block ${block.first} is beyond the file`;
    if (block.first !== next || block.count < 1) return `no block begins with item ${next}`;
    if (block.raw_bytes > MOST_RAW_BYTES)
      return `block ${next} unpacks to ${block.raw_bytes} bytes`;
    next += block.count;
  }
  return next === last + 1 ? null : `its blocks end before item ${next}, not ${last + 1}`;
}

/** The items of a block. @throws {ArchiveError} */
export function readBlock(folder: string, segment: Segment, block: Block): Buffer[] {
  const packed = readAt(folder, segment, block.offset, block.bytes);
  if (sha256(packed) !== block.sha256) {
    const end = block.offset + block.bytes;
    throw damaged(folder, segment, `is damaged between bytes ${block.offset} and ${end}`);
  }
  try {
    return itemsOf(inflateRawSync(packed, { maxOutputLength: block.raw_bytes }), block.count);
  } catch (cause) {
    const what = `has a block of items from ${block.first} that cannot be unpacked`;
    throw damaged(folder, segment, what, cause);
  }
}

/** @throws {RangeError} when they are not as many, or not all of the bytes. */
function itemsOf(raw: Buffer, count: number): Buffer[] {
  const items: Buffer[] = [];
  let at = 0;
  while (items.length < count) {
    const start = at + itemHeadBytes;
    at = start + raw.readUInt32BE(at);
    if (at > raw.length) throw new RangeError(`item ${items.length} is cut off`);
    items.push(raw.subarray(start, at));
  }
  if (at !== raw.length) throw new RangeError(`${raw.length - at} bytes follow the last item`);
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
