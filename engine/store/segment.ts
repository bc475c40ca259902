/**
 * A segment is a file that contains a range of old entries and events. Each read is verified
 * against the record in the folder, so a changed file yields an {@link ArchiveError} and never
 * wrong data. Reads are synchronous, like LMDB's, because unpacking a block takes only 0.1 ms.
 */

import { createHash, type Hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRawSync } from 'node:zlib';
import { limits } from '../protocol/limits.js';
import { type MessageTable, withFix } from '../protocol/messages.js';
import { parseUnique } from '../protocol/repeated-members.js';
import { type Refusal, refuse } from '../protocol/schema/reason.js';
import { excerpt } from '../protocol/text.js';
import { StoreError, storeError } from './messages.js';
import type { Segment, SegmentRange } from './store.js';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Exceeds the index size of any segment that this program writes. */
const MOST_INDEX_BYTES = 64 * 1024 * 1024;
/** A block ends with the item that fills it. No entry or event exceeds the size of two requests. */
const MOST_RAW_BYTES = limits.archiveBlockBytes + 2 * limits.proposalBytes;

/** @throws {ArchiveError} if the file is missing, or its length or index does not match. */
export function readIndex(folder: string, segment: Segment): SegmentIndex {
  const { bytes, index_bytes } = segment;
  // The record can come from an untrusted folder, so the allocation is bounded.
  if (index_bytes < 0 || index_bytes > Math.min(bytes - trailerBytes, MOST_INDEX_BYTES)) {
    throw damaged(folder, segment, `its record gives an index of ${index_bytes} bytes`);
  }
  const index = readAt(folder, segment, bytes - trailerBytes - index_bytes, index_bytes);
  if (sha256(index) !== segment.index_sha256) {
    throw damaged(folder, segment, 'its index has a wrong digest');
  }
  const problem = findIndexProblem(index.toString(), segment);
  if (problem) throw damaged(folder, segment, `its index is invalid, ${problem}`);
  return JSON.parse(index.toString()) as SegmentIndex;
}

/**
 * Compares the folder's record of a segment with the index in the segment file.
 * @param network that the folder holds.
 * @throws {ArchiveError}
 */
export function assertRecord(folder: string, segment: Segment, network: SegmentNetwork): void {
  const { entries, events, ...said } = readIndex(folder, segment);
  const networks = differingNetworks(said, network);
  if (networks !== null) {
    const { found, expected } = networks;
    throw damaged(folder, segment, `it is of another network: ${found} (expected ${expected})`);
  }
  for (const name of rangeNames) {
    if (said[name] === segment[name]) continue;
    const recorded = `${said[name]} instead of ${segment[name]}`;
    throw damaged(folder, segment, `its ${name} is ${recorded}`);
  }
  const blocks = [...entries, ...events];
  const raw = blocks.reduce(
    (sum, { raw_bytes, count }) => sum + raw_bytes - itemHeadBytes * count,
    0,
  );
  if (raw !== segment.raw_bytes) {
    throw damaged(folder, segment, `it unpacks to ${raw} bytes instead of ${segment.raw_bytes}`);
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

/**
 * Reads the head of a segment that the folder does not record. Returns null if the file is not a
 * segment, or is incomplete. @throws system errors.
 */
export function readHead(path: string): SegmentHead | null {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const end = size - trailerBytes;
    if (end < segmentMagic.length) return null;
    const read = (length: number, at: number) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(fd, bytes, 0, length, at));
    };
    const trailer = read(trailerBytes, end);
    const length = Number(trailer.readBigUInt64BE(0));
    if (length > Math.min(end - segmentMagic.length, MOST_INDEX_BYTES)) return null;
    const index = read(length, end - length);
    if (sha256(index) !== trailer.toString('hex', 8)) return null;
    return parseUnique(index.toString()) as SegmentHead;
  } catch (error) {
    // A RangeError comes from a text that is nested too deeply.
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  } finally {
    closeSync(fd);
  }
}

function findIndexProblem(text: string, segment: Segment): string | null {
  let index: Partial<SegmentIndex>;
  try {
    index = parseUnique(text) as Partial<SegmentIndex>;
  } catch {
    return 'not JSON';
  }
  const { first, last, first_event, last_event } = segment;
  return (
    findBlocksProblem(index.entries, [first, last], segment) ??
    findBlocksProblem(index.events, [first_event, last_event], segment)
  );
}

const blockNumbers = ['offset', 'bytes', 'raw_bytes', 'first', 'count'] as const;

