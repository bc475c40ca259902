/** The signatures of requests, checked for one network: before a request is applied to it. */
import { knownKey } from '../admit/edge-checks.js';
import type { Admitted } from '../admit/index.js';
import {
  takeUnverified,
  type Verified,
  verifyAll,
  verifyInner,
  verifyOwn,
  withInner,
} from '../admit/verify.js';
import type { Verifier, VerifyJob } from '../crypto/index.js';
import type { Refusal } from '../protocol/schema/index.js';

/**
 * The signatures of requests, checked for one network, in steps: its own signature, then a look at
 * what it asks, then those inside it. `Network.verify` does all at once.
 */
export class Verification {
  readonly #verifier: Verifier;
  readonly #knows: (publicKey: string) => boolean;

  /** @internal */
  constructor(verifier: Verifier, knows: (publicKey: string) => boolean) {
    this.#verifier = verifier;
    this.#knows = knows;
  }

  /** Whether signatures are verified at all: a simulation may leave that out. */
  get enabled(): boolean {
    return this.#verifier.name !== 'off';
  }

  /** All signatures of a request in one go. */
  all(admitted: Admitted): Promise<Verified | { refusal: Refusal }> {
    return verifyAll(admitted, this.#verifier, this.#knows);
  }

  /** The request's own signature alone; null when it holds. Those inside it follow by `inner`. */
  own(admitted: Admitted): Promise<Refusal | null> {
    return verifyOwn(admitted, this.#verifier, this.#knows);
  }

  /** What `own` gives, at once, where another process of this server found that it holds. */
  held(admitted: Admitted): Refusal | null {
    const refusal = knownKey(admitted.command, this.#knows);
    if (refusal === null) this.#verifier.stats.verified += 1;
    return refusal;
  }

  /**
   * What `all` gives, at once, where another node of this network found that its own signature
   * holds, and of those inside it all but that of the transaction `failed`.
   */
  elsewhere(admitted: Admitted, failed?: number): Verified {
    return withInner(admitted, failed);
  }

  /** The signatures inside a request whose own one holds; at once where there are none. */
  inner(admitted: Admitted): Verified | Promise<Verified | { refusal: Refusal }> {
    return verifyInner(admitted, this.#verifier);
  }

  /**
   * What `all` gives, at once, where nothing is verified.
   * @throws {TypeError} where signatures are verified.
   */
  skip(admitted: Admitted): Verified | { refusal: Refusal } {
    return takeUnverified(admitted, this.#verifier, this.#knows);
  }

  /** One signature of a known key over any text: what no command carries. */
  async text(job: VerifyJob): Promise<boolean> {
    const [valid] = await this.#verifier.verify([job]);
    return valid === true;
  }
}
