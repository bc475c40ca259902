/**
 * One request from its head to its answer: what it may still bring, what it holds meanwhile, and
 * what it costs its address when nothing vouches for it.
 */
import { type Refusal, refuse } from '../../../engine/internal.js';
import { REFUSED_UNIT_BYTES, serverBounds } from '../../contract/limit-table.js';
import type { Match } from '../../contract/routes.js';
import type { Limits, Quota, Use } from '../../limits/limits.js';
import type { Claim } from '../../limits/signature-attempts.js';
import type { Entry } from '../../transport/transport.js';

/** Why a request is refused by its head or size: a limit that is used up, or what is wrong. */
export type Problem = { quota: Quota } | { refusal: Refusal };

/** Bytes of bodies under way, in all and by address: what a flood could fill the memory with. */
export interface Bodies {
  total: number;
  readonly byAddress: Map<string, number>;
}

interface Whose {
  address: string;
  /** The address as limits count it. */
  whom: string;
  found: Match | null;
  /** The known key that it names, lower case, or null. */
  key: string | null;
  /** Length of its body as its head tells it. */
  declared: number | null;
}

export class Visit implements Entry, Claim {
  readonly address: string;
  readonly whom: string;
  readonly found: Match | null;
  /** Whom failed signatures and refusals are counted for. */
  readonly claim: string;
  readonly key: string | null;
  /** Bytes of body that it may have. */
  limit = 0;
  problem: Problem | null = null;
  /** When its head is refused, a small body is read all the same: to connect anew costs more. */
  wanted = true;
  readonly #declared: number | null;
  readonly #limits: Limits;
  readonly #bodies: Bodies;
  #held = 0;
  #reserved: (Use | null)[] = [];
  #vouched = false;

  constructor(limits: Limits, bodies: Bodies, { address, whom, found, key, declared }: Whose) {
    this.#limits = limits;
    this.#bodies = bodies;
    this.#declared = declared;
    this.address = address;
    this.whom = whom;
    this.found = found;
    this.key = key;
    this.claim = key === null ? whom : `${whom} agent:${key}`;
  }

  refuse(problem: Problem): this {
    const { small } = serverBounds.body;
    this.problem = problem;
    this.limit = small;
    this.wanted = this.#declared !== null && this.#declared <= small;
    return this;
  }

  take(bytes: number): boolean {
    const { byAddress } = this.#bodies;
    const ofAddress = (byAddress.get(this.whom) ?? 0) + bytes;
    const most = this.#limits.figures
      ? serverBounds.bodiesOfAddressBytes
      : Number.POSITIVE_INFINITY;
    if (this.#held + bytes > this.limit) {
      const message = `the body is larger than ${this.limit} bytes`;
      this.problem ??= { refusal: refuse('TOO_LARGE', message) };
    } else if (this.#bodies.total + bytes > serverBounds.bodiesUnderWayBytes || ofAddress > most) {
      const message = 'too many bodies are being received at a time; try again';
      this.problem ??= { refusal: refuse('QUEUE_FULL', message) };
    } else {
      this.#bodies.total += bytes;
      byAddress.set(this.whom, ofAddress);
      this.#held += bytes;
      return true;
    }
    return false;
  }

  leave(): void {
    if (this.#held === 0) return;
    const { byAddress } = this.#bodies;
    this.#bodies.total -= this.#held;
    const left = (byAddress.get(this.whom) ?? 0) - this.#held;
    if (left > 0) byAddress.set(this.whom, left);
    else byAddress.delete(this.whom);
    this.#held = 0;
  }

  /** Counts a refusal ahead, by the bytes it may cost; what is short, if something is. */
  reserveRefusal(bytes: number, proven: boolean): Quota | null {
    const units = unitsOf(bytes);
    const own = this.#limits.take('refused', this.claim, units);
    if ('short' in own) return own.short;
    this.#reserved.push(own.use);
    if (this.key === null || proven) return null;
    const all = this.#limits.take('refused_total', this.whom, units);
    if ('short' in all) return all.short;
    this.#reserved.push(all.use);
    return null;
  }

  /** A signature held: what comes now is its signer's business, not the address's. */
  vouched(): void {
    this.#vouched = true;
  }

  /** The answer is known: what was counted ahead is given back unless it was a refusal. */
  settle(status: number): void {
    const refused = status >= 400 && status < 500 && status !== 429 && !this.#vouched;
    if (!refused) for (const use of this.#reserved) this.#limits.giveBack(use);
    else if (this.#reserved.length === 0) this.#limits.use('refused', this.claim);
    this.#reserved = [];
  }
}

/** What a refusal of so many bytes counts as. */
export const unitsOf = (bytes: number) =>
  1 + Math.floor(Math.max(0, bytes - 1) / REFUSED_UNIT_BYTES);