/** Checks that blocks cover a range in order, in the file, within the unpacked size limit. */
function findBlocksProblem(
  blocks: readonly Partial<Block>[] | undefined,
  [first, last]: [number, number],
  { bytes }: Segment,
): string | null {
  if (!Array.isArray(blocks)) return 'no list of blocks';
  let next = first;
  for (const block of blocks as Block[]) {
    const isWhole = blockNumbers.every((name) => Number.isSafeInteger(block?.[name]));
    if (!isWhole || block.offset < 0 || block.bytes < 0) return 'a block has an invalid position';
    if (block.offset + block.bytes > bytes) return `block ${block.first} is beyond the file`;
    if (block.first !== next || block.count < 1) return `no block begins with item ${next}`;
    if (block.raw_bytes > MOST_RAW_BYTES)
      return `block ${next} unpacks to ${block.raw_bytes} bytes`;
    next += block.count;
  }
  return next === last + 1 ? null : `blocks end before item ${next} instead of ${last + 1}`;
}

/** Reads and unpacks a block. @throws {ArchiveError} */
export function readBlock(folder: string, segment: Segment, block: Block): Buffer[] {
  const packed = readAt(folder, segment, block.offset, block.bytes);
  if (sha256(packed) !== block.sha256) {
    const end = block.offset + block.bytes;
    throw damaged(folder, segment, `wrong digest of bytes ${block.offset} to ${end}`);
  }
  try {
    return itemsOf(inflateRawSync(packed, { maxOutputLength: block.raw_bytes }), block.count);
  } catch (cause) {
    throw damaged(folder, segment, `cannot unpack the block of item ${block.first}`, cause);
  }
}

/** @throws {RangeError} if the bytes are not exactly `count` items. */
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

/** Returns an error if the file is missing or its length is wrong; otherwise null. */
export function findOuterProblem(folder: string, segment: Segment): ArchiveError | null {
  try {
    readAt(folder, segment, 0, 0);
    return null;
  } catch (error) {
    if (error instanceof ArchiveError) return error;
    throw error;
  }
}

/** Opens the file for each read, so that archived data keeps no file descriptors open. */
function readAt(folder: string, segment: Segment, offset: number, length: number): Buffer {
  const fd = openSegment(folder, segment);
  try {
    const { size } = fstatSync(fd);
    if (size !== segment.bytes) {
      throw damaged(folder, segment, `it has ${size} bytes instead of ${segment.bytes}`);
    }
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let done = 0; done < length; ) {
      const got = readSync(fd, bytes, done, length - done, offset + done);
      if (got === 0) throw damaged(folder, segment, 'truncated');
      done += got;
    }
    return bytes;
  } catch (cause) {
    if (cause instanceof ArchiveError) throw cause;
    throw unreadable(folder, segment, cause);
  } finally {
    closeSync(fd);
  }
}

function openSegment(folder: string, segment: Segment): number {
  try {
    return openSync(segmentPath(folder, segment), 'r');
  } catch (cause) {
    throw unreadable(folder, segment, cause);
  }
}

const damaged = (folder: string, segment: Segment, reason: string, cause?: unknown) =>
  new ArchiveError(segmentPath(folder, segment), segment, 'SEGMENT_DAMAGED', reason, { cause });

function unreadable(folder: string, segment: Segment, cause: unknown): ArchiveError {
  const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
  const problem = code === 'ENOENT' ? 'SEGMENT_MISSING' : 'SEGMENT_UNREADABLE';
  return new ArchiveError(segmentPath(folder, segment), segment, problem, code, { cause });
}

/*
 * File format. Entries and events are compressed in blocks, so that an item can be read without
 * unpacking everything. The record in the folder is enough to detect any change. A file contains,
 * in order:
 *
 *   magic, blocks of entries, blocks of events, index (JSON), length of the index (8 bytes,
 *   big-endian), sha256 of the index (32 bytes)
 *
 * A block is raw DEFLATE of items, each preceded by its length as four bytes, big-endian.
 */

const archiveFolderName = 'archive';
const segmentMagic = Buffer.from('folkmoot segment 1\n');
/** Length and SHA-256 of the index, at the end of the file. */
const trailerBytes = 8 + 32;
/** Length field before each item in a block. */
const itemHeadBytes = 4;

/** Position, items and digest of a compressed block. */
export interface Block {
  offset: number;
  bytes: number;
  raw_bytes: number;
  first: number;
  count: number;
  /** SHA-256 of the compressed bytes, in hex. */
  sha256: string;
}

