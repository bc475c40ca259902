/**
 * A network kept in one LMDB environment. One transaction makes a batch
 * durable; a reader takes no lock and sees whole batches.
 *
 * Relied on of lmdb 3.5.6: with `overlappingSync: false` a transaction's promise resolves after the
 * flush to disk; a callback that throws does not roll back, so everything is encoded before.
 */
import { limits } from '../../protocol/limits.js';
import { withArchive } from '../archive/with-archive.js';
import { crashPoint } from '../crash.js';
import { type Environment, readMeta } from '../environment.js';
import { noted } from '../exit.js';
import { prepareFolder, readyFolder } from '../file/folder.js';
import { hasWriter, isWriterHere, lockFolder, noteReader } from '../file/lock.js';
import { noOpeningLock, type OpeningLock, openingLock } from '../file/lock-opening.js';
import { assertExpected } from '../meta.js';
import { type Store, StoreError } from '../store.js';
import { createDiskStore } from './disk.js';
import { inTurn } from './in-turn.js';
import { interruptions, isInterruption } from './interrupted.js';
import { isOpenHere, PAGE_BYTES, type Root, type RootUse, useRoot } from './roots.js';
import { tryOpening } from './try-open.js';

/** Options of {@link openLmdbStore}. */
export interface LmdbStoreOptions {
  /** The store's folder; made when missing, unless `create` is false or `readOnly` is set. */
  path: string;
  /** Names of all tables of records. */
  tables: readonly string[];
  /** Newest layout this program reads. */
  schemaVersion: number;
  /** The network that the folder must hold, if it holds one. */
  networkId?: string;
  /** Reads beside a writer; takes no writer lock, and `commit` throws. */
  readOnly?: boolean;
  create?: boolean;
  /** Look at every page of the data first, unless a writer is at work: it takes a second a GB. */
  whole?: boolean;
  /** Free space on the disk below which `commit` refuses. */
  freeSpaceBytes?: number;
}

/**
 * Opens or makes the store in a folder.
 * @throws {StoreError} `MISSING`, `UNREADABLE`, `LOCKED`, `CORRUPT`, `NEWER_SCHEMA`,
 * `OLDER_SCHEMA` or `OTHER_NETWORK`; the folder is then not locked. One process may read beside
 * its own writer, but a writer that comes after a reader of the same process is `LOCKED` too.
 */
export function openLmdbStore(options: LmdbStoreOptions): Store {
  const { path: folder, tables, readOnly = false, create = true } = options;
  const { schemaVersion, networkId, freeSpaceBytes = limits.freeSpaceBytes } = options;
  const { whole = false } = options;
  prepareFolder(folder, { create, readOnly });
  const release = readOnly ? noteReader(folder) : lockFolder(folder);
  let environment: Environment | undefined;
  try {
    environment = openApart(folder, { tables, readOnly, whole }, release);
    const meta = readMeta(environment);
    if (meta !== null) assertExpected(meta, { folder, schemaVersion, networkId });
    const store = createDiskStore(environment, { readOnly, freeSpaceBytes });
    const archived = withArchive(store, environment, readOnly);
    if (!readOnly) crashPoint('store.opened');
    return archived;
  } catch (error) {
    // The environment's own close releases; it is not awaited, so the lock goes first.
    release();
    void environment?.close();
    throw error;
  }
}

/**
 * Writes a copy of a folder's data as of its last commit, without free pages, into an empty folder;
 * the process that writes to it goes on meanwhile. Not for that process itself.
 * @throws {StoreError} `MISSING`, `UNREADABLE` or `CORRUPT`
 * @throws {Error} where LMDB cannot write it.
 */
export async function copyLmdbStore(
  { path: folder, tables }: Pick<LmdbStoreOptions, 'path' | 'tables'>,
  to: string,
): Promise<void> {
  prepareFolder(folder, { create: false, readOnly: true });
  const release = noteReader(folder);
  let environment: Environment | undefined;
  try {
    environment = openApart(folder, { tables, readOnly: true, whole: false }, release);
    await environment.copyTo(to);
  } finally {
    release();
    await environment?.close();
  }
}

