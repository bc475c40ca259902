/**
 * The one interface behind which signatures are verified. Implementations: `pool`, `inline` and
 * `reference`; they agree bit for bit on the rule below, whatever bytes they are given.
 *
 * The rule: reject S >= L, non-canonical encodings of A or R, and small-order A or R; then the
 * cofactorless equation of RFC 8032, with the recomputed R compared as bytes.
 */

/** One signature to check. Lengths other than 32 and 64 are a caller's bug, not a verdict. */
export interface VerifyJob {
  /** 32 bytes. */
  publicKey: Uint8Array;
  /** Any length. */
  message: Uint8Array;
  /** 64 bytes. */
  signature: Uint8Array;
}

/** Counted inside the verifier since it was created. */
export interface VerifierStats {
  /** Signatures checked and found valid. */
  verified: number;
  /** Signatures checked and found invalid. */
  rejected: number;
  /** Batches that ran. */
  batches: number;
  /** The same by size: slot k counts those of 2^k to 2^(k+1) - 1 signatures. */
  batchSizes: number[];
}

/** Checks Ed25519 signatures in batches, by one rule whatever checks them. */
export interface Verifier {
  readonly name: string;
  readonly stats: VerifierStats;
  /**
   * Verdicts in the order of `jobs`.
   * @throws {VerifierBusy} when the queue cannot take the jobs.
   */
  verify(jobs: readonly VerifyJob[]): Promise<boolean[]>;
  close(): Promise<void>;
}

/** The queue of a verifier is full: try again after what is in it has been checked. */
export class VerifierBusy extends Error {
  override name = 'VerifierBusy';
  /** @internal */
  constructor(waiting: number, limit: number) {
    super(`verifier queue is full: ${waiting} signatures wait, the limit is ${limit}; try again`);
  }
}
