/**
 * The one interface behind which signatures are verified. Implementations: `pool`, `inline` and
 * `reference`; they agree bit for bit on the rule below, whatever bytes they are given.
 *
 * The rule: reject S >= L, non-canonical encodings of A or R, and small-order A or R; then the
 * cofactorless equation of RFC 8032, with the recomputed R compared as bytes.
 */
import { countSize } from '../protocol/limits.js';

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

/**
 * @param verifyOne throws a RangeError on wrong lengths; that rejects the whole call.
 * A call counts as one batch. There is no queue, so it is never busy.
 */
export function createDirectVerifier(
  name: string,
  verifyOne: (job: VerifyJob) => boolean,
): Verifier {
  const stats: VerifierStats = { verified: 0, rejected: 0, batches: 0, batchSizes: [] };
  let closed = false;
  return {
    name,
    stats,
    async verify(jobs) {
      if (closed) throw new Error(`verifier ${name} is closed`);
      if (jobs.length === 0) return [];
      const verdicts = jobs.map(verifyOne);
      for (const valid of verdicts) {
        if (valid) stats.verified += 1;
        else stats.rejected += 1;
      }
      stats.batches += 1;
      countSize(stats.batchSizes, jobs.length);
      return verdicts;
    },
    async close() {
      closed = true;
    },
  };
}

/** Says valid to everything; its stats stay 0, so that no report can call such a run verified. */
export function createOffVerifier(): Verifier {
  return {
    name: 'off',
    stats: { verified: 0, rejected: 0, batches: 0, batchSizes: [] },
    verify: async (jobs) => jobs.map(() => true),
    close: async () => {},
  };
}

export const publicKeyBytes = 32;
export const signatureBytes = 64;

/**
 * @throws {RangeError} when a key or signature has the wrong length: the caller must answer
 * malformed input itself, before anything is verified.
 */
export function assertJob(job: VerifyJob): void {
  if (job.publicKey.length !== publicKeyBytes) {
    throw new RangeError(`public key: expected 32 bytes, got ${job.publicKey.length}`);
  }
  if (job.signature.length !== signatureBytes) {
    throw new RangeError(`signature: expected 64 bytes, got ${job.signature.length}`);
  }
}
