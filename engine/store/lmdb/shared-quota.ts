/**
 * One quota that several processes use: in memory that they share by LMDB, in a folder that nothing
 * of has to be kept. Exact: a use is granted where the one a quota before it is a window ago.
 */
import { type Database, open, type RootDatabase } from 'lmdb';

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
  readonly #used: Database<number, string>;
  /** When it did, of the last times: by subject, and number of the use modulo the quota. */
  readonly #times: Database<number, [string, number]>;
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
