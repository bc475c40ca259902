/**
 * Writes a segment beside those that are there: under a name of its own until all of it is on disk.
 * A turn of the event loop reads one block's worth; other threads compress and write it.
 */
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, deflateRaw } from 'node:zlib';
import { limits } from '../../protocol/limits.js';
import type { Segment, SegmentRange } from '../segment.js';
import {
  archiveFolder,
  type Block,
  itemHeadBytes,
  type SegmentIndex,
  segmentFileName,
  segmentMagic,
} from './segment-file.js';

const deflate = promisify(deflateRaw);
/** More costs twice the time for a hundredth of the room. */
const level = constants.Z_DEFAULT_COMPRESSION;

export interface Item {
  seq: number;
  bytes: Uint8Array;
}

/** The name of a segment that is being written; a new opening removes what was left of one. */
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

  /** Reads items a block at a time, packs and appends them. */
  async pack(items: Iterator<Item>): Promise<Block[]> {
    const blocks: Block[] = [];
    let packing = nextBlock(items);
    while (packing !== null) {
      const { first, count, raw, packed } = packing;
      // The next is read while this one is packed.
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

  /** Ends the file and makes it durable; it still has the name of something unfinished. */
  async finish(index: SegmentIndex): Promise<Segment> {
    const { format: _, network_id: __, entries: ___, events: ____, ...range } = index;
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

  /** Also gives up what is not finished: the next segment or opening replaces it. */
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

/** At least one item, and more until a block is full. */
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
  // Awaited later: until then a failure is nobody's.
  packed.catch(() => {});
  return { first, count, raw, packed };
}
