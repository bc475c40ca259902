/**
 * R: the rate at which libsodium verifies on one core in a plain loop. The benchmark relates other
 * rates to R. This module also measures rates: benchmark.js repeats the work, each time on a new
 * item.
 */
import Benchmark from 'benchmark';
import {
  type KeyPair,
  keyPairFromSeed,
  sign,
  verifyOne as verifyWithLibsodium,
} from '../../engine/crypto/keys.js';
import type { VerifyJob } from '../../engine/crypto/verifier.js';
import { sha256Hex } from '../../engine/protocol/signing.js';

/**
 * Measures verifications per second of 250-byte messages on this thread, with each message used
 * once.
 */
export function rawVerifications(seed = 'raw', seconds = 0.5): number {
  return measureRate(jobSource(seed), verifyOrThrow(), seconds).perSecond;
}

/** R; null if libsodium does not load. */
export const rawSpeed = (): number | null => (verifyWithLibsodium ? rawVerifications() : null);

/**
 * Returns a function that throws for an invalid signature, because a loop over refusals would
 * measure different work.
 */
function verifyOrThrow(): (job: VerifyJob) => void {
  const verify = verifyWithLibsodium;
  if (!verify) throw new Error('sodium-native does not load, so R cannot be measured');
  return (job) => {
    if (!verify(job)) throw new Error('libsodium rejects a signature of the benchmark');
  };
}

// benchmark.js would compile the functions from their source, outside their scope.
Benchmark.support.decompilation = false;

export interface Rate {
  /** Rate by wall time, on one thread. */
  perSecond: number;
  /** CPU time per item, in microseconds. Other programs hardly affect this value. */
  cpuUs: number;
}

/**
 * Measures the rate of `work` and its CPU time.
 * @param prepare makes the items for one sample, outside the measured time. Each item is used once,
 *   so that no result comes from a cache.
 */
export function measureRate<T>(
  prepare: (count: number) => readonly T[],
  work: (item: T) => unknown,
  seconds = 0.3,
): Rate {
  let items: readonly T[] = [];
  let next = 0;
  let done = 0;
  let cpu = 0;
  let before = process.cpuUsage();
  const measured = new Benchmark({
    maxTime: seconds,
    setup(this: Benchmark) {
      items = prepare(this.count);
      next = 0;
      before = process.cpuUsage();
    },
    fn() {
      work(items[next++]!);
    },
    teardown() {
      cpu += cpuSeconds(process.cpuUsage(before));
      done += next;
    },
  });
  measured.run();
  // benchmark.js does not rethrow errors.
  if (measured.error) throw measured.error;
  return { perSecond: measured.hz, cpuUs: (1e6 * cpu) / done };
}

/** Measures the duration of asynchronous work and the CPU time of all threads, both in seconds. */
export async function measureTime(
  work: () => Promise<void>,
): Promise<{ wall: number; cpu: number }> {
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  await work();
  const wall = (performance.now() - start) / 1000;
  return { wall, cpu: cpuSeconds(process.cpuUsage(cpuBefore)) };
}

const cpuSeconds = ({ user, system }: { user: number; system: number }): number =>
  (user + system) / 1e6;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const KEYS = 1_000;
/** Approximate size of the signing input of a vote. */
const MESSAGE_BYTES = 250;

/** Returns a source of jobs with unique messages. */
function jobSource(seed: string): (count: number) => VerifyJob[] {
  const keys = Array.from({ length: KEYS }, (_, ordinal) => keyOf(seed, ordinal));
  let made = 0;
  return (count) => Array.from({ length: count }, () => jobOf(keys[made % KEYS]!, made++));
}

function keyOf(seed: string, ordinal: number): KeyPair {
  return keyPairFromSeed(Buffer.from(sha256Hex(`folkmoot-bench-key\n${seed}\n${ordinal}`), 'hex'));
}

function jobOf(key: KeyPair, ordinal: number): VerifyJob {
  const message = Buffer.alloc(MESSAGE_BYTES, 'benchmark ');
  message.writeUInt32BE(ordinal, 0);
  return { publicKey: key.publicKey, message, signature: sign(message, key) };
}
