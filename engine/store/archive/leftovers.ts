/**
 * What a process that was killed while it archived, or copied its data, left behind. Only what is
 * certainly in LMDB too is removed: files that are not ours, or may be the only copy of something,
 * stay.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../environment.js';
import { copiedName, receivedName } from '../file/replace.js';
import { StoreError } from '../store.js';
import type { Archive } from './archive.js';
import { compactedName } from './compact.js';
import { archiveFolder, rangeOfName } from './segment-file.js';
import { unfinishedName } from './write-segment.js';

/** @throws {StoreError} `UNREADABLE` */
export function removeLeftovers(environment: Environment, archive: Archive): void {
  try {
    remove(environment, archive);
  } catch (cause) {
    const text = `what an unfinished archive left cannot be removed (${String(cause)})`;
    // Without its cause: the folder is the one that was meant, whatever is wrong inside it.
    throw new StoreError('UNREADABLE', `${environment.folder}: ${text}`);
  }
}

function remove(environment: Environment, archive: Archive): void {
  const { folder, log } = environment;
  for (const name of [compactedName, copiedName, receivedName]) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  const path = archiveFolder(folder);
  if (!existsSync(path)) return;
  rmSync(join(path, unfinishedName), { force: true });
  const recorded = new Set(archive.segments.map(({ file }) => file));
  for (const name of readdirSync(path)) {
    const range = recorded.has(name) ? null : rangeOfName(name);
    // Named and not recorded: nothing of it was deleted from the log yet.
    if (range && log.get(range.first) !== undefined && log.get(range.last) !== undefined) {
      rmSync(join(path, name));
    }
  }
}
