/** Rate limits, as a sliding window per limit and subject. See limit-table.ts. */
import { type Figures, type LimitName, limitTable, type Profile } from '../contract/limit-table.js';
import { widerSubject } from './addresses.js';
import { NONE } from './sliding-window.js';
import { UsageTable } from './usage-table.js';

/** State of a quota. */
export interface Quota {
  name: LimitName;
  quota: number;
  remaining: number;
  windowSeconds: number;
  /** Seconds until the requested amount is available; at least 1 if it is not available now. */
  resetSeconds: number;
}

/** A use of a limit, with what a refund needs. */
export interface Use {
  account: Account;
  name: LimitName;
  at: number;
  amount: number;
}

/** Refunds a use whose operation did not happen. */
export function refund(use: Use | null): void {
  use?.account.refund(use);
}

const unlimited = { use: null };

/** Number of addresses and of agents that a table remembers. */
const MOST_SUBJECTS = 65_536;

export class Limits {
  /** Changes only by `change`, as `figures`. */
  profile: Profile;
  /** Quota for each limit; null if limits are off. */
  figures: Figures | null;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Any client can fill this table. */
  readonly #addresses = new UsageTable(MOST_SUBJECTS, widerSubject);
  /** Only requests with a valid signature use this table. */
  readonly #agents = new UsageTable(MOST_SUBJECTS, () => null);

  constructor(profile: Profile, figures: Figures | null, now: () => number) {
    this.profile = profile;
    this.figures = figures;
    this.now = now;
  }

  /**
   * Applies other quotas to the usage counted so far. Limits cannot be switched on or off, because
   * without limits nothing was counted.
   */
  change(profile: Profile, figures: Figures): void {
    if (this.figures === null) throw new RangeError('limits that are off cannot be changed');
    this.profile = profile;
    this.figures = figures;
  }

  /**
   * Returns the account of an address. `own`: an account of this address even if the addresses of
   * its network share one.
   */
  address(subject: string, own = false): Account {
    return new Account(this, this.#addresses, subject, own);
  }

  agent(publicKey: string): Account {
    return new Account(this, this.#agents, publicKey, true);
  }

  /** Number of addresses and agents with usage. */
  get subjects(): number {
    return this.#addresses.size + this.#agents.size;
  }

  /** Forgets idle addresses and agents. */
  sweep(): void {
    const now = this.now();
    this.#addresses.sweep(now);
    this.#agents.sweep(now);
  }
}

/**
 * A subject's usage. A request creates one account per subject, so that each subject is looked up
 * only once.
 */
export class Account {
  readonly subject: string;
  readonly #limits: Limits;
  readonly #table: UsageTable;
  readonly #own: boolean;
  #row = NONE;
  #generation = 0;

  constructor(limits: Limits, table: UsageTable, subject: string, own: boolean) {
    this.#limits = limits;
    this.#table = table;
    this.subject = subject;
    this.#own = own;
  }

  /** True if the addresses of the subject's network share this account. */
  get isShared(): boolean {
    return !this.#own && this.#table.isShared(this.subject);
  }

  /** Returns the quota for an operation of `amount`, or null if limits are off. */
  quota(name: LimitName, amount = 1): Quota | null {
    const { figures } = this.#limits;
    if (!figures) return null;
    const quota = figures[name];
    const now = this.#limits.now();
    const { seconds } = limitTable[name];
    const row = this.#find();
    const wanted = { amount: Math.min(amount, quota), quota, now };
    const state = row === NONE ? null : this.#table.state(row, name, wanted);
    const remaining = Math.max(0, quota - (state?.total ?? 0));
    // If enough is left, the time at which the oldest use expires; otherwise the time at which
    // enough is available.
    const oldest = (state?.oldest ?? now - seconds * 1000) + seconds * 1000;
    const at = remaining >= amount ? oldest : (state?.freeAt ?? now);
    const least = remaining >= amount ? 0 : 1;
    const resetSeconds = Math.max(least, Math.ceil((at - now) / 1000));
    return { name, quota, remaining, windowSeconds: seconds, resetSeconds };
  }

  /** Uses `amount` regardless of the quota, as of `ageMs` ago. */
  use(name: LimitName, amount = 1, ageMs = 0): Use | null {
    if (!this.#limits.figures || ageMs >= limitTable[name].seconds * 1000) return null;
    const now = this.#limits.now();
    const row = this.#open(now);
    return { account: this, name, at: this.#table.use(row, name, now - ageMs, amount), amount };
  }

  /** Uses `amount` if available; otherwise returns the exceeded quota. */
  take(name: LimitName, amount = 1): { use: Use | null } | { exceeded: Quota } {
    const { figures } = this.#limits;
    if (!figures) return unlimited;
    const row = this.#find();
    const used = row === NONE ? 0 : this.#table.total(row, name, this.#limits.now());
    if (figures[name] - used < amount) return { exceeded: this.quota(name, amount)! };
    return { use: this.use(name, amount) };
  }

  refund({ name, at, amount }: Use): void {
    const row = this.#find();
    if (row !== NONE) this.#table.refund(row, name, at, amount);
  }

  #find(): number {
    if (this.#row !== NONE && this.#table.generation(this.#row) === this.#generation) {
      return this.#row;
    }
    return this.#remember(this.#table.find(this.subject, this.#own));
  }

  #open(now: number): number {
    this.#table.makeRoom(now);
    const known = this.#find();
    if (known !== NONE) return known;
    return this.#remember(this.#table.open(this.subject, this.#own, now));
  }

  #remember(row: number): number {
    this.#row = row;
    if (row !== NONE) this.#generation = this.#table.generation(row);
    return row;
  }
}

/** Formats the headers RateLimit-Policy and RateLimit (IETF draft). */
export function quotaHeaders(quota: Quota): Record<string, string> {
  const { name, remaining, resetSeconds, windowSeconds } = quota;
  return {
    'RateLimit-Policy': `"${name}";q=${quota.quota};w=${windowSeconds}`,
    RateLimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  };
}
