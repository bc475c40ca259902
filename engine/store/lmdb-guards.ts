/**
 * LMDB's environments, one for each data file however often this process opens it. LMDB tells other
 * processes that it reads by locks on `lock.mdb`, and POSIX drops all locks of a process on a file
 * as soon as it closes any descriptor of that file. lmdb 3.5.6 closes one each time it opens a file
 * that it has open already: the next process to open the folder would take the lock table for
 * nobody's, begin it anew and let pages be written over that are being read (`MDB_BAD_RSLOT`, and
 * worse).
 */

import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open, type RootDatabase } from 'lmdb';
import { type Database, type Environment, emptyDatabase, retryInterrupted } from './environment.js';
import { dataFileName, lockFolder, OWNER_FILE, prepareFolder } from './folder.js';
import { checkWholeFile } from './lmdb-pages.js';
import { StoreError } from './store.js';

export type Root = RootDatabase<Uint8Array, string>;

type Databases = Pick<
  Environment,
  'log' | 'history' | 'blobs' | 'index' | 'meta' | 'archive' | 'tables'
>;

/** One user of a file's environment. */
export interface RootUse {
  root: Root;
  databases: Databases;
  /** Ends this use, and with the last one the environment. Once only. */
  leave(): Promise<void>;
}

interface SharedRoot {
  root: Root;
  readOnly: boolean;
  users: number;
  /** By name; missing is what the file did not have when it was looked for. */
  databases: Map<string, Database<never>>;
}

/**
 * Of 4, 8 and 16 KiB: appended entries of 520 bytes leave less of a larger page empty (1,108, 1,052
 * and 1,042 bytes of disk a vote, in batches of 64), but each small commit rewrites whole pages.
 */
export const PAGE_BYTES = 8192;

/** Of its files. The native part reads this option; lmdb's types do not know it. */
const permissions = { permissionsMode: OWNER_FILE };

/** Those besides the tables, with how their values are read. */
const ownDatabases = {
  log: 'binary',
  events: 'string',
  blobs: 'binary',
  index: 'binary',
  meta: 'string',
  archive: 'string',
} as const;

/** By device and inode of the data file: a folder may have several paths, and a new file. */
const shared = new Map<string, SharedRoot>();

/**
 * Opens a folder's data file, or joins who has it open in this thread: a reader beside the writer
 * reads by the writer's environment.
 * @throws what lmdb throws.
 */
export function useRoot(folder: string, tables: readonly string[], readOnly: boolean): RootUse {
  const key = keyOf(folder) ?? folder;
  const found = shared.get(key);
  const used = found ?? openRoot(folder, tables.length, readOnly);
  try {
    findDatabases(used, tables);
  } catch (error) {
    // Closing after a failed commit may never return: the process's end does it.
    if (!found && readOnly) void used.root.close();
    throw error;
  }
  used.users += 1;
  shared.set(key, used);
  return {
    root: used.root,
    databases: databasesOf(used, tables),
    async leave() {
      used.users -= 1;
      if (used.users > 0) return;
      shared.delete(key);
      await used.root.close();
    },
  };
}

/** Whether this thread has a folder's data file open. */
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
    // lmdb takes a path with a dot in it for a file otherwise.
    noSubdir: false,
    overlappingSync: false,
    // A turn's batch is a second promise that rejects, unseen, when a commit fails.
    eventTurnBatching: false,
    encoding: 'binary',
    maxDbs: tables + Object.keys(ownDatabases).length,
    pageSize: PAGE_BYTES,
    readOnly,
  });
  return { root, readOnly, users: 0, databases: new Map() };
}

/** All at once: opening a database later would end the iterations that are under way. */
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
      // A reader gets undefined for what no writer has made yet; lmdb's types do not say so.
      const database: unknown = root.openDB(name, { encoding });
      if (database !== undefined) databases.set(name, database as Database<never>);
    }
  };
  // Beside the writer there is what the writer made.
  if (readOnly) openAll();
  // Inside a transaction all new databases cost one commit.
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
 * Opens a folder in a child process first where lmdb may end the process that opens it: lmdb 3.5.6
 * does not survive a mapping that fails, as where the address space is limited (`ulimit -v`).
 */

const program = fileURLToPath(new URL('./try-open-child.js', import.meta.url));

/** Whether this process has a limit on its address space, as far as its system says. */
function mayLackMemory(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return !/^Max address space +unlimited/m.test(limits);
  } catch {
    return false;
  }
}

/** @throws {StoreError} `UNREADABLE` when the child dies of it. */
export function tryOpening(folder: string, tables: readonly string[], readOnly: boolean): void {
  if (!mayLackMemory()) return;
  const asked = JSON.stringify({ folder, tables, readOnly });
  const { status, signal } = spawnSync(process.execPath, [program, asked], { stdio: 'ignore' });
  if (status === 0) return;
  const how = signal ?? `code ${status}`;
  throw new StoreError(
    'UNREADABLE',
    `${folder}: LMDB ends its process (${how}) when it opens the data: no memory to map it under ` +
      'the limit on the address space (ulimit -v), or damage: folkmoot check tells',
  );
}

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
