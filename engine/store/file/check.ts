/** Looks at all pages of a folder's data file, while no writer is at work on them. */
import { join } from 'node:path';
import { prepareFolder } from './folder.js';
import { checkWholeFile } from './header.js';
import { lockFolder } from './lock.js';

/**
 * Gives the number of pages.
 * @throws {StoreError} `CORRUPT` with what is damaged; `LOCKED` where a writer is at work;
 * `MISSING` or `UNREADABLE`.
 */
export function checkStorePages(folder: string): number {
  prepareFolder(folder, { create: false, readOnly: true });
  const release = lockFolder(folder);
  try {
    return checkWholeFile(join(folder, 'data.mdb'));
  } finally {
    release();
  }
}
