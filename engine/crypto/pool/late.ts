/**
 * A pool that is started when it is worth it: a thread costs as much as some thousand signatures,
 * and to wait for it holds up whoever has only a few.
 */
import type { Verifier, VerifierStats } from '../verifier.js';
import { createDirectVerifier } from '../verifiers/direct.js';
import { verifyFastest } from '../verifiers/inline.js';

/**
 * @param after how many signatures are checked in this thread; when half of them are, `start` is
 *   called, so that its threads have loaded by then.
 */
export function createLateVerifier(after: number, start: () => Verifier): Verifier {
  const first = createDirectVerifier('pool', verifyFastest);
  let rest: Verifier | null = null;
  let asked = 0;
  let closed = false;
  return {
    name: first.name,
    get stats() {
      return rest ? sumOf(first.stats, rest.stats) : first.stats;
    },
    async verify(jobs) {
      asked += jobs.length;
      if (2 * asked > after && !closed) rest ??= start();
      return (rest && asked > after ? rest : first).verify(jobs);
    },
    async close() {
      closed = true;
      await Promise.all([first.close(), rest?.close()]);
    },
  };
}

function sumOf(a: VerifierStats, b: VerifierStats): VerifierStats {
  const slots = Math.max(a.batchSizes.length, b.batchSizes.length);
  const sum = (index: number) => (a.batchSizes[index] ?? 0) + (b.batchSizes[index] ?? 0);
  return {
    verified: a.verified + b.verified,
    rejected: a.rejected + b.rejected,
    batches: a.batches + b.batches,
    batchSizes: Array.from({ length: slots }, (_, index) => sum(index)),
  };
}
