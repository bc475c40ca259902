/**
 * Signatures that are being verified, and those that failed, by claim: an address together with the
 * known key that is named there. A unit is reserved before the work begins, so that many requests
 * at once get no more of it than one after the other.
 */

import { limits as bounds } from '../../engine/protocol/limits.js';
import type { LimitName } from '../contract/limit-table.js';
import type { Account, Limits, Quota } from './limits.js';

/** Whose signature a request claims to bring. */
export interface Claimant {
  address: Account;
  /** That of the address with the known key, if the request names one: a claim. */
  claim: Account;
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

type Unit = readonly [LimitName, Account];

/** The units that one verification holds. */
interface Reservation {
  readonly claimant: Claimant;
  readonly units: readonly Unit[];
}

type Reserved = Reservation | { exceeded: Quota };

const keyOf = ([name, { subject }]: Unit) => `${name} ${subject}`;

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
  proven({ claim }: Claimant): boolean {
    const at = this.#proven.get(claim.subject);
    return at !== undefined && Math.abs(this.#now() - at) < PROVEN_MS;
  }

  /** The quota that is used up, if one is: then nothing of this claim is verified. */
  exceeded(claimant: Claimant): Quota | null {
    if (!this.#limits.figures) return null;
    for (const [name, account] of this.#unitsOf(claimant)) {
      const quota = account.quota(name);
      if (quota?.remaining === 0) return quota;
    }
    return null;
  }

  /** Whether the mistake behind a failure is looked for: of the first few in a minute. */
  mayExplain({ claim }: Claimant): boolean {
    return 'use' in claim.take('explained');
  }

  /** Reserves a unit; where others hold all that is left, after they have come back. */
  reserve(claimant: Claimant): Reserved | Promise<Reserved> {
    if (!this.#limits.figures) return { claimant, units: [] };
    const units = this.#unitsOf(claimant);
    const full = units.find((unit) => this.#unreserved(unit) <= 0);
    if (!full) {
      for (const unit of units) this.#pendingOf(unit).count += 1;
      return { claimant, units };
    }
    const pending = this.#pending.get(keyOf(full));
    if (!pending) return { exceeded: full[1].quota(full[0])! };
    return new Promise<void>((resume) => pending.waiting.push(resume)).then(() =>
      this.reserve(claimant),
    );
  }

  /** What was reserved comes back, or is used up because the signature failed. */
  release(reservation: Reservation, failed: boolean): void {
    if (!this.#limits.figures) return;
    if (failed) this.failed(reservation.claimant);
    else this.#prove(reservation.claimant);
    for (const unit of reservation.units) this.#free(unit);
  }

  /** A failure, whether or not it cost a verification. */
  failed({ address, claim }: Claimant): void {
    claim.use('failed_signature');
    if (claim !== address) address.use('failed_signature_total');
  }

  /** Many keys claimed at one address count together too; but others lock out none that works. */
  #unitsOf(claimant: Claimant): Unit[] {
    const { address, claim } = claimant;
    const own: Unit = ['failed_signature', claim];
    if (claim === address || this.proven(claimant) || this.#untouched(own)) return [own];
    return [own, ['failed_signature_total', address]];
  }

  /** Nothing of it failed or is in flight: a first try is always free. */
  #untouched(unit: Unit): boolean {
    const quota = unit[1].quota(unit[0]);
    return quota?.remaining === quota?.quota && !this.#pending.has(keyOf(unit));
  }

  #prove({ address, claim }: Claimant): void {
    if (claim === address) return;
    const claimKey = claim.subject;
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
    const quota = unit[1].quota(unit[0])!;
    return quota.remaining - (this.#pending.get(keyOf(unit))?.count ?? 0);
  }

  #pendingOf(unit: Unit): Pending {
    const pending = this.#pending.get(keyOf(unit)) ?? { count: 0, waiting: [] };
    if (!this.#pending.has(keyOf(unit))) this.#pending.set(keyOf(unit), pending);
    return pending;
  }
}

/*
 * Signatures that an agent was charged for, for as long as they are fresh: whoever captured one can
 * send it again, but it costs the agent nothing more. What they cover cannot be changed with them.
 */

/** A timestamp may be as far in the future as in the past. */
const FRESH_MS = 2 * bounds.skewMs;
/** Of one agent in one generation: above what the profile `spec` lets it send in that time. */
const MOST_OF_AGENT = 2_048;
const MOST = 131_072;

type Generation = Map<string, Set<string>>;

export class ChargedSignatures {
  readonly #now: () => number;
  /** Signatures by key; the older half is kept until all of it is past its time. */
  #young: Generation = new Map();
  #old: Generation = new Map();
  #count = 0;
  #since: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  has(publicKey: string, signature: string): boolean {
    this.#turn();
    const text = packed(signature);
    return !!(this.#young.get(publicKey)?.has(text) || this.#old.get(publicKey)?.has(text));
  }

  add(publicKey: string, signature: string): void {
    this.#turn();
    const known = this.#young.get(publicKey) ?? new Set<string>();
    if (known.size >= MOST_OF_AGENT) return;
    this.#young.set(publicKey, known.add(packed(signature)));
    this.#count += 1;
  }

  /** When all of the younger half may be past its time, or there are too many. */
  #turn(): void {
    const now = this.#now();
    if (now - this.#since < FRESH_MS && this.#count < MOST) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#since = now;
    this.#count = 0;
  }
}

/** Hex in either case as a text of half its length. */
const packed = (hex: string) => Buffer.from(hex, 'hex').toString('latin1');
