/** Opens a saved run, a data folder or a printed log. Reading takes no lock. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEMA_VERSION, tables } from '../../engine/protocol/schema/record.js';
import { openLmdbStore } from '../../engine/store/lmdb.js';
import { defineStoreErrors } from '../../engine/store/messages.js';
import type { Store } from '../../engine/store/store.js';
import { hasFile, readJson } from '../../report/folder.js';
import { writeStderr } from '../output/output.js';

export const folderError = defineStoreErrors({
  MISSING: {
    NOT_A_FOLDER:
      'not a folder: {path}; pass a folder created by folkmoot sim --out or folkmoot serve --data',
    PATH_NOT_FOUND: 'path not found: {path}; check the path',
  },
  LOCKED: {
    FOLDER_IN_USE_BY_SERVER:
      'data folder in use: {path}; stop the server, or start it with --archive-after N',
  },
  FULL: {
    NO_ROOM_FOR_ARCHIVE: `too little disk space to archive: {free} bytes free, {needed} needed;
      free disk space and retry`,
  },
});

/**
 * Returns the store folder: DIR for a data folder, DIR/network for a saved run.
 *
 * @throws {StoreError} if the path is missing or a file.
 */
export function storeFolder(folder: string): string {
  if (!isFolder(folder)) throw folderError('NOT_A_FOLDER', { path: folder });
  const inner = join(folder, 'network');
  return existsSync(inner) ? inner : folder;
}

/** Opens the store read-only. With `whole`, checks all pages first. */
export function openForReading(folder: string, whole = false): Store {
  const path = storeFolder(folder);
  return openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true, whole });
}

/**
 * Returns the names that alternatives have in the election data of a saved run, by option; only
 * those that differ. A data folder has none.
 *
 * @throws {StoreError} if the run's summary is unreadable.
 */
export function readOptionLabels(folder: string): Record<string, string> {
  if (!hasFile(folder, 'summary.json')) return {};
  const summary = readJson<{ elections?: Record<string, { labels?: object } | null> } | null>(
    folder,
    'summary.json',
  );
  const labels = Object.values(summary?.elections ?? {}).flatMap((use) =>
    Object.entries(use?.labels ?? {}),
  );
  return Object.fromEntries(labels.filter(([, label]) => typeof label === 'string'));
}

/** Returns false for a printed log (file or pipe). @throws {StoreError} if the path is missing. */
export function isFolder(path: string): boolean {
  if (!existsSync(path)) throw folderError('PATH_NOT_FOUND', { path });
  return statSync(path).isDirectory();
}

/** Warns about each option that names an entry or event after the end of a log. */
export function warnBeyondEnd(
  what: 'entry' | 'event',
  end: number,
  options: Readonly<Record<string, number | undefined>>,
): void {
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined || value <= end) continue;
    writeStderr(`folkmoot: ${option} ${value} is after the end of the log; last ${what}: ${end}`);
  }
}
