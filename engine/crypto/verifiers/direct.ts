/** A verifier that checks on the calling thread, at once, with whatever function it is given. */
import { countSize } from '../../protocol/sizes.js';
import type { Verifier, VerifierStats, VerifyJob } from '../verifier.js';

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
