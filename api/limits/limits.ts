/**
 * Rate limits: an exact sliding window for each limit of each agent and address. limit-table.ts has
 * the limits and what each allows.
 */
import { type Figures, type LimitName, limitTable, type Profile } from '../contract/limit-table.js';
import { SlidingWindow } from './sliding-window.js';

/** What is left of a quota, and when the oldest use of it is forgotten. */
export interface Quota {
  name: LimitName;
  quota: number;
  remaining: number;
  windowSeconds: number;
  /** Seconds until what was asked for is free, at least 1 where it is not. */
  resetSeconds: number;
}

/** One use of a limit, with what a refund needs: its window, its time and its amount. */
export interface Use {
  window: SlidingWindow;
  at: number;
  amount: number;
}

/** Gives a use back: the operation did not happen. */
export function refund(use: Use | null): void {
  use?.window.refund(use.at, use.amount);
}

const unlimited = { use: null };

/** Subjects with windows of their own; newcomers beyond share one, so that memory is bounded. */
const MOST_SUBJECTS = 65_536;
const SWEEP_MS = 60_000;
/** A window has at most about so many slots: longer ones count by coarser steps of time. */
const MOST_SLOTS = 60_000;

/** The windows of one subject, by the limits of which it used something. */
interface Windows extends Map<LimitName, SlidingWindow> {
  /** Set once a sweep removed them: a request that still holds them looks them up again. */
  swept?: true;
}

/** The limits of one server. */
export class Limits {
  readonly profile: Profile;
  /** How much each limit allows; null where nothing is limited. */
  readonly figures: Figures | null;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  readonly #subjects = new Map<string, Windows>();
  readonly #others: Windows = new Map();
  #sweepAt = 0;

  constructor(profile: Profile, figures: Figures | null, now: () => number) {
    this.profile = profile;
    this.figures = figures;
    this.now = now;
  }

  /** The account of a subject: `agent:` and its key, `address:` and the address, or both. */
  account(subject: string): Account {
    return new Account(this, subject);
  }

  /** The windows of a subject; where it has none, new ones if `create`, else undefined. */
  windowsOf(subject: string, create: boolean): Windows | undefined {
    const known = this.#subjects.get(subject);
    if (known) return known;
    if (this.#subjects.size >= MOST_SUBJECTS) return this.#others;
    if (!create) return undefined;
    const windows: Windows = new Map();
    this.#subjects.set(subject, windows);
    return windows;
  }

  /** Forgets, once a minute, subjects that used nothing lately. */
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
 * What one subject has used of each limit. A request makes one for each subject that it counts
 * against, and so looks each up once.
 */
export class Account {
  readonly subject: string;
  readonly #limits: Limits;
  #windows: Windows | undefined;

  constructor(limits: Limits, subject: string) {
    this.#limits = limits;
    this.subject = subject;
  }

  /** The quota as it is, for an operation that needs `amount`; null where nothing is limited. */
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
    // Who can go on learns when the oldest use is forgotten; who cannot, when enough is free.
    const at = remaining >= amount ? oldest + seconds * 1000 : free;
    const least = remaining >= amount ? 0 : 1;
    const resetSeconds = Math.max(least, Math.ceil((at - now) / 1000));
    return { name, quota, remaining, windowSeconds: seconds, resetSeconds };
  }

  /** Uses some of it, whether or not it remains, or counts what was used `ageMs` ago. */
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

  /** Uses some of it if so much remains, else gives the quota as it is. */
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

/** Draft headers RateLimit-Policy and RateLimit. */
export function quotaHeaders(quota: Quota): Record<string, string> {
  const { name, remaining, resetSeconds, windowSeconds } = quota;
  return {
    'RateLimit-Policy': `"${name}";q=${quota.quota};w=${windowSeconds}`,
    RateLimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  };
}
