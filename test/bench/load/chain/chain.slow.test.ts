/** Votes and transactions against a chain that is known: nothing twice, nothing unseen counted. */
import { expect, test } from 'vitest';
import { load, operation, sum } from '../generator.js';
import { type Behaviour, deeds, type KnownServer, knownServer } from '../known/known-server.js';

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

test.concurrent('chain: votes are signed well, none twice, and all are accepted', async () => {
  const server = await knownServer({ checks: true });
  const result = await load(server, votes);
  const { wrong, finalized, signatures, keys } = await server.record();
  expect(wrong).toEqual([]);
  expect(finalized.length).toBeGreaterThan(5);
  // All but registrations, farewells, and the one who listens.
  const messages = signatures - 2 * votes.agents - 1;
  expect(result.generator).toMatchObject({ messages, keys });
  const { accepted, refused } = operation(result, 'vote');
  // Those that finish the last block come after the schedule: six of eight are needed.
  const after = (await voteAnswers(server)) - accepted;
  expect(after).toBeGreaterThanOrEqual(0);
  expect(after).toBeLessThanOrEqual(6);
  expect(refused).toEqual([]);
  expect(result.ended).toBe('complete');
});

test.concurrent('chain: as many transactions are final as the server told of', async () => {
  const behaviours = [{ on: ['vote'], does: 'delay', fromMs: 50, toMs: 50 }] as const;
  const server = await knownServer({ checks: true, behaviours });
  const result = await load(server, transactions);
  const { wrong, signatures, keys } = await server.record();
  expect(wrong).toEqual([]);
  expect(result.generator).toMatchObject({ messages: signatures - 2 * 4 - 1, keys });
  const { proposed, accepted, finalized, tps } = result.transactions;
  expect([accepted, finalized]).toEqual([proposed, proposed]);
  expect(finalized).toBe(await finalOn(server));
  expect(tps).toBeCloseTo(finalized / result.measured_s);
  // A vote takes 50 ms, and no block is final without votes.
  expect(result.finality.min).toBeGreaterThan(45);
});

test.concurrent('chain: on a server that never finalizes, every transaction is late', async () => {
  const server = await knownServer({ finalizes: false });
  const result = await load(server, { ...transactions, durationMs: 1_000, finalityTimeoutMs: 800 });
  const { proposed, timed_out, finalized, tps } = result.transactions;
  expect(proposed).toBeGreaterThan(0);
  expect([timed_out, finalized, tps]).toEqual([proposed, 0, 0]);
  expect(result.finality.p50).toBe(null);
  expect(['INVALID', 'CLIENT_BOUND']).toContain(result.verdict);
});

test.concurrent('chain: what is only said in answers, and in no event, is not final', async () => {
  const types = ['block_status', 'network_metrics'];
  const server = await knownServer({ misdelivers: { types, every: 1, does: 'withhold' } });
  const result = await load(server, { ...transactions, durationMs: 1_000, finalityTimeoutMs: 800 });
  expect(await finalOn(server)).toBeGreaterThan(0);
  expect(result.transactions).toMatchObject({ finalized: 0, tps: 0 });
  expect(result.transactions.timed_out).toBe(result.transactions.proposed);
  expect(['INVALID', 'CLIENT_BOUND']).toContain(result.verdict);
});

test.concurrent('chain: votes need nothing but the interface', async () => {
  const server = await knownServer({ shows: 'interface', checks: true });
  const result = await load(server, votes);
  expect(result.server).toMatchObject({ version: null, limits_profile: null, epoch: null });
  expect(operation(result, 'vote').accepted).toBeGreaterThan(30);
  const { wrong, finalized } = await server.record();
  expect(wrong).toEqual([]);
  expect(finalized.length).toBeGreaterThan(5);
});

test.concurrent('chain: finality by network_metrics; nothing without network_id', async () => {
  const told = await knownServer({ shows: 'interface and network_id', checks: true });
  const result = await load(told, transactions);
  expect((await told.record()).wrong).toEqual([]);
  expect(result.transactions.finalized).toBeGreaterThan(5);
  expect(result.transactions.finalized).toBe(await finalOn(told));
  const bare = await knownServer({ shows: 'interface' });
  await expect(load(bare, transactions)).rejects.toThrow('network_id');
  expect((await bare.record()).requests.map(({ route }) => route)).not.toContain('register');
});