/** Opens while no other process commits or opens. */
function openApart(
  folder: string,
  { tables, readOnly, whole }: { tables: readonly string[]; readOnly: boolean; whole: boolean },
  release: () => void,
): Environment {
  // Beside a writer of the same process lmdb opens nothing: it hands over the writer's.
  const opening = readOnly && isWriterHere(folder) ? noOpeningLock : openingLock(folder, readOnly);
  let environment: Environment | undefined;
  try {
    opening.takeSync();
    readyFolder(folder, {
      readOnly,
      pageBytes: PAGE_BYTES,
      look: lookAt(folder, readOnly, whole),
      isOpenHere: isOpenHere(folder),
    });
    tryOpening(folder, tables, readOnly);
    environment = openEnvironment(folder, tables, readOnly, release, opening);
    opening.leave();
    return environment;
  } finally {
    // A reader needs it no more.
    if (readOnly || environment === undefined) opening.close();
  }
}

/** How closely the data is looked at: commits of a writer here would change it meanwhile. */
function lookAt(
  folder: string,
  readOnly: boolean,
  whole: boolean,
): 'header' | 'branches' | 'pages' {
  if (readOnly && isWriterHere(folder)) return 'header';
  return whole && !(readOnly && hasWriter(folder)) ? 'pages' : 'branches';
}

/**
 * Opens and closes LMDB alone, for a child of the process that holds the locks. What it says of the
 * data is left to that process.
 */
export async function tryEnvironment(asked: {
  folder: string;
  tables: readonly string[];
  readOnly: boolean;
}): Promise<void> {
  const { folder, tables, readOnly } = asked;
  try {
    await openEnvironment(folder, tables, readOnly, () => undefined, noOpeningLock).close();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

function openEnvironment(
  folder: string,
  tables: readonly string[],
  readOnly: boolean,
  release: () => void,
  opening: OpeningLock,
): Environment {
  try {
    const use = useRoot(folder, tables, readOnly);
    return { folder, ...use.databases, ...lifecycle(use, release, opening) };
  } catch (cause) {
    const text = `${folder}: LMDB cannot open the data: ${(cause as Error).message}`;
    // Codes of the system are positive, LMDB's own are negative.
    const bySystem = Number((cause as { code?: unknown }).code) > 0;
    throw new StoreError(bySystem ? 'UNREADABLE' : 'CORRUPT', text, { cause });
  }
}

function lifecycle(
  { root, leave }: RootUse,
  release: () => void,
  opening: OpeningLock,
): Pick<Environment, 'refresh' | 'transaction' | 'copyTo' | 'close'> {
  let state: 'open' | 'failed' | 'closed' = 'open';
  return {
    refresh: () => root.resetReadTxn(),
    transaction: inTurn(async (write) => {
      if (!opening.tryTake()) await opening.take();
      try {
        for (let left = interruptions; !(await done(root, write, left)); ) left -= 1;
      } catch (error) {
        state = 'failed';
        throw error;
      } finally {
        opening.leave();
      }
    }),
    copyTo: (folder) => root.backup(folder, true),
    async close(this: Environment) {
      // Closing after a failed commit may never return: the process's end does it.
      if (state !== 'open') return;
      state = 'closed';
      try {
        // Nobody may open one of two files while both are replaced.
        if (this.beforeRelease && !opening.tryTake()) await opening.take();
        await leave();
        this.beforeRelease?.();
      } finally {
        opening.close();
        release();
      }
    },
  };
}

/** False for a transaction that was interrupted and may be tried again. */
async function done(root: Root, write: () => void, triesLeft: number): Promise<boolean> {
  try {
    const begin = () =>
      root.transaction(() => {
        write();
      });
    await noted(begin);
    return true;
  } catch (error) {
    // lmdb rejects a second promise with the cause; unhandled, it would end the process first.
    const { commitError } = error as { commitError?: Promise<never> };
    const cause = await Promise.race([commitError, undefined]).then(
      () => error,
      (reason: unknown) => reason,
    );
    if (triesLeft === 0 || !isInterruption(cause)) throw cause;
    return false;
  }
}
