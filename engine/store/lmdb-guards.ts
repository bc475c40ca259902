/**
 * Shares one LMDB environment per data file within this process. LMDB announces its readers to
 * other processes with POSIX locks on `lock.mdb`. POSIX releases all of a process's locks on a file
 * when the process closes any descriptor for that file, and lmdb 3.5.6 closes a descriptor whenever
 * it opens a file that is already open. The next process would then find the lock table unused,
 * reset the table, and overwrite pages that are being read (`MDB_BAD_RSLOT`, or corruption).
 */

import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open, type RootDatabase } from 'lmdb';
import { type Database, type Environment, emptyDatabase, retryInterrupted } from './environment.js';
import { dataFileName, lockFolder, OWNER_FILE, prepareFolder } from './folder.js';
import { checkWholeFile } from './lmdb-pages.js';
import { LmdbWriter, type WriteThread } from './lmdb-writer.js';
import { storeError } from './messages.js';

type Root = RootDatabase<Uint8Array, string>;

type Databases = Pick<
  Environment,
  'log' | 'history' | 'blobs' | 'index' | 'meta' | 'archive' | 'tables'
>;

export interface RootUse {
  root: Root;
  /** Shared by all uses. Its transactions must not overlap. */
  writer: LmdbWriter;
  databases: Databases;
  /** Ends this use. The last use to end closes the environment. Must be called once. */
  leave(): Promise<void>;
}

interface SharedRoot {
  root: Root;
  writer: LmdbWriter;
  readOnly: boolean;
  users: number;
  /** Databases by name. Contains only databases that exist in the file. */
  databases: Map<string, Database<never>>;
}

/**
 * Pages of 4, 8 and 16 KiB were measured to take 1,108, 1,052 and 1,042 bytes on disk per vote,
 * with 520-byte entries in batches of 64. A larger page wastes less, but a small commit rewrites
 * whole pages.
 */
export const PAGE_BYTES = 8192;

/** File mode. The native code reads this option, but lmdb's types omit it. */
const permissions = { permissionsMode: OWNER_FILE };

/** All databases except the tables, with the encoding of their values. */
const ownDatabases = {
  log: 'binary',
  events: 'string',
  blobs: 'binary',
  index: 'binary',
  meta: 'string',
  archive: 'string',
} as const;

/** Keyed by the data file's device and inode: a folder can have several paths or get a new file. */
const shared = new Map<string, SharedRoot>();

/**
 * Opens a folder's data file, or shares the environment that this thread has open. A reader shares
 * the environment of the writer.
 * @throws lmdb's errors.
 */
export function useRoot(folder: string, tables: readonly string[], readOnly: boolean): RootUse {
  const key = keyOf(folder) ?? folder;
  const found = shared.get(key);
  const used = found ?? openRoot(folder, tables.length, readOnly);
  try {
    findDatabases(used, tables);
  } catch (error) {
    // Closing after a failed commit can hang, so closing is left to process exit.
    if (!found && readOnly) void used.root.close();
    throw error;
  }
  used.users += 1;
  shared.set(key, used);
  return {
    root: used.root,
    writer: used.writer,
    databases: databasesOf(used, tables),
    async leave() {
      used.users -= 1;
      if (used.users > 0) return;
      shared.delete(key);
      await used.root.close();
    },
  };
}

/** Returns true if this thread has the folder's data file open. */
export function isOpenHere(folder: string): boolean {
  const key = keyOf(folder);
  return key !== null && shared.has(key);
}

function keyOf(folder: string): string | null {
  const found = statSync(join(folder, dataFileName), { bigint: true, throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : null;
}

function openRoot(folder: string, tables: number, readOnly: boolean): SharedRoot {
  const root = open<Uint8Array, string>({
    ...permissions,
    path: folder,
    // Without this option, lmdb takes a path that contains a dot for a file.
    noSubdir: false,
    overlappingSync: false,
    encoding: 'binary',
    maxDbs: tables + Object.keys(ownDatabases).length,
    pageSize: PAGE_BYTES,
    readOnly,
  });
  const writer = new LmdbWriter(root as unknown as WriteThread);
  return { root, writer, readOnly, users: 0, databases: new Map() };
}

/** Opens all databases at once, because opening a database later would end running iterations. */
function findDatabases(
  { root, readOnly, users, databases }: SharedRoot,
  tables: readonly string[],
) {
  const wanted: [string, 'binary' | 'string'][] = [
    ...Object.entries(ownDatabases),
    ...tables.map((name): [string, 'string'] => [`records/${name}`, 'string']),
  ];
  const missing = wanted.filter(([name]) => !databases.has(name));
  const openAll = () => {
    for (const [name, encoding] of missing) {
      // A reader gets undefined for a database that does not exist, although lmdb's types omit that
      // case.
      const database: unknown = root.openDB(name, { encoding });
      if (database !== undefined) databases.set(name, database as Database<never>);
    }
  };
  if (readOnly) openAll();
  // Uses one transaction, so that all new databases cost one commit.
  else if (users === 0) retryInterrupted(() => root.transactionSync(openAll, 2));
}

function databasesOf({ databases }: SharedRoot, tables: readonly string[]): Databases {
  const named = <Value>(name: string) =>
    (databases.get(name) ?? emptyDatabase) as unknown as Database<Value>;
  return {
    log: named('log'),
    history: named('events'),
    blobs: named('blobs'),
    index: named('index'),
    meta: named('meta'),
    archive: named('archive'),
    tables: new Map(tables.map((name) => [name, named(`records/${name}`)])),
  };
}

/*
 * Trial opening in a child process. lmdb 3.5.6 aborts the process if mapping the file fails, for
 * example in a limited address space (`ulimit -v`).
 */

const program = fileURLToPath(new URL('./try-open-child.js', import.meta.url));

/** Returns true if this process's address space is limited (Linux only). */
function mayLackMemory(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return !/^Max address space +unlimited/m.test(limits);
  } catch {
    return false;
  }
}

/** @throws {StoreError} `UNREADABLE` if the child process dies. */
export function tryOpening(folder: string, tables: readonly string[], readOnly: boolean): void {
  if (!mayLackMemory()) return;
  const asked = JSON.stringify({ folder, tables, readOnly });
  const { status, signal } = spawnSync(process.execPath, [program, asked], { stdio: 'ignore' });
  if (status === 0) return;
  const how = signal ?? `code ${status}`;
  throw storeError('LMDB_CRASHED', { path: folder, how });
}

/**
 * Checks every page in a folder's data file. Returns the number of pages.
 * @throws {StoreError} `CORRUPT`, `LOCKED` while a writer has the folder open, `MISSING` or
 *   `UNREADABLE`.
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
