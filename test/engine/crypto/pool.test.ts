/** The pool: order, limits, fairness and thread deaths. */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { keyPairFromSeed, sign } from '../../../dist/engine/crypto/keys.js';
import { createPoolVerifier, type PoolVerifier } from '../../../dist/engine/crypto/pool.js';
import { VerifierBusy, type VerifyJob } from '../../../dist/engine/crypto/verifier.js';
import { limits } from '../../../dist/engine/protocol/limits.js';
import { temporaryFolder } from '../../support/fixture.js';

const keyPair = keyPairFromSeed(new Uint8Array(32).fill(7));
const valid = signedJob('a vote');
const invalid: VerifyJob = { ...valid, message: new TextEncoder().encode('another vote') };
const opened: PoolVerifier[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((pool) => pool.close()));
});

test('pool: returns verdicts in the order of jobs under concurrent calls', async () => {
  const pool = open(2);
  const calls = Array.from({ length: 400 }, (_, call) => {
    const size = call % 20 === 0 ? 150 : 1 + (call % 7);
    return Array.from({ length: size }, (_, index) => (call * 31 + index * index) % 3 !== 0);
  });
  const verdicts = await Promise.all(
    calls.map((call) => pool.verify(call.map((good) => (good ? valid : invalid)))),
  );
  expect(verdicts).toEqual(calls);
});

test('pool: counts verified and rejected signatures, and batches', async () => {
  const pool = open(2);
  expect(await pool.verify([])).toEqual([]);
  expect(pool.stats).toMatchObject({ verified: 0, rejected: 0, batches: 0, batchSizes: [] });
  await pool.verify([valid, invalid, valid]);
  expect(pool.stats).toMatchObject({ verified: 2, rejected: 1, batches: 1, batchSizes: [0, 1] });
});

test('pool: throws VerifierBusy while its queue is full', async () => {
  const pool = open(2);
  const most = new Array<VerifyJob>(limits.verifyQueue).fill(valid);
  const full = pool.verify(most);
  // The threads have taken some jobs, but the queue has no room for a second call of this size.
  await expect(pool.verify(most)).rejects.toThrow(VerifierBusy);
  expect((await full).every((good) => good)).toBe(true);
  expect(await pool.verify([valid])).toEqual([true]);
  const tooMany = new Array<VerifyJob>(limits.verifyQueue + 1).fill(valid);
  await expect(pool.verify(tooMany)).rejects.toThrow(VerifierBusy);
});

test('pool: throws a RangeError for wrong lengths, without effect on other calls', async () => {
  const pool = open(1);
  const good = pool.verify([valid]);
  const key = { ...valid, publicKey: valid.publicKey.subarray(1) };
  const signature = { ...valid, signature: new Uint8Array(65) };
  await expect(pool.verify([valid, key])).rejects.toThrow(RangeError);
  await expect(pool.verify([signature])).rejects.toThrow(RangeError);
  expect(await good).toEqual([true]);
  expect(pool.stats.verified).toBe(1);
  for (const threads of [0, 257, 1.5, Number.NaN]) {
    expect(() => createPoolVerifier({ threads })).toThrow(RangeError);
  }
});

test('pool: a vote does not wait for an earlier request of 1,000 signatures', async () => {
  const pool = open(1);
  const finished: string[] = [];
  const bulk = pool.verify(new Array<VerifyJob>(1_000).fill(valid));
  void bulk.then(() => finished.push('bulk'));
  // By now, the threads have taken the bulk request's maximum share.
  await setImmediate();
  const vote = pool.verify([valid]).then(() => {
    finished.push('vote');
    return pool.stats.verified;
  });
  await bulk;
  expect(finished).toEqual(['vote', 'bulk']);
  expect(await vote).toBeLessThan(500);
});

test('pool: a stream of votes does not starve a bulk request', async () => {
  const pool = open(1);
  const finished: string[] = [];
  const votes = Array.from({ length: 4_000 }, () =>
    pool.verify([valid]).then(() => finished.push('vote')),
  );
  const bulk = pool.verify(new Array<VerifyJob>(200).fill(valid));
  await bulk.then(() => finished.push('bulk'));
  await Promise.all(votes);
  expect(finished.indexOf('bulk')).toBeLessThan(2_000);
});

test('pool: completes batches whose threads are terminated', async () => {
  const pool = await openAll(2);
  const before = countVerdicts(pool);
  const slow = [slowJob(1024 * 1024, true), slowJob(1024 * 1024, false)];
  for (let round = 0; round < 3; round++) {
    const expected = Array.from({ length: 40 }, (_, index) => index % 3 === 0);
    let answered = false;
    const heavy = pool.verify(expected.map((good) => slow[good ? 0 : 1]!));
    void heavy.then(() => {
      answered = true;
    });
    const votes = expected.map((good) => pool.verify([good ? valid : invalid]));
    // The threads have taken the first batches, each with 20 MB to hash, which keeps them busy.
    await setImmediate();
    const killed = [...pool.threads];
    await Promise.all(killed.map((thread) => thread.terminate()));
    const others = pool.threads.map(loaded);
    expect(answered, 'a thread must die with its batch').toBe(false);
    expect(await heavy).toEqual(expected);
    expect((await Promise.all(votes)).flat()).toEqual(expected);
    expect(pool.threads.some((thread) => killed.includes(thread))).toBe(false);
    await Promise.all(others);
  }
  expect(countVerdicts(pool) - before).toBe(3 * 80);
});

