/** Files that are there whole or not at all, whatever kills the process or the machine. */
import { type FileHandle, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../engine/internal.js';

const PART = '.part';

/** @param fill writes to the open file; the name appears when it is done and on the disk. */
export async function writeWhole(
  path: string,
  fill: string | ((file: FileHandle) => Promise<void>),
): Promise<void> {
  const part = `${path}${PART}`;
  try {
    const file = await open(part, 'w');
    try {
      if (typeof fill === 'string') await file.writeFile(fill);
      else await fill(file);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new StoreError('UNREADABLE', `${path} cannot be written: ${why}`, { cause });
  }
}

/** Makes renames in it durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes what a killed process left half written. */
export async function removeParts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith(PART)) await unlink(join(folder, name));
  }
}
