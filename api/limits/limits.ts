/**
 * The limits of one server: for each (limit, agent or address) an exact sliding window. Which there
 * are, and how much each allows, is in limit-table.ts.
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

/** By what a use is given back: its window, the time it counts at, and how much it was. */
export interface Use {
  window: SlidingWindow;
  at: number;
  amount: number;
}

const unlimited = { use: null };

/** Subjects that are kept apart; newcomers beyond share one, so that memory is bounded. */
const MOST_SUBJECTS = 200_000;
const SWEEP_MS = 60_000;
/** A window has at most about so many slots: longer ones count by coarser steps of time. */
const MOST_SLOTS = 60_000;

/** A quota's subject is whom it is counted for: `agent:` and key, or `address:` and address. */
export class Limits {
  readonly profile: Profile;
  /** How much each limit allows; null where nothing is limited. */
  readonly figures: Figures | null;
  readonly #now: () => number;
  /** By name and subject. */
  readonly #uses = new Map<string, SlidingWindow>();
  #sweepAt = 0;

  constructor(profile: Profile, figures: Figures | null, now: () => number) {
    this.profile = profile;
    this.figures = figures;
    this.#now = now;
  }

  /** The quota as it is, for somebody who wants `amount` of it; null where nothing is limited. */
  quota(name: LimitName, subject: string, amount = 1): Quota | null {
    if (!this.figures) return null;
    const quota = this.figures[name];
    const now = this.#now();
    const { seconds } = limitTable[name];
    const window = this.#live(this.#key(name, subject), now);
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
  use(name: LimitName, subject: string, amount = 1, ageMs = 0): Use | null {
    const windowMs = limitTable[name].seconds * 1000;
    if (!this.figures || ageMs >= windowMs) return null;
    const now = this.#now();
    this.#sweep(now);
    const key = this.#key(name, subject);
    let window = this.#uses.get(key);
    if (!window) {
      window = new SlidingWindow(windowMs, Math.ceil(windowMs / MOST_SLOTS));
      this.#uses.set(key, window);
    }
    return { window, at: window.use(now - ageMs, amount), amount };
  }

  /** Uses some of it if so much remains, else gives the quota as it is. */
  take(name: LimitName, subject: string, amount = 1): { use: Use | null } | { exceeded: Quota } {
    const quota = this.quota(name, subject, amount);
    if (!quota) return unlimited;
    if (quota.remaining < amount) return { exceeded: quota };
    return { use: this.use(name, subject, amount) };
  }

  /** Gives a use back: what it was for did not happen. */
  giveBack(use: Use | null): void {
    use?.window.giveBack(use.at, use.amount);
  }

  #key(name: LimitName, subject: string): string {
    const key = `${name} ${subject}`;
    return this.#uses.size < MOST_SUBJECTS || this.#uses.has(key) ? key : `${name} others`;
  }

  #live(key: string, now: number): SlidingWindow | undefined {
    const window = this.#uses.get(key);
    window?.forget(now);
    return window;
  }

  /** Now and then, forgets whoever has used nothing lately: memory follows the active, not all. */
  #sweep(now: number): void {
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + SWEEP_MS;
    for (const key of [...this.#uses.keys()]) {
      if (this.#live(key, now)?.total === 0) this.#uses.delete(key);
    }
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
