/**
 * Signatures being verified and failed signatures, counted by claim. A claim is an address together
 * with the known key that a request names. A unit is reserved before verification, so that
 * concurrent requests get no more attempts than sequential requests.
 */

import { limits as bounds } from '../../engine/protocol/limits.js';
import type { LimitName } from '../contract/limit-table.js';
import type { Account, Limits, Quota } from './limits.js';

/** The address and key that a request claims. */
export interface Claimant {
  address: Account;
  /** Account of the address with the known key, or of the address alone without a known key. */
  claim: Account;
}

/** Time for which a valid signature exempts a claim, and number of claims remembered. */
const PROVEN_MS = 600_000;
const REFRESH_MS = 60_000;
const MOST_PROVEN = 65_536;

interface Pending {
  count: number;
  /** Requests waiting for a unit that other requests have reserved. */
  waiting: (() => void)[];
}

type Unit = readonly [LimitName, Account];

export interface Reservation {
  readonly claimant: Claimant;
  readonly units: readonly Unit[];
}

export type Reserved = Reservation | { exceeded: Quota };

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

  /**
   * Returns true if the claim had a valid signature recently. Failures by others then do not affect
   * the claim.
   */
  proven({ claim }: Claimant): boolean {
    const at = this.#proven.get(claim.subject);
    return at !== undefined && Math.abs(this.#now() - at) < PROVEN_MS;
  }

  /** Returns the exhausted quota, if any. The claim's signatures are then not verified. */
  exceeded(claimant: Claimant): Quota | null {
    if (!this.#limits.figures) return null;
    for (const [name, account] of this.#unitsOf(claimant)) {
      const quota = account.quota(name);
      if (quota?.remaining === 0) return quota;
    }
    return null;
  }

  /** Returns true for the first failures in a minute, whose cause the server diagnoses. */
  mayExplain({ claim }: Claimant): boolean {
    return 'use' in claim.take('explained');
  }

  /** Reserves a unit. If other requests hold all remaining units, waits until one is released. */
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

  /** Releases the units, or uses them up if the signature failed. */
  release(reservation: Reservation, failed: boolean): void {
    if (!this.#limits.figures) return;
    if (failed) this.failed(reservation.claimant);
    else this.#prove(reservation.claimant);
    for (const unit of reservation.units) this.#free(unit);
  }

  /** Counts a failure, with or without a verification. */
  failed({ address, claim }: Claimant): void {
    claim.use('failed_signature');
    if (claim !== address) address.use('failed_signature_total');
  }

  /**
   * Returns the units to reserve. Failures of all keys at one address also count together, but
   * never lock out a proven key.
   */
  #unitsOf(claimant: Claimant): Unit[] {
    const { address, claim } = claimant;
    const own: Unit = ['failed_signature', claim];
    if (claim === address || this.proven(claimant) || this.#untouched(own)) return [own];
    return [own, ['failed_signature_total', address]];
  }

  /**
   * Returns true without a failed or pending attempt, because the first attempt is always allowed.
   */
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
    // Wakes one request. The last release wakes all requests, and requests without a unit are
    // refused.
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
 * Signatures already charged to their agent, kept as long as they are fresh. A replay of a captured
 * signature costs the agent nothing, and cannot cover different content.
 */

/** Timestamps may deviate by the allowed skew into the past or the future. */
const FRESH_MS = 2 * bounds.skewMs;
/**
 * Maximum per agent and generation, which exceeds the number that the profile `spec` allows in that
 * time.
 */
const MOST_OF_AGENT = 2_048;
const MOST = 131_072;

type Generation = Map<string, Set<string>>;

export class ChargedSignatures {
  readonly #now: () => number;
  /** Signatures by key. The old generation is dropped when all of its signatures have expired. */
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

  /** Starts a new generation when the young generation may have expired or is full. */
  #turn(): void {
    const now = this.#now();
    if (now - this.#since < FRESH_MS && this.#count < MOST) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#since = now;
    this.#count = 0;
  }
}

/** Packs hex into half the length, ignoring case. */
const packed = (hex: string) => Buffer.from(hex, 'hex').toString('latin1');
