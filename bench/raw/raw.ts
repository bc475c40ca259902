/** R: what one core's libsodium verifies in a plain loop. All other figures are ratios to it. */
import { Worker } from 'node:worker_threads';
import { type VerifyJob, verifyWithLibsodium } from '../../engine/internal.js';
import { jobSource } from './jobs.js';
import { rateOf } from './measure.js';

/** Verifications a second of 250-byte messages, on this thread; each message once. */
export function rawVerifications(seed = 'raw', seconds = 0.5): number {
  return rateOf(jobSource(seed), verifyOrThrow(), seconds).perSecond;
}

/** R as far as it is known: null where libsodium does not load. */
export const rawSpeed = (): number | null => (verifyWithLibsodium ? rawVerifications() : null);

/** Throws for a signature that does not hold: a loop over refusals would be no measurement. */
export function verifyOrThrow(): (job: VerifyJob) => void {
  const verify = verifyWithLibsodium;
  if (!verify) throw new Error('sodium-native does not load here: there is no R');
  return (job) => {
    if (!verify(job)) throw new Error('libsodium refuses a signature of the benchmark');
  };
}

/** The same on so many threads at once, in all: the limit of whatever verifies in a pool. */
export async function rawVerificationsOf(threads: number, seed: string): Promise<number> {
  const url = new URL('./raw-thread.js', import.meta.url);
  const rates = Array.from({ length: threads }, (_, ordinal) => {
    const worker = new Worker(url, { workerData: `${seed} ${ordinal}` });
    return new Promise<number>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
  });
  return (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0);
}
