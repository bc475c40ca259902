/** What runs in a pool's thread: a packed batch in, a byte per verdict out. It keeps no state. */
import { verifyFastest } from './inline.js';
import { unpackJobs } from './pool.js';

/** The verdicts in the order of the batch, 1 for valid. */
export function verifyPacked(buffer: ArrayBuffer): Uint8Array {
  return Uint8Array.from(unpackJobs(buffer), (job) => (verifyFastest(job) ? 1 : 0));
}
