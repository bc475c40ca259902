/**
 * A request's budget: the body bytes that it may still send, the memory that it holds, and its cost
 * to the address if no valid signature vouches for the request.
 */
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { serverBounds, WRITE_UNIT_BYTES } from '../contract/limit-table.js';
import { type Account, type Limits, type Quota, refund, type Use } from '../limits/limits.js';
import { type BodiesInFlight, type BodyClass, refuseBodySize } from './bodies.js';

export type Problem = { quota: Quota } | { refusal: Refusal };

interface Sender {
  /** Account of the address; its subject is empty if nothing is counted. */
  address: Account;
  /** Registered key that the request names, in lower case, or null. */
  publicKey: string | null;
  /** True if the agent sent a valid signature from this address recently. */
  proven: boolean;
  declared: number | null;
  /** Time of the head by the wall clock, in Unix milliseconds. */
  wallMs: number;
}

export class RequestBudget {
  readonly publicKey: string | null;
  readonly address: Account;
  /** Time by the wall clock, in Unix milliseconds: of the head, then of the complete body. */
  wallMs: number;
  /** Body bytes that the request may send. */
  bodyBytes = 0;
  problem: Problem | null = null;
  /** True to keep the body. A small body is kept even if refused: a new connection costs more. */
  wanted = true;
  readonly #proven: boolean;
  readonly #declared: number | null;
  readonly #limits: Limits;
  readonly #bodies: BodiesInFlight;
  #received = 0;
  #bodyClass: BodyClass = 'unlimited';
  #reserved: Use | null = null;

  constructor(limits: Limits, bodies: BodiesInFlight, sender: Sender) {
    this.#limits = limits;
    this.#bodies = bodies;
    this.#declared = sender.declared;
    this.#proven = sender.proven;
    this.publicKey = sender.publicKey;
    this.address = sender.address;
    this.wallMs = sender.wallMs;
  }

  /**
   * Sets the time of the complete body. A client may hold the body back until the time limit. The
   * time of the head would make an old signature fresh, and a quota of the past available.
   */
  renew(wallMs: number): void {
    this.wallMs = wallMs;
    this.address.now = this.#limits.now();
  }

  refuse(problem: Problem): this {
    const { small } = serverBounds.body;
    this.problem = problem;
    this.bodyBytes = small;
    this.wanted = this.#declared !== null && this.#declared <= small;
    return this;
  }

  take(bytes: number): boolean {
    const received = this.#received + bytes;
    if (this.#received === 0) this.#bodyClass = this.#classOf();
    if (received > this.bodyBytes) {
      this.problem ??= { refusal: refuseBodySize(received, this.bodyBytes) };
    } else if (!this.#bodies.take(this.#bodyClass, this.address.subject, bytes)) {
      this.problem ??= { refusal: refuse('BODIES_IN_FLIGHT') };
    } else {
      this.#received = received;
      return true;
    }
    // The transport has dropped the bytes.
    this.release();
    return false;
  }

  #classOf(): BodyClass {
    if (!this.#limits.figures) return 'unlimited';
    if (this.bodyBytes <= serverBounds.body.small) return this.#proven ? 'provenSmall' : 'small';
    return this.#proven ? 'provenLarge' : 'large';
  }

  release(): void {
    if (this.#received === 0) return;
    this.#bodies.release(this.#bodyClass, this.address.subject, this.#received);
    this.#received = 0;
  }

  /** Reserves the cost of a possible refusal. Returns the exceeded quota, if any. */
  reserveRefusal(bytes: number): Quota | null {
    const { figures } = this.#limits;
    const isSmall = bytes <= serverBounds.body.small;
    if (!figures || (this.#proven && isSmall)) return null;
    const name = isSmall ? 'refused' : 'refused_large';
    const amount = isSmall ? countUnits(bytes, WRITE_UNIT_BYTES) : bytes;
    // A single request is always possible.
    const taken = this.address.take(name, Math.min(amount, figures[name]));
    if ('exceeded' in taken) return taken.exceeded;
    this.#reserved = taken.use;
    return null;
  }

  /** Ends the reservation, because the signature is valid or was not tried. */
  markVerified(): void {
    refund(this.#reserved);
    this.#reserved = null;
  }

  /** Ends the reservation. A 4xx response except 429 uses it up. All other responses are free. */
  conclude(status: number): void {
    if (status < 400 || status >= 500 || status === 429) this.markVerified();
    this.#reserved = null;
  }
}

/** Returns the units begun, at least one. */
export const countUnits = (bytes: number, unitBytes: number) =>
  1 + Math.floor(Math.max(0, bytes - 1) / unitBytes);
