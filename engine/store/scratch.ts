/**
 * Temporary records on disk, for a replay whose state does not fit in memory. Nothing is synced.
 * The files are unlinked once open, so they disappear with the process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import type { RecordKey } from '../protocol/schema/record.js';
import type { Database } from './environment.js';
import { bounds, type RangeOptions, type RecordChange } from './store.js';

const anywhere = { append: false };

/** Temporary records on disk. */
export interface Scratch {
  get(table: string, key: RecordKey): string | undefined;
  range(table: string, options?: RangeOptions): Iterable<{ key: RecordKey; json: string }>;
  write(changes: Iterable<RecordChange>): void;
  close(): Promise<void>;
}

/** Opens a scratch database in the system's temporary folder (TMPDIR). */
export function openScratch(tables: readonly string[]): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-scratch-'));
  const root = open<Uint8Array, string>({
    path: folder,
    noSubdir: false,
    overlappingSync: false,
    noSync: true,
    eventTurnBatching: false,
    encoding: 'binary',
    maxDbs: tables.length,
    pageSize: 8192,
  });
  const named = (name: string) =>
    root.openDB(name, { encoding: 'string' }) as unknown as Database<string>;
  const databases = root.transactionSync(
    () => new Map(tables.map((name) => [name, named(name)] as const)),
  );
  if (process.platform !== 'win32') rmSync(folder, { recursive: true });
  const database = (name: string): Database<string> => databases.get(name)!;
  return {
    get: (table, key) => database(table).get(key),
    *range(table, options = {}) {
      const found = database(table).getRange(bounds(options));
      for (const { key, value } of found) yield { key, json: value };
    },
    write(changes) {
      root.transactionSync(() => {
        for (const { table, key, json } of changes) {
          if (json === null) database(table).removeSync(key);
          else database(table).putSync(key, Buffer.from(json), anywhere);
        }
      });
    },
    async close() {
      await root.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
