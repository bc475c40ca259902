/** What a store on disk needs of its databases: the seam between lmdb and this folder. */
import { parseMeta } from './meta.js';
import type { RecordKey, StoreMeta } from './store.js';

/** One ordered database. Values that are text are written as UTF-8 bytes. */
export interface Database<Value> {
  get(key: RecordKey): Value | undefined;
  getRange(options: object): Iterable<{ key: RecordKey; value: Value }>;
  putSync(key: RecordKey, bytes: Uint8Array, options: { append: boolean }): boolean;
  removeSync(key: RecordKey): boolean;
}

/** The databases of one folder. */
export interface Environment {
  folder: string;
  log: Database<Uint8Array>;
  history: Database<string>;
  blobs: Database<Uint8Array>;
  /** Which events came of which entries; outside of every digest. */
  index: Database<Uint8Array>;
  meta: Database<string>;
  /** Records of archived segments, by their first entry. */
  archive: Database<string>;
  tables: ReadonlyMap<string, Database<string>>;
  /** Moves reads to the newest batch; iterations under way keep theirs. */
  refresh(): void;
  /** Runs `write` in a transaction; resolves when it is on disk, rejects when that is unknown. */
  transaction(write: () => void): Promise<void>;
  /** Writes a copy without free pages into an empty folder. */
  copyTo(folder: string): Promise<void>;
  /** Runs between the closing of the data and the release of the writer's lock. */
  beforeRelease?: () => void;
  close(): Promise<void>;
}

/** Key of the one value in the database of that name. */
export const metaKey = 'meta';

/** Stands for a database that a reader does not find, since no writer has made it yet. */
export const emptyDatabase: Database<never> = {
  get: () => undefined,
  getRange: () => [],
  putSync: () => false,
  removeSync: () => false,
};

/** The stored meta, or null in a new folder. @throws {StoreError} `CORRUPT` */
export function readMeta({ folder, meta }: Environment): StoreMeta | null {
  const text = meta.get(metaKey);
  return text === undefined ? null : parseMeta(folder, text);
}

/** Throws for a table that the folder was not opened with: the caller's mistake. */
export function tableOf({ folder, tables }: Environment, name: string): Database<string> {
  const table = tables.get(name);
  if (table === undefined) throw new Error(`${folder}: opened without a table '${name}'`);
  return table;
}
