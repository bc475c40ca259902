/** Rate limits: an exact sliding window of 60 s for each (operation, agent or address). */
import type { CommandKind } from '../engine/index.js';
import { SlidingWindow } from './sliding-window.js';

export type LimitName = CommandKind | 'read' | 'failed_signature';
export type Profile = 'spec' | 'bench' | 'off';

const WINDOW_MS = 60_000;

/** Per minute, by the profile `spec`. */
export const perMinute: Record<LimitName, number> = {
  register: 1,
  vote: 10,
  propose: 5,
  meme: 20,
  status: 30,
  discuss: 20,
  alliance_propose: 5,
  alliance_respond: 30,
  alliance_leave: 30,
  read: 600,
  failed_signature: 60,
};

export const factor: Record<Exclude<Profile, 'off'>, number> = { spec: 1, bench: 10_000 };

/** What is left of a quota, and when the oldest use of it is forgotten. */
export interface Quota {
  name: LimitName;
  quota: number;
  remaining: number;
  /** Seconds until the next unit is free, at least 1 where none remains. */
  resetSeconds: number;
}

/** Whom a quota is counted for: `agent:` and key, or `address:` and address. */
export class Limits {
  readonly #profile: Profile;
  readonly #now: () => number;
  /** By name and whom. */
  readonly #uses = new Map<string, SlidingWindow>();
  #sweepAt = 0;

  constructor(profile: Profile, now: () => number) {
    this.#profile = profile;
    this.#now = now;
  }

  /** How the quota stands; null where nothing is limited. */
  look(name: LimitName, whom: string): Quota | null {
    if (this.#profile === 'off') return null;
    const quota = perMinute[name] * factor[this.#profile];
    const now = this.#now();
    const uses = this.#live(`${name} ${whom}`, now);
    const remaining = Math.max(0, quota - (uses?.total ?? 0));
    const oldest = uses?.oldest ?? now - WINDOW_MS;
    const resetSeconds = Math.max(
      remaining > 0 ? 0 : 1,
      Math.ceil((oldest + WINDOW_MS - now) / 1000),
    );
    return { name, quota, remaining, resetSeconds };
  }

  /** Uses one unit. */
  use(name: LimitName, whom: string): void {
    if (this.#profile === 'off') return;
    const now = this.#now();
    this.#sweep(now);
    const key = `${name} ${whom}`;
    let uses = this.#uses.get(key);
    if (!uses) {
      uses = new SlidingWindow();
      this.#uses.set(key, uses);
    }
    uses.use(now);
  }

  /** Gives back the unit used last: what it was for did not happen. */
  giveBack(name: LimitName, whom: string): void {
    this.#uses.get(`${name} ${whom}`)?.giveBack();
  }

  #live(key: string, now: number): SlidingWindow | undefined {
    const uses = this.#uses.get(key);
    uses?.forget(now - WINDOW_MS);
    if (uses?.total === 0) this.#uses.delete(key);
    return uses;
  }

  /** Once a window, forgets whoever has used nothing in it: memory follows the active, not all. */
  #sweep(now: number): void {
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + WINDOW_MS;
    for (const key of [...this.#uses.keys()]) this.#live(key, now);
  }
}

/** Draft headers RateLimit-Policy and RateLimit. */
export function quotaHeaders({
  name,
  quota,
  remaining,
  resetSeconds,
}: Quota): Record<string, string> {
  return {
    'RateLimit-Policy': `"${name}";q=${quota};w=${WINDOW_MS / 1000}`,
    RateLimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  };
}

/** An IPv6 address counts by its /64: whoever has one address there has all of them. */
export function addressKey(address: string): string {
  if (!address.includes(':')) return `address:${address}`;
  const groups = groupsOf(address);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!mapped) {
    const network = groups.slice(0, 4).map((group) => group.toString(16));
    return `address:${network.join(':')}::/64`;
  }
  const [high = 0, low = 0] = groups.slice(6);
  return `address:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** The eight numbers of an IPv6 address, whichever way it is written. */
function groupsOf(address: string): number[] {
  const text = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const group = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16);
    return `${group(a, b)}:${group(c, d)}`;
  });
  const [left = '', right] = text.split('::');
  const numbers = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16) || 0);
  const head = numbers(left);
  const tail = right === undefined ? [] : numbers(right);
  return [
    ...head,
    ...new Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0),
    ...tail,
  ];
}
