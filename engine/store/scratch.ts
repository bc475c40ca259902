/**
 * Temporary records on disk, for a replay whose state does not fit in memory. Nothing is synced.
 * The files are unlinked once open, so they disappear with the process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database as LmdbDatabase, open, type RootDatabase } from 'lmdb';
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

/*
 * A rate limit shared by several processes, in an LMDB file that need not outlive the processes.
 * The limit is an exact sliding window: a use is granted if the use `quota` positions earlier is at
 * least a window old.
 */

/** Interval at which idle subjects are removed, so that memory grows only with active subjects. */
const SWEEP_MS = 10_000;

export interface SharedQuotaOptions {
  /** An existing folder, shared by all processes. */
  folder: string;
  /** Uses granted per window. */
  quota: number;
  windowMs: number;
}

/** Counts uses per subject, such as an address. All processes must pass times from one clock. */
export class SharedQuota {
  readonly #root: RootDatabase;
  /** Number of uses by subject. */
  readonly #used: LmdbDatabase<number, string>;
  /** Times of recent uses, by subject and by the use's number modulo the quota. */
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

  /** Grants and counts one use, or returns false. */
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
