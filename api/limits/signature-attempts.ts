/**
 * Signatures that are being verified, and those that failed, by claim: an address together with the
 * known key that is named there. A unit is reserved before the work begins, so that many requests
 * at once get no more of it than one after the other.
 */
import type { LimitName } from '../contract/limit-table.js';
import type { Limits, Quota } from './limits.js';

/** Whose signature a request claims to bring. */
export interface Claimant {
  /** The address as limits count it. */
  addressKey: string;
  /** The same with the known key, if one is named: what limits call a claim. */
  claimKey: string;
}

/** How long a signature that held is remembered for its claim, and of how many claims. */
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
export interface Reservation {
  readonly claimant: Claimant;
  readonly units: readonly Unit[];
}

type Reserved = Reservation | { exceeded: Quota };

const keyOf = ([name, subject]: Unit) => `${name} ${subject}`;
const unlimited: Reservation = { claimant: { addressKey: '', claimKey: '' }, units: [] };

export class SignatureAttempts {
  readonly #limits: Limits;
  readonly #now: () => number;
  readonly #pending = new Map<string, Pending>();
  readonly #proven = new Map<string, number>();

  constructor(limits: Limits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Whether a signature of this claim held lately: then what others do there is not its fault. */
  proven({ claimKey }: Claimant): boolean {
    const at = this.#proven.get(claimKey);
    return at !== undefined && Math.abs(this.#now() - at) < PROVEN_MS;
  }

  /** The quota that is used up, if one is: then nothing of this claim is verified. */
  exceeded(claimant: Claimant): Quota | null {
    if (!this.#limits.figures) return null;
    const quotas = this.#unitsOf(claimant).map((unit) => this.#limits.quota(...unit));
    return quotas.find((quota) => quota?.remaining === 0) ?? null;
  }

  /** Whether the mistake behind a failure is looked for: of the first few in a minute. */
  mayExplain({ claimKey }: Claimant): boolean {
    return 'use' in this.#limits.take('explained', claimKey);
  }

  /** Reserves a unit; where others hold all that is left, after they have come back. */
  reserve(claimant: Claimant): Reserved | Promise<Reserved> {
    if (!this.#limits.figures) return unlimited;
    const units = this.#unitsOf(claimant);
    const full = units.find((unit) => this.#unreserved(unit) <= 0);
    if (!full) {
      for (const unit of units) this.#pendingOf(unit).count += 1;
      return { claimant, units };
    }
    const pending = this.#pending.get(keyOf(full));
    if (!pending) return { exceeded: this.#limits.quota(...full)! };
    return new Promise<void>((resume) => pending.waiting.push(resume)).then(() =>
      this.reserve(claimant),
    );
  }

  /** What was reserved comes back, or is used up because the signature failed. */
  release(reservation: Reservation, failed: boolean): void {
    if (reservation === unlimited) return;
    if (failed) this.failed(reservation.claimant);
    else this.#prove(reservation.claimant);
    for (const unit of reservation.units) this.#free(unit);
  }

  /** A failure, whether or not it cost a verification. */
  failed({ addressKey, claimKey }: Claimant): void {
    this.#limits.use('failed_signature', claimKey);
    if (claimKey !== addressKey) this.#limits.use('failed_signature_total', addressKey);
  }

  /** Many keys claimed at one address count together too; but others lock out none that works. */
  #unitsOf(claimant: Claimant): Unit[] {
    const { addressKey, claimKey } = claimant;
    const own: Unit = ['failed_signature', claimKey];
    if (claimKey === addressKey || this.proven(claimant) || this.#untouched(own)) return [own];
    return [own, ['failed_signature_total', addressKey]];
  }

  /** Nothing of it failed or is in flight: a first try is always free. */
  #untouched(unit: Unit): boolean {
    const quota = this.#limits.quota(...unit);
    return quota?.remaining === quota?.quota && !this.#pending.has(keyOf(unit));
  }

  #prove({ addressKey, claimKey }: Claimant): void {
    if (claimKey === addressKey) return;
    const now = this.#now();
    const at = this.#proven.get(claimKey);
    if (at !== undefined && Math.abs(now - at) < REFRESH_MS) return;
    this.#proven.delete(claimKey);
    this.#proven.set(claimKey, now);
    if (this.#proven.size <= MOST_PROVEN) return;
    const [oldest] = this.#proven.keys();
    this.#proven.delete(oldest!);
  }

  #free(unit: Unit): void {
    const pending = this.#pending.get(keyOf(unit))!;
    pending.count -= 1;
    if (pending.count === 0) this.#pending.delete(keyOf(unit));
    // One may go on; the last wakes all, and whoever finds nothing left is refused.
    const woken = pending.waiting.splice(0, pending.count === 0 ? pending.waiting.length : 1);
    for (const resume of woken) resume();
  }

  #unreserved(unit: Unit): number {
    const quota = this.#limits.quota(...unit)!;
    return quota.remaining - (this.#pending.get(keyOf(unit))?.count ?? 0);
  }

  #pendingOf(unit: Unit): Pending {
    const pending = this.#pending.get(keyOf(unit)) ?? { count: 0, waiting: [] };
    if (!this.#pending.has(keyOf(unit))) this.#pending.set(keyOf(unit), pending);
    return pending;
  }
}
