/**
 * A lease that is renewed until it is released or lost. The client can be wrong about holding the
 * lease, so a write that relies on the lease must include a condition that etcd checks, such as a
 * key's `createRevision`.
 */
import type { EtcdClient } from './client.js';
import { EtcdError } from './wire.js';

/** Renewals per lease duration. */
const RENEWALS = 3;

export class Lease {
  readonly id: string;
  /**
   * Aborts when the lease has expired, or may have expired because no renewal succeeded in time.
   */
  readonly lost: AbortSignal;
  readonly #client: EtcdClient;
  readonly #lose = new AbortController();
  readonly #heldMs: number;
  #timer: NodeJS.Timeout;
  #until: number;

  /** @throws {EtcdError} */
  static async grant(client: EtcdClient, seconds: number): Promise<Lease> {
    const asked = performance.now();
    const granted = await client.grantLease(seconds);
    return new Lease(client, granted.id, granted.seconds, asked);
  }

  private constructor(client: EtcdClient, id: string, seconds: number, since: number) {
    this.#client = client;
    this.id = id;
    this.#heldMs = seconds * 1_000;
    this.lost = this.#lose.signal;
    this.#until = since + this.#heldMs;
    this.#timer = this.#later();
  }

  /** Revokes the lease, which deletes its keys. If etcd is unreachable, the lease expires. */
  async release(): Promise<void> {
    clearTimeout(this.#timer);
    this.#lose.abort();
    await this.#client.revokeLease(this.id).catch((error) => {
      if (!(error instanceof EtcdError)) throw error;
    });
  }

  #later(): NodeJS.Timeout {
    return setTimeout(() => void this.#renew(), this.#heldMs / RENEWALS);
  }

  async #renew(): Promise<void> {
    const asked = performance.now();
    const kept = await this.#client.keepLease(this.id).then(
      (seconds) => seconds,
      (error: unknown) => (error instanceof EtcdError && error.kind !== 'no_lease' ? null : 0),
    );
    if (this.lost.aborted) return;
    if (kept !== null) this.#until = asked + kept * 1_000;
    if (kept === 0 || performance.now() >= this.#until) this.#lose.abort();
    else this.#timer = this.#later();
  }
}
