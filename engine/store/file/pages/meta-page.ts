/**
 * The two meta pages of an LMDB data file, read as plain bytes. A commit writes the one that its
 * number's last bit names, so that the two are neighbours; the later one holds.
 *
 * Source of the layout: `MDB_page_header`, `MDB_meta` and `MDB_db` in lmdb 3.5.6,
 * dependencies/lmdb/libraries/liblmdb/mdb.c (data version 2, 64-bit, little-endian), compared with
 * the bytes of files it wrote.
 */
import { readSync } from 'node:fs';
import { StoreError } from '../../store.js';
import { type Description, describe } from './description.js';

/** Byte offsets inside a meta page; the page header takes the first 24 bytes. */
const at = {
  number: 0,
  pageFlags: 18,
  magic: 24,
  version: 28,
  pageBytes: 48,
  freeFlags: 52,
  free: 48,
  freeRoot: 88,
  mainFlags: 100,
  main: 96,
  mainRoot: 136,
  lastPage: 144,
  transaction: 152,
  end: 160,
} as const;

const metaPageFlag = 0x08;
/** Keys of the tree of free pages are numbers; 0x1000: lmdb did not wait for the disk. */
const freeTreeFlags = [0x08, 0x1008];
const magic = 0xbeefc0de;
const dataVersion = 2;
/** More than a process can map. */
const mostBytes = 2n ** 46n;

/** What the later of the two meta pages says. */
export interface DataHeader {
  pageBytes: number;
  lastPage: bigint;
  transaction: bigint;
  /** Root pages of the tree of free pages and of the main tree; all bits set when empty. */
  roots: readonly [free: bigint, main: bigint];
  trees: { free: Description; main: Description };
}

/** @throws {StoreError} `CORRUPT` when it cannot be one that LMDB wrote. */
export function readHeader(fd: number, file: string): DataHeader {
  const first = readMeta(fd, 0, 0, file);
  const second = readMeta(fd, 1, first.pageBytes, file);
  if (second.pageBytes !== first.pageBytes) throw corrupt(file, 'its two headers disagree');
  const [even, odd] = [first.transaction, second.transaction];
  const areNeighbours = even % 2n === 0n && (odd === even + 1n || odd + 1n === even);
  // New, or a copy without free pages: LMDB gives those an odd number, and an empty first page.
  const isFirst = even === 0n && first.trees.main.root === null && (odd === 0n || odd % 2n === 1n);
  if (!isFirst && !areNeighbours) {
    throw corrupt(file, `its headers are of transactions ${even} and ${odd}`);
  }
  const header = odd > even ? second : first;
  if ((header.lastPage + 1n) * BigInt(header.pageBytes) > mostBytes) {
    throw corrupt(file, `its header speaks of ${header.lastPage} pages`);
  }
  return header;
}

function readMeta(fd: number, number: number, offset: number, file: string): DataHeader {
  const bytes = Buffer.alloc(at.end);
  if (readSync(fd, bytes, 0, at.end, offset) !== at.end) {
    throw corrupt(file, 'the file ends inside its header');
  }
  const isMeta = bytes.readUInt16LE(at.pageFlags) === metaPageFlag;
  if (!isMeta || bytes.readUInt32LE(at.magic) !== magic) {
    throw corrupt(file, 'it is not an LMDB data file');
  }
  if (bytes.readUInt32LE(at.version) !== dataVersion) {
    throw corrupt(file, `it is not an LMDB data file of version ${dataVersion}`);
  }
  const pageBytes = bytes.readUInt32LE(at.pageBytes);
  const isPowerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
  if (pageBytes < 512 || pageBytes > 65_536 || !isPowerOfTwo) {
    throw corrupt(file, `its header gives a page size of ${pageBytes} bytes`);
  }
  const flags = [bytes.readUInt16LE(at.freeFlags), bytes.readUInt16LE(at.mainFlags)];
  if (!freeTreeFlags.includes(flags[0]!) || flags[1] !== 0) {
    throw corrupt(file, `its header has the flags ${flags}`);
  }
  if (Number(bytes.readBigUInt64LE(at.number)) !== number) {
    throw corrupt(file, 'its headers have other numbers');
  }
  return {
    pageBytes,
    lastPage: bytes.readBigUInt64LE(at.lastPage),
    transaction: bytes.readBigUInt64LE(at.transaction),
    roots: [bytes.readBigUInt64LE(at.freeRoot), bytes.readBigUInt64LE(at.mainRoot)],
    trees: {
      free: describe('the tree of free pages', bytes.subarray(at.free)),
      main: describe('the tree of names', bytes.subarray(at.main)),
    },
  };
}

export function corrupt(file: string, what: string): StoreError {
  return new StoreError('CORRUPT', `${file}: ${what}; restore the folder from a copy`);
}
