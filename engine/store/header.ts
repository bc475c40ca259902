/**
 * Reads the head of an LMDB data file as plain bytes and compares it with the file's length, before
 * LMDB maps it: a page missing from a mapped file is SIGBUS, which nothing can catch.
 *
 * Source of the layout: `MDB_page_header`, `MDB_meta` and `MDB_db` in lmdb 3.5.6,
 * dependencies/lmdb/libraries/liblmdb/mdb.c (data version 2, 64-bit, little-endian), compared with
 * the bytes of files it wrote. Pages 0 and 1 are meta pages; the later transaction's holds.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { assertReachable, type DataHeader } from './reach.js';
import { StoreError } from './store.js';

/** Byte offsets inside a meta page; the page header takes the first 24 bytes. */
const at = {
  pageFlags: 18,
  magic: 24,
  version: 28,
  pageBytes: 48,
  freeRoot: 88,
  mainRoot: 136,
  lastPage: 144,
  transaction: 152,
  end: 160,
} as const;

const metaPageFlag = 0x08;
const magic = 0xbeefc0de;
const dataVersion = 2;

/**
 * Checks that a data file is LMDB's and holds every page that its header speaks of.
 * @throws {StoreError} `CORRUPT`, naming the folder.
 */
export function checkDataFile(file: string): void {
  const fd = openSync(file, 'r');
  try {
    const header = readHeader(fd, file);
    // The length is taken after the header: a writer beside us extends the file first.
    const fileBytes = fstatSync(fd).size;
    const expectedBytes = (Number(header.lastPage) + 1) * header.pageBytes;
    if (fileBytes >= expectedBytes) return;
    // LMDB never writes free pages at the end, so a short file is only wrong if it lacks used ones.
    assertReachable(fd, header, fileBytes, () => {
      const text = `it has ${fileBytes} bytes and needs ${expectedBytes}`;
      return corrupt(file, `data was cut off: ${text}`);
    });
  } finally {
    closeSync(fd);
  }
}

function readHeader(fd: number, file: string): DataHeader {
  const first = readMeta(fd, 0, file);
  const second = readMeta(fd, first.pageBytes, file);
  if (second.pageBytes !== first.pageBytes) throw corrupt(file, 'its two headers disagree');
  return second.transaction > first.transaction ? second : first;
}

function readMeta(fd: number, offset: number, file: string): DataHeader {
  const bytes = Buffer.alloc(at.end);
  if (readSync(fd, bytes, 0, at.end, offset) !== at.end) {
    throw corrupt(file, 'the file ends inside its header');
  }
  const isMeta = (bytes.readUInt16LE(at.pageFlags) & metaPageFlag) !== 0;
  const version = bytes.readUInt32LE(at.version) & 0xffff;
  if (!isMeta || bytes.readUInt32LE(at.magic) !== magic || version !== dataVersion) {
    throw corrupt(file, 'it is not an LMDB data file of version 2');
  }
  const pageBytes = bytes.readUInt32LE(at.pageBytes);
  const isPowerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
  if (pageBytes < 512 || pageBytes > 65_536 || !isPowerOfTwo) {
    throw corrupt(file, `its header gives a page size of ${pageBytes} bytes`);
  }
  return {
    pageBytes,
    lastPage: bytes.readBigUInt64LE(at.lastPage),
    transaction: bytes.readBigUInt64LE(at.transaction),
    roots: [bytes.readBigUInt64LE(at.freeRoot), bytes.readBigUInt64LE(at.mainRoot)],
  };
}

function corrupt(file: string, what: string): StoreError {
  return new StoreError('CORRUPT', `${file}: ${what}; restore the folder from a copy`);
}
