/** Rate limits, as an exact sliding window per limit and subject. See limit-table.ts. */
import { type Figures, type LimitName, limitTable, type Profile } from '../contract/limit-table.js';
import { SlidingWindow } from './sliding-window.js';

/** State of a quota. */
export interface Quota {
  name: LimitName;
  quota: number;
  remaining: number;
  windowSeconds: number;
  /** Seconds until the requested amount is available; at least 1 if it is not available now. */
  resetSeconds: number;
}

/** A use of a limit, with the window, time and amount needed for a refund. */
export interface Use {
  window: SlidingWindow;
  at: number;
  amount: number;
}

/** Refunds a use whose operation did not happen. */
export function refund(use: Use | null): void {
  use?.window.refund(use.at, use.amount);
}

const unlimited = { use: null };

/**
 * Number of subjects with separate windows. Further subjects share one window, which bounds the
 * memory.
 */
const MOST_SUBJECTS = 65_536;
const SWEEP_MS = 60_000;
/** Approximate number of slots per window. Longer windows count in coarser steps. */
const MOST_SLOTS = 60_000;

/** A subject's windows, by limit. */
interface Windows extends Map<LimitName, SlidingWindow> {
  /**
   * Set when a sweep removes the windows. A request that holds the windows then looks them up
   * again.
   */
  swept?: true;
}

export class Limits {
  /** Changes only by `change`, as `figures`. */
  profile: Profile;
  /** Quota for each limit; null if limits are off. */
  figures: Figures | null;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly #subjects = new Map<string, Windows>();
  readonly #others: Windows = new Map();
  #sweepAt = 0;

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

  /** Returns a subject's account: `agent:KEY`, `address:ADDRESS`, or both. */
  account(subject: string): Account {
    return new Account(this, subject);
  }

  /**
   * Returns a subject's windows. Without `create`, returns undefined if the subject has no windows.
   */
  windowsOf(subject: string, create: boolean): Windows | undefined {
    const known = this.#subjects.get(subject);
    if (known) return known;
    if (this.#subjects.size >= MOST_SUBJECTS) return this.#others;
    if (!create) return undefined;
    const windows: Windows = new Map();
    this.#subjects.set(subject, windows);
    return windows;
  }

  /** Removes idle subjects, once per minute. */
  sweep(now: number): void {
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + SWEEP_MS;
    for (const windows of [...this.#subjects.values(), this.#others]) removeEmpty(windows, now);
    for (const [subject, windows] of this.#subjects) {
      if (windows.size > 0) continue;
      windows.swept = true;
      this.#subjects.delete(subject);
    }
  }
}

function removeEmpty(windows: Windows, now: number): void {
  for (const [name, window] of windows) {
    window.forget(now);
    if (window.total === 0) windows.delete(name);
  }
}

/**
 * A subject's usage. A request creates one account per subject, so that each subject is looked up
 * only once.
 */
export class Account {
  readonly subject: string;
  readonly #limits: Limits;
  #windows: Windows | undefined;

  constructor(limits: Limits, subject: string) {
    this.#limits = limits;
    this.subject = subject;
  }

  /** Returns the quota for an operation of `amount`, or null if limits are off. */
  quota(name: LimitName, amount = 1): Quota | null {
    const { figures } = this.#limits;
    if (!figures) return null;
    const quota = figures[name];
    const now = this.#limits.now();
    const { seconds } = limitTable[name];
    const window = this.#open(false)?.get(name);
    window?.forget(now);
    const remaining = Math.max(0, quota - (window?.total ?? 0));
    const free = window?.freeAt(Math.min(amount, quota), quota, now) ?? now;
    const oldest = window?.oldest ?? now - seconds * 1000;
    // If enough is left, the time at which the oldest use expires; otherwise the time at which
    // enough is available.
    const at = remaining >= amount ? oldest + seconds * 1000 : free;
    const least = remaining >= amount ? 0 : 1;
    const resetSeconds = Math.max(least, Math.ceil((at - now) / 1000));
    return { name, quota, remaining, windowSeconds: seconds, resetSeconds };
  }

  /** Uses `amount` regardless of the quota, as of `ageMs` ago. */
  use(name: LimitName, amount = 1, ageMs = 0): Use | null {
    const windowMs = limitTable[name].seconds * 1000;
    if (!this.#limits.figures || ageMs >= windowMs) return null;
    const now = this.#limits.now();
    this.#limits.sweep(now);
    const windows = this.#open(true)!;
    let window = windows.get(name);
    if (!window) {
      window = new SlidingWindow(windowMs, Math.ceil(windowMs / MOST_SLOTS));
      windows.set(name, window);
    }
    return { window, at: window.use(now - ageMs, amount), amount };
  }

  /** Uses `amount` if available; otherwise returns the exceeded quota. */
  take(name: LimitName, amount = 1): { use: Use | null } | { exceeded: Quota } {
    const quota = this.quota(name, amount);
    if (!quota) return unlimited;
    if (quota.remaining < amount) return { exceeded: quota };
    return { use: this.use(name, amount) };
  }

  #open(create: boolean): Windows | undefined {
    if (!this.#windows || this.#windows.swept) {
      this.#windows = this.#limits.windowsOf(this.subject, create);
    }
    return this.#windows;
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