export interface SegmentNetwork {
  network_id: string;
  /** Log digest of entry 0, in hex. Absent in segments that older versions wrote. */
  genesis_digest?: string;
}

/** Members of an index other than its lists of blocks. */
export interface SegmentHead extends SegmentRange, SegmentNetwork {
  format: 1;
}

/**
 * Compares a segment's network with the network of a folder. Returns both as text if they differ.
 * The first segment of an older version has the genesis digest as `log_digest_before`; its later
 * segments have only the id.
 */
export function differingNetworks(
  { network_id, genesis_digest, first, log_digest_before }: SegmentHead,
  network: SegmentNetwork,
): { found: string; expected: string } | null {
  const genesis = genesis_digest ?? (first === 1 ? log_digest_before : undefined);
  const isSame = genesis === undefined || genesis === network.genesis_digest;
  if (isSame && network_id === network.network_id) return null;
  const found = { network_id, ...(genesis === undefined ? {} : { genesis_digest: genesis }) };
  return { found: formatNetwork(found), expected: formatNetwork(network) };
}

const formatNetwork = ({ network_id, genesis_digest = 'unknown' }: SegmentNetwork): string =>
  `${excerpt(network_id)}, genesis ${excerpt(genesis_digest, 16)}`;

/** The index at the end of a segment. */
export interface SegmentIndex extends SegmentHead {
  entries: Block[];
  events: Block[];
}

const padded = (seq: number) => String(seq).padStart(16, '0');

/** Names sort in log order. */
const segmentFileName = (first: number, last: number) => `${padded(first)}-${padded(last)}.seg`;

const namePattern = /^(\d{16})-(\d{16})\.seg$/;

/** Parses the range of entries from a file name. Returns null if the name is not a segment's. */
export function rangeOfName(name: string): { first: number; last: number } | null {
  const [, first, last] = namePattern.exec(name) ?? [];
  return first === undefined ? null : { first: Number(first), last: Number(last) };
}

export const archiveFolder = (folder: string) => join(folder, archiveFolderName);
export const segmentPath = (folder: string, segment: Pick<Segment, 'file'>) =>
  join(folder, archiveFolderName, segment.file);

const numbers = ['first', 'last', 'first_event', 'last_event', 'bytes', 'index_bytes'] as const;
const texts = ['file', 'sha256', 'index_sha256', 'log_digest', 'digest'] as const;

/** Parses a segment's record. @throws {StoreError} `CORRUPT` */
export function parseSegment(folder: string, text: string): Segment {
  let value: Partial<Segment> | null = null;
  try {
    value = parseUnique(text) as Partial<Segment> | null;
  } catch {
    // Reported below as missing members.
  }
  const wrong =
    numbers.find((name) => !Number.isSafeInteger(value?.[name])) ??
    texts.find((name) => typeof value?.[name] !== 'string');
  // The name becomes part of a path, so only a segment name is accepted.
  if (wrong !== undefined || rangeOfName(value!.file!) === null) {
    throw storeError('SEGMENT_RECORD_DAMAGED', { path: folder, name: wrong ?? 'file' });
  }
  return value as Segment;
}

const restoreSegment = 'restore the file from a backup (sha256 {sha256})';

const segmentMessages = {
  SEGMENT_MISSING: `segment not found: {path} ({range}): {reason}; ${restoreSegment}`,
  SEGMENT_UNREADABLE: `cannot read segment {path} ({range}): {reason}; ${restoreSegment}`,
  SEGMENT_DAMAGED: `segment {path} ({range}) is damaged: {reason}; ${restoreSegment}`,
} as const satisfies MessageTable;

/** An archived segment that cannot be read (`ARCHIVE`). The message names its file and range. */
export class ArchiveError extends StoreError {
  /** @param segment the segment's record. @internal */
  constructor(
    path: string,
    readonly segment: Segment,
    problem: keyof typeof segmentMessages,
    reason: string,
    options?: ErrorOptions,
  ) {
    const { first, last, first_event, last_event, sha256 } = segment;
    const events = last_event < first_event ? '' : `, events ${first_event} to ${last_event}`;
    const range = `entries ${first} to ${last}${events}`;
    const message = withFix(segmentMessages[problem], { path, range, sha256, reason });
    super('ARCHIVE', problem, message, options);
  }
}

/*
 * Writes a segment under a temporary name. Each event-loop turn reads one block of rows; other
 * threads compress and write.
 */

