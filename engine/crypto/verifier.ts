/**
 * Verifier interface. All implementations (`pool`, `inline`, `reference`) give the same verdict for
 * a given input.
 *
 * The rule: reject S >= L, non-canonical encodings of A or R, and small-order A or R. Then check
 * the cofactorless equation from RFC 8032, comparing the recomputed R as bytes.
 */
import { countSize, Durations } from '../protocol/limits.js';

/** A signature to verify. A wrong length is a bug in the caller, not a verdict. */
export interface VerifyJob {
  /** 32 bytes. */
  publicKey: Uint8Array;
  /** Any length. */
  message: Uint8Array;
  /** 64 bytes. */
  signature: Uint8Array;
}

/** Counters since the verifier was created. */
export interface VerifierStats {
  /** Valid signatures. */
  verified: number;
  /** Invalid signatures. */
  rejected: number;
  batches: number;
  /** Batches by size: slot k counts batches with 2^k to 2^(k+1) - 1 signatures. */
  batchSizes: number[];
  /** Times from each call to its first batch; empty for a verifier without a queue. */
  waits: Durations;
  /** Worker threads now; all 0 for a verifier without threads. */
  threads: ThreadCounts;
}

/** Number of a verifier's worker threads. */
export interface ThreadCounts {
  /** Threads that have started or are starting. */
  running: number;
  /** Most threads. */
  limit: number;
  /** Threads that have a batch. */
  busy: number;
}

export const newStats = (): VerifierStats => ({
  verified: 0,
  rejected: 0,
  batches: 0,
  batchSizes: [],
  waits: new Durations(),
  threads: { running: 0, limit: 0, busy: 0 },
});

/** Verifies Ed25519 signatures in batches. */
export interface Verifier {
  readonly name: string;
  readonly stats: VerifierStats;
  /** Returns verdicts in the order of `jobs`. @throws {VerifierBusy} if the queue is too full. */
  verify(jobs: readonly VerifyJob[]): Promise<boolean[]>;
  close(): Promise<void>;
}

/** Thrown when a verifier's queue is full. The caller can retry later. */
export class VerifierBusy extends Error {
  override name = 'VerifierBusy';
  /** @internal */
  constructor(waiting: number, limit: number) {
    super(`verifier queue full: ${waiting} signatures waiting (limit ${limit}); retry later`);
  }
}

/**
 * Creates a verifier without a queue, so it is never busy. Each call counts as one batch.
 * @param verifyOne throws a RangeError for wrong lengths, which rejects the whole call.
 */
export function createDirectVerifier(
  name: string,
  verifyOne: (job: VerifyJob) => boolean,
): Verifier {
  const stats = newStats();
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

/** Accepts every signature. Its stats stay 0, so that no report counts signatures as verified. */
export function createOffVerifier(): Verifier {
  return {
    name: 'off',
    stats: newStats(),
    verify: async (jobs) => jobs.map(() => true),
    close: async () => {},
  };
}

export const publicKeyBytes = 32;
export const signatureBytes = 64;

/**
 * @throws {RangeError} if the length of a key or signature is wrong. The caller must reject
 *   malformed input before verification.
 */
export function assertJob(job: VerifyJob): void {
  if (job.publicKey.length !== publicKeyBytes) {
    throw new RangeError(`public key: expected 32 bytes, got ${job.publicKey.length}`);
  }
  if (job.signature.length !== signatureBytes) {
    throw new RangeError(`signature: expected 64 bytes, got ${job.signature.length}`);
  }
}
