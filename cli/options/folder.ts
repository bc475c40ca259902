/** Opens what a user names: a kept run, a data folder, or a printed log. Readers take no lock. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEMA_VERSION, tables } from '../../engine/protocol/schema/record.js';
import { openLmdbStore } from '../../engine/store/lmdb.js';
import { type Store, StoreError } from '../../engine/store/store.js';

/** The folder of the store in DIR (a server's data folder) or DIR/network (a kept run). */
export function storeFolder(folder: string): string {
  if (!existsSync(folder)) throw new StoreError('PATH_NOT_FOUND', { path: folder });
  const inner = join(folder, 'network');
  return existsSync(inner) ? inner : folder;
}

/** The store in such a folder, read-only; `whole` looks at all of its pages first. */
export function openForReading(folder: string, whole = false): Store {
  const path = storeFolder(folder);
  return openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true, whole });
}

/** Anything else that exists, a pipe included, is read as a printed log. */
export function isFolder(path: string): boolean {
  if (!existsSync(path)) throw new StoreError('PATH_NOT_FOUND', { path });
  return statSync(path).isDirectory();
}
