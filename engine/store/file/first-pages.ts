/**
 * Writes what LMDB would write first in a folder: an empty data file and the file of its locks.
 * lmdb 3.5.6 ends the process natively when anything fails while it opens (no room, no right), and
 * a hole in the file of locks is SIGBUS on a full disk; here every failure has a name.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Bytes of the file of locks for lmdb's 126 readers: `MDB_txninfo` and 125 times `MDB_reader`, as
 * lmdb 3.5.6 makes it. Was it too small, lmdb would make it longer.
 */
const lockBytes = 8272;

/** Both meta pages of an empty database, as `mdb_env_init_meta` writes them (see header.ts). */
export function emptyDataFile(pageBytes: number): Buffer {
  const file = Buffer.alloc(2 * pageBytes);
  for (const number of [0, 1]) {
    const page = file.subarray(number * pageBytes);
    page.writeBigUInt64LE(BigInt(number), 0);
    page.writeUInt16LE(0x08, 18);
    page.writeUInt32LE(0xbeefc0de, 24);
    page.writeUInt32LE(2, 28);
    page.writeBigUInt64LE(0x2_0000n, 40);
    page.writeUInt32LE(pageBytes, 48);
    page.writeUInt16LE(0x08, 52);
    page.fill(0xff, 88, 96);
    page.fill(0xff, 136, 144);
    page.writeBigUInt64LE(1n, 144);
  }
  return file;
}

/** Makes an empty data file that is there wholly or not at all, and stays after a power cut. */
export function makeDataFile(file: string, pageBytes: number): void {
  const unfinished = `${file}.new`;
  const fd = openSync(unfinished, 'w', 0o600);
  try {
    const bytes = emptyDataFile(pageBytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(unfinished, file);
  syncFolder(dirname(file));
}

/**
 * Makes the file of locks as long as lmdb wants it, with bytes in place of a hole. Not where this
 * process has it open: closing it here would end the locks that lmdb has on it.
 */
export function makeLockFile(folder: string): void {
  const file = join(folder, 'lock.mdb');
  const fd = openSync(file, 'a', 0o600);
  try {
    const missing = lockBytes - fstatSync(fd).size;
    if (missing > 0) writeFileSync(fd, Buffer.alloc(missing));
  } finally {
    closeSync(fd);
  }
}

/** Makes the names in a folder outlast a power cut, where folders can be synced. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'EPERM' && code !== 'EISDIR') throw error;
  } finally {
    closeSync(fd);
  }
}

/** Whether a file is missing or holds nothing. */
export function isEmptyFile(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined || found.size === 0;
}
