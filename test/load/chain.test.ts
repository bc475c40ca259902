/** Votes and transactions against a chain that is known: nothing twice, nothing unseen counted. */
import { expect, test } from 'vitest';
import { load, operation, sum } from './generator.js';
import { type Behaviour, deeds, type KnownServer, knownServer } from './known-server.js';

const votes = { workload: 'votes', agents: 8, rate: 200 } as const;
const transactions = { workload: 'transactions', rate: 200, batch: 5 } as const;

async function voteAnswers(server: KnownServer): Promise<number> {
  const answered = deeds(await server.record(), 'answer', ['vote']);
  return answered.filter(({ status }) => status === 201).length;
}

async function finalOn(server: KnownServer): Promise<number> {
  const { finalized } = await server.record();
  return sum(finalized.map((block) => block.transactions));
}

test('chain: votes are signed as they must, none comes twice, and all are accepted', async () => {
  const server = await knownServer({ checks: true });
  const result = await load(server, votes);
  const { wrong, finalized } = await server.record();
  expect(wrong).toEqual([]);
  expect(finalized.length).toBeGreaterThan(20);
  const { accepted, refused } = operation(result, 'vote');
  // Those that finish the last block are after the schedule: six of eight are needed.
  const after = (await voteAnswers(server)) - accepted;
  expect(after).toBeGreaterThanOrEqual(0);
  expect(after).toBeLessThan(6);
  expect(refused).toEqual([]);
  expect(result.ended).toBe('complete');
});

test('chain: transactions are final when the stream says so, as many as on the server', async () => {
  const behaviours = [{ on: ['vote'], does: 'delay', fromMs: 50, toMs: 50 }] as const;
  const server = await knownServer({ checks: true, behaviours });
  const result = await load(server, transactions);
  const { wrong } = await server.record();
  expect(wrong).toEqual([]);
  const { proposed, accepted, finalized, tps } = result.transactions;
  expect([accepted, finalized]).toEqual([proposed, proposed]);
  expect(finalized).toBe(await finalOn(server));
  expect(tps).toBeCloseTo(finalized / result.measured_s);
  // A vote takes 50 ms, and no block is final without votes.
  expect(result.finality.min).toBeGreaterThan(45);
});

test('chain: a server that never finalizes: every transaction is late, none is counted', async () => {
  const server = await knownServer({ finalizes: false });
  const result = await load(server, { ...transactions, durationMs: 1_000, finalityTimeoutMs: 800 });
  const { proposed, timed_out, finalized, tps } = result.transactions;
  expect(proposed).toBeGreaterThan(0);
  expect([timed_out, finalized, tps]).toEqual([proposed, 0, 0]);
  expect(result.finality.p50).toBe(null);
  expect(result.verdict).toBe('INVALID');
});

test('chain: votes need nothing but the interface', async () => {
  const server = await knownServer({ shows: 'interface', checks: true });
  const result = await load(server, votes);
  expect(result.server).toMatchObject({ version: null, limits_profile: null, epoch: null });
  expect(operation(result, 'vote').accepted).toBeGreaterThan(100);
  const { wrong, finalized } = await server.record();
  expect(wrong).toEqual([]);
  expect(finalized.length).toBeGreaterThan(10);
});

test('chain: finality by network_metrics alone; without a network_id nothing is sent', async () => {
  const told = await knownServer({ shows: 'interface and network_id', checks: true });
  const result = await load(told, transactions);
  expect((await told.record()).wrong).toEqual([]);
  expect(result.transactions.finalized).toBeGreaterThan(20);
  expect(result.transactions.finalized).toBe(await finalOn(told));
  const bare = await knownServer({ shows: 'interface' });
  await expect(load(bare, transactions)).rejects.toThrow('network_id');
  expect((await bare.record()).requests.map(({ route }) => route)).not.toContain('register');
});

/** What is hit in the measured time only can be counted exactly. */
const hits = { after: 10, endMs: 1_000 } as const;

async function lost(route: 'vote' | 'propose', behaviours: readonly Behaviour[]) {
  const server = await knownServer({ behaviours, checks: true });
  const result = await load(server, { ...votes, rate: 150, timeoutMs: 500 });
  const record = await server.record();
  expect(record.wrong).toEqual([]);
  expect(record.finalized.length).toBeGreaterThan(8);
  expect(result.ended).toBe('complete');
  const found = result.operations.filter(({ operation: name }) => name.startsWith(route));
  const count = (deed: 'drop' | 'cut' | 'lie') => deeds(record, deed, [route]).length;
  expect(count('drop') * count('cut') * count('lie')).toBeGreaterThan(0);
  expect(sum(found.map(({ broken }) => broken))).toBe(count('drop') + count('cut'));
  expect(sum(found.map(({ lies }) => lies))).toBe(count('lie'));
}

test('chain: votes and their answers are lost: it goes on, and sends nothing twice', async () => {
  const on = ['vote'] as const;
  await lost('vote', [
    { ...hits, on, every: 9, does: 'drop' },
    { ...hits, on, every: 11, does: 'cut' },
    { ...hits, on, every: 13, does: 'lie' },
  ]);
});

test('chain: proposals and their answers are lost: it goes on, and sends nothing twice', async () => {
  const on = ['propose'] as const;
  await lost('propose', [
    { ...hits, on, after: 2, every: 3, does: 'drop' },
    { ...hits, on, after: 2, every: 4, does: 'cut' },
    { ...hits, on, after: 2, every: 5, does: 'lie' },
  ]);
});
