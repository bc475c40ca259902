/**
 * Puts another data file in the place of a folder's own, by renaming it: whoever is killed
 * meanwhile leaves one of the two, whole. What is not done yet lies in folders of its own inside.
 */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../crash.js';
import { syncFolder } from './first-pages.js';
import { dataFileName, OWNER_FILE } from './folder.js';
import { openingLock } from './lock-opening.js';

/** A copy of the folder's data that is being made or given away; the next writer removes it. */
export const copiedName = 'copied.tmp';
/** Data of another folder that is to replace this one's; the next writer removes it. */
export const receivedName = 'received.tmp';

/**
 * Whoever calls has the folder's writer lock, and nothing of it open; readers of other processes
 * keep what they have.
 * @param file the new data, whole, on the same file system; it has another name afterwards.
 */
export function replaceData(folder: string, file: string): void {
  chmodSync(file, OWNER_FILE);
  syncFile(file);
  crashPoint('snapshot.checked');
  const opening = openingLock(folder, false);
  try {
    opening.takeSync();
    putInPlace(folder, file);
    crashPoint('snapshot.swapped');
    opening.leave();
  } finally {
    opening.close();
  }
}

/**
 * The file, which is on disk, becomes the folder's data. Whoever still reads keeps the old pair of
 * files; a new lock file knows of no such reader.
 */
export function putInPlace(folder: string, file: string): void {
  rmSync(join(folder, 'lock.mdb'), { force: true });
  renameSync(file, join(folder, dataFileName));
  syncFolder(folder);
}

/** What was written of it is on disk. */
export function syncFile(file: string): void {
  const fd = openSync(file, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
