/**
 * Records on disk that nobody needs afterwards: what outgrows memory while a log is replayed. Never
 * synced; its files have no names once it is open, and are gone when the process is.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database as LmdbDatabase, open, type RootDatabase } from 'lmdb';
import type { RecordKey } from '../protocol/schema/record.js';
import type { Database } from './environment.js';
import { bounds, type RangeOptions, type RecordChange } from './store.js';

const anywhere = { append: false };

/** Records on disk that are gone when the process is. */
export interface Scratch {
  get(table: string, key: RecordKey): string | undefined;
  range(table: string, options?: RangeOptions): Iterable<{ key: RecordKey; json: string }>;
  write(changes: Iterable<RecordChange>): void;
  close(): Promise<void>;
}

/** In the system's folder for temporary files (TMPDIR). */
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

/*
 * One quota that several processes use: in memory that they share by LMDB, in a folder that nothing
 * of has to be kept. Exact: a use is granted where the one a quota before it is a window ago.
 */

/** How often whoever has used nothing lately is forgotten: memory follows the active, not all. */
const SWEEP_MS = 10_000;

export interface SharedQuotaOptions {
  /** Exists; the same for all. */
  folder: string;
  /** How much is granted in a window. */
  quota: number;
  windowMs: number;
}

/** Its subjects are whom it is counted for; times are those of one clock, whoever tells them. */
export class SharedQuota {
  readonly #root: RootDatabase;
  /** How often each subject used it. */
  readonly #used: LmdbDatabase<number, string>;
  /** When it did, of the last times: by subject, and number of the use modulo the quota. */
  readonly #times: LmdbDatabase<number, [string, number]>;
  readonly #quota: number;
  readonly #windowMs: number;
  #sweepAt = 0;

  constructor({ folder, quota, windowMs }: SharedQuotaOptions) {
    this.#root = open({ path: `${folder}/quota.mdb`, noSync: true });
    this.#used = this.#root.openDB({ name: 'used' });
    this.#times = this.#root.openDB({ name: 'times' });
    this.#quota = quota;
    this.#windowMs = windowMs;
  }

  /** Uses it once if that is left. */
  take(subject: string, nowMs: number): boolean {
    this.#sweep(nowMs);
    return this.#root.transactionSync(() => {
      const used = this.#used.get(subject) ?? 0;
      const slot: [string, number] = [subject, used % this.#quota];
      if (!this.#isForgotten(this.#times.get(slot), nowMs)) return false;
      this.#times.putSync(slot, nowMs);
      this.#used.putSync(subject, used + 1);
      return true;
    });
  }

  close(): Promise<void> {
    return this.#root.close();
  }

  #isForgotten(time: number | undefined, nowMs: number): boolean {
    return time === undefined || time <= nowMs - this.#windowMs;
  }

  #sweep(nowMs: number): void {
    if (nowMs < this.#sweepAt) return;
    this.#sweepAt = nowMs + SWEEP_MS;
    this.#root.transactionSync(() => {
      for (const { key: subject, value: used } of [...this.#used.getRange()]) {
        if (!this.#isForgotten(this.#times.get([subject, (used - 1) % this.#quota]), nowMs))
          continue;
        this.#used.removeSync(subject);
        for (let slot = Math.min(used, this.#quota) - 1; slot >= 0; slot -= 1) {
          this.#times.removeSync([subject, slot]);
        }
      }
    });
  }
}
