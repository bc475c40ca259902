/**
 * A segment: a file that holds a run of entries and of events, compressed in blocks, so that one
 * of them is read without unpacking the rest. What its folder records of it is enough to notice
 * any change of it. The file, in order:
 *
 *   magic, blocks of entries, blocks of events, index (JSON), length of the index (8 bytes,
 *   big-endian), sha256 of the index (32 bytes)
 *
 * A block is raw DEFLATE of items, each preceded by its length as four bytes, big-endian.
 */
import { join } from 'node:path';
import type { Segment, SegmentRange } from '../segment.js';
import { StoreError } from '../store.js';

/** Where segments lie in a store's folder. */
export const archiveFolderName = 'archive';
export const segmentMagic = Buffer.from('folkmoot segment 1\n');
/** Length and sha256 of the index, at the end of the file. */
export const trailerBytes = 8 + 32;
/** Ahead of each item in a block. */
export const itemHeadBytes = 4;

/** One compressed block: where it lies, which items it holds, and its digest. */
export interface Block {
  offset: number;
  bytes: number;
  raw_bytes: number;
  first: number;
  count: number;
  /** Hex, of the compressed bytes. */
  sha256: string;
}

/** The index at the end of a segment. */
export interface SegmentIndex extends SegmentRange {
  format: 1;
  network_id: string;
  entries: Block[];
  events: Block[];
}

const padded = (seq: number) => String(seq).padStart(16, '0');

/** So named that a listing is in the order of the log. */
export const segmentFileName = (first: number, last: number) =>
  `${padded(first)}-${padded(last)}.seg`;

const namePattern = /^(\d{16})-(\d{16})\.seg$/;

/** The entries that a file's name speaks of, or null. */
export function rangeOfName(name: string): { first: number; last: number } | null {
  const [, first, last] = namePattern.exec(name) ?? [];
  return first === undefined ? null : { first: Number(first), last: Number(last) };
}

export const archiveFolder = (folder: string) => join(folder, archiveFolderName);
export const segmentPath = (folder: string, segment: Pick<Segment, 'file'>) =>
  join(folder, archiveFolderName, segment.file);

const numbers = ['first', 'last', 'first_event', 'last_event', 'bytes', 'index_bytes'] as const;
const texts = ['file', 'sha256', 'index_sha256', 'log_digest', 'digest'] as const;

/** The record of a segment. @throws {StoreError} `CORRUPT` */
export function parseSegment(folder: string, text: string): Segment {
  let value: Partial<Segment> | null = null;
  try {
    value = JSON.parse(text) as Partial<Segment> | null;
  } catch {
    // Told below, as what lacks members.
  }
  const wrong =
    numbers.find((name) => !Number.isSafeInteger(value?.[name])) ??
    texts.find((name) => typeof value?.[name] !== 'string');
  // The name becomes a path: nothing but a segment's own may.
  if (wrong !== undefined || rangeOfName(value!.file!) === null) {
    const text = `the record of an archived segment has no usable ${wrong ?? 'file'}`;
    throw new StoreError('CORRUPT', `${folder}: ${text}; restore the folder from a copy`);
  }
  return value as Segment;
}

/** `ARCHIVE`: a part of the past that cannot be read: where it should be, and what it holds. */
export class ArchiveError extends StoreError {
  /**
   * @param segment which part of the past it is.
   *
   * @internal
   */
  constructor(
    path: string,
    readonly segment: Segment,
    what: string,
    options?: ErrorOptions,
  ) {
    const { first, last, first_event, last_event, sha256 } = segment;
    const events = last_event < first_event ? '' : `, events ${first_event} to ${last_event}`;
    const held = `the segment of entries ${first} to ${last}${events}`;
    const advice = `put the file back from a copy (sha256 ${sha256})`;
    super('ARCHIVE', `${path}: ${held} ${what}; ${advice}`, options);
  }
}
