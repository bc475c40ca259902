/** The length check of a job, made once where it enters a verifier. */
import type { VerifyJob } from './verifier.js';

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
