/**
 * Votes and transactions against a known chain: nothing is repeated, and nothing unseen is counted.
 */
import { load, operation, sum } from '../generator.js';
import type { Behaviour } from '../known/behaviour.js';
import { against, type Found, knownServer, treated } from '../known/known-server.js';
import type { Record } from '../known/record.js';

const votes = { workload: 'votes', agents: 8, rate: 200 } as const;
const transactions = { workload: 'transactions', rate: 200, batch: 5 } as const;
/** Time after which the chain continues if responses or events are lost. */
const lossy = { timeoutMs: 1_500, finalityTimeoutMs: 800 } as const;

/** Returns true if the record contains several consecutive blocks. */
const hasBlocks = ({ record }: Found) => record.finalized.length > 5;

const finalIn = ({ finalized }: Record): number =>
  sum(finalized.map(({ transactions: count }) => count));

test.concurrent('chain: votes are unique and all accepted', async () => {
  const { result, record } = await against({}, votes, hasBlocks);
  const { repeated, signatures, keys } = record;
  expect(repeated).toEqual([]);
  // All signatures except registrations and the final status updates.
  const messages = signatures - 2 * votes.agents;
  expect(result.generator).toMatchObject({ messages, keys });
  const { accepted, refused } = operation(result, 'vote');
  // Votes that finish the last block are sent after the schedule. Six of eight are needed.
  const answered = treated(record, 'answer', ['vote']).filter(({ status }) => status === 201);
  const after = answered.length - accepted;
  expect(after).toBeGreaterThanOrEqual(0);
  expect(after).toBeLessThanOrEqual(6);
  expect([refused, result.ended]).toEqual([[], 'complete']);
});

test.concurrent('chain: counts the transactions that the server reported as final', async () => {
  const behaviours = [{ on: ['vote'], does: 'delay', fromMs: 50, toMs: 50 }] as const;
  const server = await knownServer({ behaviours });
  const result = await load(server, transactions);
  const record = await server.record();
  const { repeated, signatures, keys } = record;
  expect(repeated).toEqual([]);
  expect(result.generator).toMatchObject({ messages: signatures - 2 * 4, keys });
  const { proposed, accepted, finalized, tps } = result.transactions;
  expect([accepted, finalized]).toEqual([proposed, proposed]);
  expect(finalized).toBe(finalIn(record));
  expect(tps).toBeCloseTo(finalized / result.measured_s);
  // A vote takes 50 ms, and no block is final without votes.
  expect(result.finality.min).toBeGreaterThan(45);
});

test.concurrent('chain: finality reported in responses only does not count', async () => {
  const types = ['block_status', 'network_metrics'];
  const made = { misdelivers: { types, every: 1, does: 'withhold' } } as const;
  const { result, record } = await against(made, { ...transactions, ...lossy }, (found) => {
    return finalIn(found.record) > 0;
  });
  expect(finalIn(record)).toBeGreaterThan(0);
  expect(result.transactions).toMatchObject({ finalized: 0, tps: 0 });
  expect(result.transactions.timed_out).toBe(result.transactions.proposed);
  expect(['INVALID', 'CLIENT_BOUND']).toContain(result.verdict);
});

test.concurrent('chain: votes need only the standard protocol', async () => {
  const { result, record } = await against({ shows: 'interface' }, votes, hasBlocks);
  expect(result.server).toMatchObject({ version: null, limits_profile: null, epoch: null });
  expect(operation(result, 'vote').accepted).toBeGreaterThan(30);
  expect(record.repeated).toEqual([]);
});

test.concurrent('chain: uses network_metrics for finality; requires network_id', async () => {
  const made = { shows: 'interface and network_id' } as const;
  const { record, result } = await against(made, transactions, (found) => {
    return found.result.transactions.finalized > 5;
  });
  expect(record.repeated).toEqual([]);
  expect(result.transactions.finalized).toBe(finalIn(record));
  const bare = await knownServer({ shows: 'interface' });
  await expect(load(bare, transactions)).rejects.toMatchObject({ problem: 'NO_NETWORK_ID' });
  expect((await bare.record()).requests.map(({ route }) => route)).not.toContain('register');
});