test.concurrent('chain: events that are none are passed over', async () => {
  const types = ['block_status', 'network_metrics', 'block_proposal', 'block_validation'];
  const server = await knownServer({ misdelivers: { types, every: 5, does: 'garble' } });
  const result = await load(server, transactions);
  expect((await server.record()).misdelivered).toBeGreaterThan(2);
  expect(result.ended).toBe('complete');
  expect(result.transactions.finalized).toBeGreaterThan(5);
  expect(result.transactions.finalized).toBeLessThanOrEqual(await finalOn(server));
});

test.concurrent('chain: a disk that is full from some moment on is what the run says', async () => {
  const full = { status: 503, code: 'NETWORK_ERROR', reason: 'DISK_FULL' } as const;
  const on = ['vote', 'propose', 'status'] as const;
  const behaviours = [{ ...full, on, after: 10, startMs: 400, does: 'refuse' }] as const;
  const server = await knownServer({ behaviours });
  const result = await load(server, { ...votes, keepAgents: true });
  const hit = deeds(await server.record(), 'refuse', on);
  const found = result.operations.flatMap(({ refused }) => refused);
  expect(found.every((one) => one.reason === 'DISK_FULL')).toBe(true);
  // After the schedule no more than the votes of a block are tried, and they are not counted.
  expect(hit.length - sum(found.map(({ count }) => count))).toBeLessThanOrEqual(votes.agents);
  expect(operation(result, 'vote').accepted).toBeGreaterThan(5);
  expect(result).toMatchObject({ ended: 'complete' });
  expect(['INVALID', 'CLIENT_BOUND']).toContain(result.verdict);
});

test.concurrent('chain: mixed operations are signed well and agree with the server', async () => {
  const server = await knownServer({ checks: true });
  const result = await load(server, { workload: 'mixed', agents: 10, batch: 2, rate: 200 });
  const { wrong, requests } = await server.record();
  expect(wrong).toEqual([]);
  for (const route of ['vote', 'meme', 'status'] as const) {
    const answered = requests.filter((one) => one.route === route && one.status < 300);
    const { accepted, refused } = operation(result, route);
    expect(refused).toEqual([]);
    expect(accepted, route).toBeGreaterThan(0);
    expect(accepted, route).toBeLessThanOrEqual(answered.length);
  }
  expect(operation(result, 'read').accepted).toBeGreaterThan(30);
});

/** What is hit in the measured time only can be counted exactly. */
const hits = { after: 10, endMs: 1_000 } as const;

async function lost(route: 'vote' | 'propose', behaviours: readonly Behaviour[]) {
  const server = await knownServer({ behaviours, checks: true });
  const result = await load(server, { ...votes, rate: 150, timeoutMs: 500 });
  const record = await server.record();
  expect(record.wrong).toEqual([]);
  expect(record.finalized.length).toBeGreaterThan(5);
  expect(result.ended).toBe('complete');
  const found = result.operations.filter(({ operation: name }) => name.startsWith(route));
  const count = (deed: 'drop' | 'cut' | 'lie') => deeds(record, deed, [route]).length;
  expect(count('drop') * count('cut') * count('lie')).toBeGreaterThan(0);
  expect(sum(found.map(({ broken }) => broken))).toBe(count('drop') + count('cut'));
  expect(sum(found.map(({ lies }) => lies))).toBe(count('lie'));
}

test.concurrent('chain: votes or their answers are lost: it goes on', async () => {
  const on = ['vote'] as const;
  await lost('vote', [
    { ...hits, on, every: 9, does: 'drop' },
    { ...hits, on, every: 11, does: 'cut' },
    { ...hits, on, every: 13, does: 'lie' },
  ]);
});

test.concurrent('chain: proposals or their answers are lost: it goes on', async () => {
  const on = ['propose'] as const;
  await lost('propose', [
    { ...hits, on, after: 2, every: 3, does: 'drop' },
    { ...hits, on, after: 2, every: 4, does: 'cut' },
    { ...hits, on, after: 2, every: 5, does: 'lie' },
  ]);
});
