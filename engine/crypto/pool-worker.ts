/** Worker of the pool, and of threads that sign. Stateless. */
import { verifyFastest } from './keys.js';
import { unpackJobs } from './pool.js';

/** Verifies a packed batch. Returns one byte per job, 1 for valid. */
export function verifyPacked(buffer: ArrayBuffer): Uint8Array {
  return Uint8Array.from(unpackJobs(buffer), (job) => (verifyFastest(job) ? 1 : 0));
}

export { signBatch } from './signer.js';
