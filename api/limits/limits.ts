/** Rate limits, as a sliding window per limit and subject. See limit-table.ts. */
import { type Figures, type LimitName, limitTable, type Profile } from '../contract/limit-table.js';
import { NONE } from './sliding-window.js';
import { UsageTable } from './usage-table.js';

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
   * its network share one. `now`: time of the request on the monotonic clock.
   */
  address(subject: string, own = false, now = this.now()): Account {
    return new Account(this, this.#addresses, { subject, own, now });
  }

  /** @param now time of the request, from `address`. */
  agent(publicKey: string, now: number): Account {
    return new Account(this, this.#agents, { subject: publicKey, own: true, now });
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
 * A subject's usage, as one request sees it. A request creates one account per subject, so that
 * each subject is looked up only once and all uses of a request have one time.
 */
export class Account {
  readonly subject: string;
  /** Time of the request's head or body on the monotonic clock, in milliseconds. */
  now: number;
  readonly #limits: Limits;
  readonly #table: UsageTable;
  readonly #own: boolean;
  #row = NONE;
  #generation = 0;

  constructor(
    limits: Limits,
    table: UsageTable,
    { subject, own, now }: { subject: string; own: boolean; now: number },
  ) {
    this.#limits = limits;
    this.#table = table;
    this.subject = subject;
    this.now = now;
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
    const { now } = this;
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
    const found = this.#table.hasSpare ? this.#find() : NONE;
    const row = found === NONE ? this.#open() : found;
    const at = this.#table.use(row, name, this.now - ageMs, amount);
    return { account: this, name, at, amount };
  }

  /** Returns true if `amount` is available. */
  has(name: LimitName, amount = 1): boolean {
    const { figures } = this.#limits;
    if (!figures) return true;
    const row = this.#find();
    return figures[name] - (row === NONE ? 0 : this.#table.total(row, name, this.now)) >= amount;
  }

  /** Uses `amount` if available; otherwise returns the exceeded quota. */
  take(name: LimitName, amount = 1): { use: Use | null } | { exceeded: Quota } {
    if (!this.#limits.figures) return unlimited;
    if (!this.has(name, amount)) return { exceeded: this.quota(name, amount)! };
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

  /** Opens the account in the table, which may have to forget other subjects for it. */
  #open(): number {
    this.#table.makeRoom(this.now);
    const known = this.#find();
    if (known !== NONE) return known;
    return this.#remember(this.#table.open(this.subject, this.#own, this.now));
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

/** Normalizes an address, by removing a port and converting IPv4-mapped IPv6 to IPv4. */
function plain(text: string): string {
  const address = withoutPort(text.trim());
  return address.includes(':') ? address.replace(MAPPED, '') : address;
}
const MAPPED = /^(?:0*:)*:?ffff:(?=\d+\.)/i;

/** Removes the port. Some proxies write `1.2.3.4:567`, `[::1]:567` or `[::1]`. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  if (bracketed) return bracketed[1]!;
  return /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text)?.[1] ?? text;
}

/** Returns the nearest untrusted address: the peer's, or the rightmost in X-Forwarded-For. */
export function clientAddress(
  peer: string,
  forwarded: string | undefined,
  trusted: ReadonlySet<string>,
): string {
  if (trusted.size === 0) return plain(peer);
  const hops = [...(forwarded?.split(',') ?? []).map(plain), plain(peer)];
  let address = hops.pop()!;
  while (trusted.has(address) && hops.length > 0) address = hops.pop()!;
  return address;
}

/** Returns an address's limit key: for IPv6 the /64, because a client owns the whole /64. */
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

/** Returns the subject of an address's wider network (IPv4 /24, IPv6 /48), or null for others. */
function widerSubject(subject: string): string | null {
  if (subject.endsWith('::/64')) {
    return `${subject.slice(0, subject.lastIndexOf(':', subject.length - 6))}::/48`;
  }
  const dot = subject.lastIndexOf('.');
  return dot === -1 || subject.includes('/') ? null : `${subject.slice(0, dot)}.0/24`;
}

/** Parses an IPv6 address in any notation into eight groups. */
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
