/** The folder that a run writes to: new or empty at its beginning, its renames on the disk. */
import { existsSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, StoreError } from '../engine/internal.js';

/**
 * Makes the folder. One that holds what will be written is refused: nothing is overwritten.
 * @param names what will be written.
 * @throws {StoreError} `OTHER_NETWORK` then, `UNREADABLE` when it cannot be used.
 */
export async function prepareFolder(folder: string, names: readonly string[]): Promise<void> {
  refuseNetwork(folder);
  try {
    makeFolder(folder);
    const there = await readdir(folder);
    if (!names.some((name) => there.includes(name))) return;
  } catch (cause) {
    const why = (cause as Error).message;
    throw new StoreError('UNREADABLE', `the output folder cannot be used: ${why}`, { cause });
  }
  throw new StoreError(
    'OTHER_NETWORK',
    `${folder} holds a run already; expected a new or empty folder`,
  );
}

/** @throws {StoreError} `OTHER_NETWORK` where a network has its data: nothing is put beside it. */
export function refuseNetwork(folder: string): void {
  if (!existsSync(join(folder, 'data.mdb'))) return;
  const what = `${folder} holds the data of a network`;
  throw new StoreError('OTHER_NETWORK', `${what}; expected a new or empty folder`);
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