const deflate = promisify(deflateRaw);
/** Higher levels take twice as long and save 1% of the space. */
const level = constants.Z_DEFAULT_COMPRESSION;

export interface Item {
  seq: number;
  bytes: Uint8Array;
}

/** Temporary name of a segment. The next opening removes the file. */
export const unfinishedName = 'unfinished.tmp';

export class SegmentWriter {
  readonly #file: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  #offset = 0;
  #rawBytes = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async begin(folder: string): Promise<SegmentWriter> {
    const file = await open(join(archiveFolder(folder), unfinishedName), 'w', 0o600);
    const writer = new SegmentWriter(file);
    await writer.#append(segmentMagic);
    return writer;
  }

  /** Packs and appends items, one block at a time. */
  async pack(items: Iterator<Item>): Promise<Block[]> {
    const blocks: Block[] = [];
    let packing = nextBlock(items);
    while (packing !== null) {
      const { first, count, raw, packed } = packing;
      // Reads the next block while the current block is compressed.
      const following = nextBlock(items);
      const bytes = await packed;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const raw_bytes = raw.length;
      blocks.push({ offset: this.#offset, bytes: bytes.length, raw_bytes, first, count, sha256 });
      await this.#append(bytes);
      this.#rawBytes += raw_bytes - count * itemHeadBytes;
      packing = following;
    }
    return blocks;
  }

  /** Completes and syncs the file. The file keeps its temporary name. */
  async finish(index: SegmentIndex): Promise<Segment> {
    const { format: _, network_id: __, genesis_digest: ___, ...rest } = index;
    const { entries: ____, events: _____, ...range } = rest;
    const text = Buffer.from(JSON.stringify(index));
    const digest = createHash('sha256').update(text).digest();
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(text.length));
    await this.#append(Buffer.concat([text, length, digest]));
    await this.#file.sync();
    return {
      ...(range satisfies SegmentRange),
      file: segmentFileName(index.first, index.last),
      bytes: this.#offset,
      sha256: this.#hash.digest('hex'),
      index_bytes: text.length,
      index_sha256: digest.toString('hex'),
      raw_bytes: this.#rawBytes,
    };
  }

  /** Closes the file. The next segment or opening replaces an unfinished file. */
  async close(): Promise<void> {
    await this.#file.close();
  }

  async #append(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, done);
      done += bytesWritten;
    }
    this.#offset += bytes.length;
  }
}

interface Packing {
  first: number;
  count: number;
  raw: Buffer;
  packed: Promise<Buffer>;
}

/** Takes items until a block is full. Returns null if no items are left. */
function nextBlock(items: Iterator<Item>): Packing | null {
  const parts: Uint8Array[] = [];
  let first = 0;
  let count = 0;
  let bytes = 0;
  while (bytes < limits.archiveBlockBytes) {
    const { done, value } = items.next();
    if (done) break;
    if (count === 0) first = value.seq;
    const head = Buffer.alloc(itemHeadBytes);
    head.writeUInt32BE(value.bytes.length);
    parts.push(head, value.bytes);
    count += 1;
    bytes += itemHeadBytes + value.bytes.length;
  }
  if (count === 0) return null;
  const raw = Buffer.concat(parts, bytes);
  const packed = deflate(raw, { level });
  // Prevents an unhandled rejection until the promise is awaited.
  packed.catch(() => {});
  return { first, count, raw, packed };
}

/** Returns the refusal for a damaged segment, or null for any other error. */
export function refuseDamagedArchive(error: unknown): Refusal | null {
  if (!(error instanceof ArchiveError)) return null;
  const { first, last, first_event, last_event } = error.segment;
  const details = { first, last, first_event, last_event };
  return refuse('ARCHIVE_DAMAGED', details, { details });
}

/** Yields rows up to the first damaged row. Throws only if the first row is damaged. */
export function* readable<Row>(rows: Iterable<Row>): Generator<Row, void> {
  let any = false;
  try {
    for (const row of rows) {
      yield row;
      any = true;
    }
  } catch (error) {
    if (!any || !(error instanceof ArchiveError)) throw error;
  }
}

/** Returns a function that is true for the first error per segment, to bound the log. */
export function firstOfEach(): (error: unknown) => boolean {
  const reported = new Set<string>();
  return (error) => {
    const file = error instanceof ArchiveError ? error.segment.file : '';
    const isNew = !reported.has(file);
    reported.add(file);
    return isNew;
  };
}
