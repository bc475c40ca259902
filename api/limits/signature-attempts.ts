/**
 * Signatures that are being verified, and those that failed, by claim: an address together with the
 * known key that is named there. A unit is reserved before the work begins, so that many requests
 * at once get no more of it than one after the other.
 */
import type { LimitName } from '../contract/limit-table.js';
import type { Limits, Quota } from './limits.js';

/** Whose signature it is said to be. */
export interface Claim {
  /** The address as limits count it. */
  whom: string;
  /** The same with the known key, if one is named. */
  claim: string;
}

/** How long a signature that held speaks for its claim, and how many are remembered. */
const PROVEN_MS = 600_000;
const REFRESH_MS = 60_000;
const MOST_PROVEN = 65_536;

interface Pending {
  count: number;
  /** Who waits for a unit that others hold now. */
  waiting: (() => void)[];
}

type Unit = readonly [LimitName, string];

/** The units that one verification holds. */
export interface Ticket {
  readonly claim: Claim;
  readonly units: readonly Unit[];
}

const keyOf = ([name, whom]: Unit) => `${name} ${whom}`;
const unlimited: Ticket = { claim: { whom: '', claim: '' }, units: [] };

export class Claims {
  readonly #limits: Limits;
  readonly #now: () => number;
  readonly #pending = new Map<string, Pending>();
  readonly #proven = new Map<string, number>();

  constructor(limits: Limits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Whether a signature of this claim held lately: then what others do there is not its fault. */
  proven({ claim }: Claim): boolean {
    const at = this.#proven.get(claim);
    return at !== undefined && Math.abs(this.#now() - at) < PROVEN_MS;
  }

  /** What is used up, if something is: then nothing of this claim is verified. */
  short(claim: Claim): Quota | null {
    if (!this.#limits.figures) return null;
    const quotas = this.#unitsOf(claim).map((unit) => this.#limits.look(...unit));
    return quotas.find((quota) => quota?.remaining === 0) ?? null;
  }

  /** Whether the mistake behind a failure is looked for: of the first few in a minute. */
  explains({ claim }: Claim): boolean {
    return 'use' in this.#limits.take('explained', claim);
  }

  /** Reserves a unit; where others hold all that is left, after they have come back. */
  reserve(claim: Claim): Ticket | { short: Quota } | Promise<Ticket | { short: Quota }> {
    if (!this.#limits.figures) return unlimited;
    const units = this.#unitsOf(claim);
    const full = units.find((unit) => this.#room(unit) <= 0);
    if (!full) {
      for (const unit of units) this.#pendingOf(unit).count += 1;
      return { claim, units };
    }
    const pending = this.#pending.get(keyOf(full));
    if (!pending) return { short: this.#limits.look(...full)! };
    return new Promise<void>((resume) => pending.waiting.push(resume)).then(() =>
      this.reserve(claim),
    );
  }

  /** What was reserved comes back, or is used up because the signature failed. */
  release(ticket: Ticket, failed: boolean): void {
    if (ticket === unlimited) return;
    if (failed) this.failed(ticket.claim);
    else this.#prove(ticket.claim);
    for (const unit of ticket.units) this.#free(unit);
  }

  /** A failure, whether or not it cost a verification. */
  failed({ whom, claim }: Claim): void {
    this.#limits.use('failed_signature', claim);
    if (claim !== whom) this.#limits.use('failed_signature_total', whom);
  }

  /** Many keys claimed at one address count together too; but others lock out none that works. */
  #unitsOf(claim: Claim): Unit[] {
    const own: Unit = ['failed_signature', claim.claim];
    if (claim.claim === claim.whom || this.proven(claim) || this.#untouched(own)) return [own];
    return [own, ['failed_signature_total', claim.whom]];
  }

  /** Nothing of it failed or is under way: a first try is always free. */
  #untouched(unit: Unit): boolean {
    const quota = this.#limits.look(...unit);
    return quota?.remaining === quota?.quota && !this.#pending.has(keyOf(unit));
  }

  #prove({ whom, claim }: Claim): void {
    if (claim === whom) return;
    const now = this.#now();
    const at = this.#proven.get(claim);
    if (at !== undefined && Math.abs(now - at) < REFRESH_MS) return;
    this.#proven.delete(claim);
    this.#proven.set(claim, now);
    if (this.#proven.size <= MOST_PROVEN) return;
    const [oldest] = this.#proven.keys();
    this.#proven.delete(oldest!);
  }

  #free(unit: Unit): void {
    const pending = this.#pending.get(keyOf(unit))!;
    pending.count -= 1;
    if (pending.count === 0) this.#pending.delete(keyOf(unit));
    // One may go on; the last wakes all, and whoever finds nothing left is told so.
    const woken = pending.waiting.splice(0, pending.count === 0 ? pending.waiting.length : 1);
    for (const resume of woken) resume();
  }

  #room(unit: Unit): number {
    const quota = this.#limits.look(...unit)!;
    return quota.remaining - (this.#pending.get(keyOf(unit))?.count ?? 0);
  }

  #pendingOf(unit: Unit): Pending {
    const pending = this.#pending.get(keyOf(unit)) ?? { count: 0, waiting: [] };
    if (!this.#pending.has(keyOf(unit))) this.#pending.set(keyOf(unit), pending);
    return pending;
  }
}