test('pool: rejects a batch whose threads keep dying, and continues', async () => {
  const pool = open(1);
  const slow = slowJob(1024 * 1024, true);
  let outcome: unknown;
  pool.verify(new Array<VerifyJob>(60).fill(slow)).then(
    (verdicts) => {
      outcome = verdicts;
    },
    (reason: unknown) => {
      outcome = reason;
    },
  );
  while (outcome === undefined) {
    await Promise.all(pool.threads.map(loaded));
    await Promise.all(pool.threads.map((thread) => thread.terminate()));
    await setImmediate();
  }
  expect(String(outcome)).toBe('Error: 60 signatures not verified: 4 attempts failed');
  expect(await pool.verify([valid, invalid])).toEqual([true, false]);
});

test.each([1, 2, 5])('pool: %i threads start on demand and share a block', async (most) => {
  const pool = open(most);
  expect(pool.stats.threads).toEqual({ running: 1, limit: most, busy: 0 });
  expect(await verifyBlock(pool)).toBe(1);
  expect(pool.stats.threads.running).toBe(1);
  await expect.poll(() => verifyBlock(pool), { timeout: 60_000, interval: 1 }).toBe(most);
  await verifyBlock(pool);
  expect(pool.stats.threads).toEqual({ running: most, limit: most, busy: 0 });
});

test('pool: few callers need one thread, however long they call', async () => {
  const pool = open(5);
  const call = async () => {
    for (let calls = 0; calls < 200; calls += 1) await pool.verify([valid]);
  };
  await Promise.all(Array.from({ length: 16 }, call));
  expect(pool.stats).toMatchObject({ verified: 3_200, threads: { running: 1 } });
});

describe('pool: verifies each signature once, although a thread', () => {
  test.each([
    ['dies', 'die', 3],
    ['hangs', 'hang', 3],
    ['gives too few verdicts', 'short', 3],
    ['gives no verdicts', 'garbage', 3],
    ['gives a text', 'text', 1],
    ['throws', 'throw', 3],
    ['dies while loading', 'unloadable', 1],
  ])('%s', async (_, fault, most) => {
    const pool = openFaulty(most, fault);
    const jobs = Array.from({ length: 600 }, (_, index) => (index % 3 === 0 ? invalid : valid));
    const calls = [pool.verify(jobs), ...jobs.map((job) => pool.verify([job]))];
    const verdicts = await Promise.all(calls);
    const expected = jobs.map((job) => job === valid);
    expect(verdicts[0]).toEqual(expected);
    expect(verdicts.slice(1).flat()).toEqual(expected);
    expect(pool.stats).toMatchObject({ verified: 800, rejected: 400 });
    expect(await pool.verify([valid, invalid])).toEqual([true, false]);
  });

  test('always hangs: the call is rejected, and the pool closes', async () => {
    const pool = openFaulty(1, 'hang always', 1_000);
    await expect(pool.verify([valid])).rejects.toThrow('1 signatures not verified');
    await pool.close();
    expect(pool.stats).toMatchObject({ verified: 0, rejected: 0 });
  });
});

test('pool: close settles pending calls, then refuses new ones', async () => {
  const pool = open(2);
  const calls = Array.from({ length: 500 }, () => pool.verify([valid, invalid]));
  const closed = pool.close();
  await expect(pool.verify([valid])).rejects.toThrow('verifier pool is closed');
  await closed;
  await pool.close();
  expect(await Promise.all(calls)).toEqual(calls.map(() => [true, false]));
  expect(pool.threads.length).toBe(0);
});

/**
 * Waits for a thread's first message, which it sends once loaded. In Node 20, terminating a thread
 * while it loads a module can crash the process (v8::Module::IsGraphAsync).
 */
const loaded = (thread: Worker) =>
  new Promise<void>((resolve) => {
    for (const event of ['message', 'exit']) thread.once(event, () => resolve());
  });

function open(threads: number): PoolVerifier {
  const pool = createPoolVerifier({ threads });
  opened.push(pool);
  return pool;
}

const countVerdicts = ({ stats }: PoolVerifier) => stats.verified + stats.rejected;

const block = Array.from({ length: 1_000 }, (_, index) => (index % 7 === 0 ? invalid : valid));

/** Verifies a block. Returns the number of threads that shared it. */
async function verifyBlock(pool: PoolVerifier): Promise<number> {
  const verdicts = pool.verify(block);
  const { busy } = pool.stats.threads;
  expect(await verdicts).toEqual(block.map((job) => job === valid));
  return busy;
}

/** Opens a pool, and verifies blocks until all threads have started and loaded. */
async function openAll(threads: number): Promise<PoolVerifier> {
  const pool = open(threads);
  for (let shared = 0; shared < threads; ) shared = await verifyBlock(pool);
  return pool;
}

/** Opens a pool in which a thread has a fault once: see faulty-child.mjs. */
function openFaulty(threads: number, fault: string, patienceMs = 10_000): PoolVerifier {
  const program = new URL('./faulty-child.mjs', import.meta.url);
  process.env.FAULT = fault;
  process.env.FAULT_ONCE = join(temporaryFolder(), 'fault');
  const pool = createPoolVerifier({ threads, program, patienceMs });
  opened.push(pool);
  return pool;
}

function signedJob(text: string): VerifyJob {
  const message = new TextEncoder().encode(text);
  return { publicKey: keyPair.publicKey, message, signature: sign(message, keyPair) };
}

/** Builds a job whose message takes at least a millisecond to hash. */
function slowJob(messageBytes: number, good: boolean): VerifyJob {
  const job = signedJob('x'.repeat(messageBytes));
  return good ? job : { ...job, signature: job.signature.toReversed() };
}
