/**
 * Looks at an LMDB data file as plain bytes and compares its header with the file's length, before
 * LMDB maps it: a page missing from a mapped file is SIGBUS, which nothing can catch. Then at the
 * branches of its trees, which is quick and finds much of what would end the process otherwise.
 */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { corrupt, readHeader } from './pages/meta-page.js';
import { checkBranches, checkPages } from './pages/pages.js';
import { assertReachable } from './pages/reach.js';

/** How far a look goes: from the second on, no commit may run meanwhile. */
export type Look = 'header' | 'branches' | 'pages';

/**
 * Checks that a data file is LMDB's and holds every page that its header speaks of.
 * @throws {StoreError} `CORRUPT`, naming the folder.
 */
export function checkDataFile(file: string, look: Look = 'branches'): void {
  const fd = openSync(file, 'r');
  try {
    const header = readHeader(fd, file);
    const fileBytes = fstatSync(fd).size;
    const expectedBytes = (Number(header.lastPage) + 1) * header.pageBytes;
    // LMDB never writes free pages at the end, so a short file is only wrong if it lacks used ones.
    if (fileBytes < expectedBytes) {
      assertReachable(fd, header, fileBytes, () => {
        const text = `it has ${fileBytes} bytes and needs ${expectedBytes}`;
        return corrupt(file, `data was cut off: ${text}`);
      });
    }
    if (look === 'branches') checkBranches(file, fd, header);
    if (look === 'pages') checkPages(file, fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Looks at every page: each is in use or free, all keys are in order. Takes as long as reading the
 * file does. No commit may run meanwhile. Gives the number of pages.
 * @throws {StoreError} `CORRUPT`, naming the page.
 */
export function checkWholeFile(file: string): number {
  const fd = openSync(file, 'r');
  try {
    return checkPages(file, fd);
  } finally {
    closeSync(fd);
  }
}
