/**
 * What one request may cost, from its head to its answer: how much body it may still bring, what it
 * holds meanwhile, and what it costs its address when no signature vouches for it.
 */
import { type Refusal, refuse } from '../../../engine/internal.js';
import { REFUSED_UNIT_BYTES, serverBounds } from '../../contract/limit-table.js';
import type { Limits, Quota, Use } from '../../limits/limits.js';
import type { Claimant } from '../../limits/signature-attempts.js';

/** Why a request is refused by its head or size: a limit that is used up, or what is wrong. */
export type Problem = { quota: Quota } | { refusal: Refusal };

/** Bytes of bodies in flight, in all and by address: what a flood could fill the memory with. */
export interface BodiesInFlight {
  total: number;
  readonly byAddress: Map<string, number>;
}

interface Sender {
  /** The address as limits count it; empty where nothing is counted. */
  addressKey: string;
  /** The known key that it names, lower case, or null. */
  publicKey: string | null;
  /** Length of its body as its head declares it. */
  declared: number | null;
}

export class RequestBudget implements Claimant {
  readonly addressKey: string;
  readonly publicKey: string | null;
  /** Bytes of body that it may have. */
  bodyBytes = 0;
  problem: Problem | null = null;
  /** When its head is refused, a small body is read all the same: to connect anew costs more. */
  wanted = true;
  readonly #declared: number | null;
  readonly #limits: Limits;
  readonly #bodies: BodiesInFlight;
  #held = 0;
  #reserved: (Use | null)[] | null = null;
  #vouched = false;

  constructor(limits: Limits, bodies: BodiesInFlight, { addressKey, publicKey, declared }: Sender) {
    this.#limits = limits;
    this.#bodies = bodies;
    this.#declared = declared;
    this.addressKey = addressKey;
    this.publicKey = publicKey;
  }

  /** Whom failed signatures and refusals are counted for. */
  get claimKey(): string {
    const { addressKey, publicKey } = this;
    return publicKey === null ? addressKey : `${addressKey} agent:${publicKey}`;
  }

  refuse(problem: Problem): this {
    const { small } = serverBounds.body;
    this.problem = problem;
    this.bodyBytes = small;
    this.wanted = this.#declared !== null && this.#declared <= small;
    return this;
  }

  /** Counts bytes that arrived; false when no more are to be read. */
  take(bytes: number): boolean {
    const { byAddress } = this.#bodies;
    const ofAddress = (byAddress.get(this.addressKey) ?? 0) + bytes;
    const most = this.#limits.figures
      ? serverBounds.bodiesOfAddressBytes
      : Number.POSITIVE_INFINITY;
    if (this.#held + bytes > this.bodyBytes) {
      const message = `the body is larger than ${this.bodyBytes} bytes`;
      this.problem ??= { refusal: refuse('TOO_LARGE', message) };
    } else if (this.#bodies.total + bytes > serverBounds.bodiesInFlightBytes || ofAddress > most) {
      const message = 'too many bodies are being received at a time; try again';
      this.problem ??= { refusal: refuse('QUEUE_FULL', message) };
    } else {
      this.#bodies.total += bytes;
      byAddress.set(this.addressKey, ofAddress);
      this.#held += bytes;
      return true;
    }
    return false;
  }

  /** What it held is free. */
  release(): void {
    if (this.#held === 0) return;
    const { byAddress } = this.#bodies;
    this.#bodies.total -= this.#held;
    const left = (byAddress.get(this.addressKey) ?? 0) - this.#held;
    if (left > 0) byAddress.set(this.addressKey, left);
    else byAddress.delete(this.addressKey);
    this.#held = 0;
  }

  /** Counts a refusal ahead, by the bytes it may cost; the quota that it exceeds, if it does. */
  reserveRefusal(bytes: number, proven: boolean): Quota | null {
    const units = unitsOf(bytes);
    const own = this.#limits.take('refused', this.claimKey, units);
    if ('exceeded' in own) return own.exceeded;
    this.#reserved = [own.use];
    if (this.publicKey === null || proven) return null;
    const all = this.#limits.take('refused_total', this.addressKey, units);
    if ('exceeded' in all) return all.exceeded;
    this.#reserved.push(all.use);
    return null;
  }

  /** A signature held: what comes now is its signer's business, not the address's. */
  vouch(): void {
    this.#vouched = true;
  }

  /** The answer is known: what was counted ahead is given back unless it was a refusal. */
  conclude(status: number): void {
    if (!this.#limits.figures) return;
    const refused = status >= 400 && status < 500 && status !== 429 && !this.#vouched;
    const reserved = this.#reserved;
    if (!refused) for (const use of reserved ?? []) this.#limits.giveBack(use);
    else if (!reserved) this.#limits.use('refused', this.claimKey);
    this.#reserved = null;
  }
}

/** What a refusal of so many bytes counts as. */
export const unitsOf = (bytes: number) =>
  1 + Math.floor(Math.max(0, bytes - 1) / REFUSED_UNIT_BYTES);