test.concurrent('chain: ignores invalid events', async () => {
  const types = ['block_status', 'network_metrics', 'block_proposal', 'block_validation'];
  const made = { misdelivers: { types, every: 5, does: 'garble' } } as const;
  const { record, result } = await against(made, { ...transactions, ...lossy }, (found) => {
    return found.record.misdelivered > 2 && found.result.transactions.finalized > 5;
  });
  expect(result.ended).toBe('complete');
  expect(result.transactions.finalized).toBeGreaterThan(5);
  expect(result.transactions.finalized).toBeLessThanOrEqual(finalIn(record));
});

test.concurrent('chain: reports a disk that fills up during the run', async () => {
  const full = { status: 503, code: 'NETWORK_ERROR', reason: 'DISK_FULL' } as const;
  const on = ['vote', 'propose', 'status'] as const;
  const behaviours = [{ ...full, on, after: 10, startMs: 400, does: 'refuse' }] as const;
  const asked = { ...votes, keepAgents: true };
  const { record, result } = await against({ behaviours }, asked, (found) => {
    return operation(found.result, 'vote').accepted > 5;
  });
  const hit = treated(record, 'refuse', on);
  const found = result.operations.flatMap(({ refused }) => refused);
  expect(found.every((one) => one.reason === 'DISK_FULL')).toBe(true);
  // After the schedule, at most one block's votes are sent, and they are not counted.
  expect(hit.length - sum(found.map(({ count }) => count))).toBeLessThanOrEqual(votes.agents);
  expect(operation(result, 'vote').accepted).toBeGreaterThan(5);
  expect(result).toMatchObject({ ended: 'complete' });
  expect(['INVALID', 'CLIENT_BOUND']).toContain(result.verdict);
});

/** Limits faults to the measured time, because only these can be counted exactly. */
const hitsUntil = (endMs: number) => ({ after: 10, endMs }) as const;

async function lost(route: 'vote' | 'propose', behaviours: (endMs: number) => Behaviour[]) {
  const counts = ({ record: of }: Found) =>
    (['drop', 'cut', 'lie'] as const).map((how) => treated(of, how, [route]).length);
  const asked = { ...votes, ...lossy, rate: 150 };
  const attempt = await against(behaviours, asked, (one) => {
    return hasBlocks(one) && counts(one).every((count) => count > 0);
  });
  const { result, record } = attempt;
  const [dropped, cut, lies] = counts(attempt) as [number, number, number];
  expect(record.repeated).toEqual([]);
  expect(record.finalized.length).toBeGreaterThan(5);
  expect(result.ended).toBe('complete');
  const found = result.operations.filter(({ operation: name }) => name.startsWith(route));
  expect(Math.min(dropped, cut, lies)).toBeGreaterThan(0);
  expect(sum(found.map(({ broken }) => broken))).toBe(dropped + cut);
  expect(sum(found.map((one) => one.lies))).toBe(lies);
}

test.concurrent('chain: continues after lost votes or responses', async () => {
  const on = ['vote'] as const;
  await lost('vote', (endMs) => [
    { ...hitsUntil(endMs), on, every: 9, does: 'drop' },
    { ...hitsUntil(endMs), on, every: 11, does: 'cut' },
    { ...hitsUntil(endMs), on, every: 13, does: 'lie' },
  ]);
});

test.concurrent('chain: continues after lost proposals or responses', async () => {
  const on = ['propose'] as const;
  await lost('propose', (endMs) => [
    { ...hitsUntil(endMs), on, after: 2, every: 3, does: 'drop' },
    { ...hitsUntil(endMs), on, after: 2, every: 4, does: 'cut' },
    { ...hitsUntil(endMs), on, after: 2, every: 5, does: 'lie' },
  ]);
});
