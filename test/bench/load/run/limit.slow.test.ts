/**
 * The verdict on a run below its target rate names the server, the generator or the workload as the
 * cause.
 */
import type { LoadResult } from '../../../../bench/load/result.js';
import { load, operation, until } from '../generator.js';
import type { Behaviour } from '../known/behaviour.js';
import { knownServer } from '../known/known-server.js';

/** Behaviour slow enough that a block waits for the server rather than the machine. */
const slow: Behaviour = { on: ['propose', 'vote'], does: 'delay', fromMs: 100, toMs: 100 };
const refuses = (route: 'vote' | 'propose', every: number): Behaviour => ({
  ...{ on: [route], every, does: 'refuse', status: 503 },
  ...{ code: 'NETWORK_ERROR', reason: 'DISK_FULL' },
});
const asked = { workload: 'votes', rate: 200, durationMs: 4_000 } as const;

/** Repeats the run while the machine is too busy for the generator. */
const onIdleMachine = (attempt: () => Promise<LoadResult>) =>
  until(attempt, ({ verdict }) => verdict !== 'CLIENT_BOUND');

const votes = (agents: number) =>
  onIdleMachine(async () => {
    return load(await knownServer({ behaviours: [slow] }), { ...asked, agents });
  });

test('limit: a run with too few agents names a sufficient number', async () => {
  const few = await votes(10);
  // Seven votes decide a block. The proposal and the votes take 200 ms.
  expect(few.verdict).toBe('WORKLOAD_BOUND');
  expect(few.arrivals.held!.answers).toBeGreaterThan(0.5);
  const { per_s, option, value } = few.arrivals.limit!;
  expect(option).toBe('--agents');
  expect(per_s).toBeLessThan(40);
  expect(few.reasons[0]).toContain(`use --agents ${value}`);
  // The rate times 200 ms is 40 votes per block, which takes 59 agents to decide.
  expect(value).toBeGreaterThanOrEqual(59);
  let result = few;
  // If the machine is busier in the next run, blocks are slower and more agents are needed.
  for (let left = 5; left > 0 && result.verdict === 'WORKLOAD_BOUND'; left -= 1) {
    const { value: more } = result.arrivals.limit!;
    expect(more).toBeGreaterThan(result.asked.agents);
    result = await votes(more);
  }
  expect(result.verdict, result.reasons.join()).not.toBe('WORKLOAD_BOUND');
});

test('limit: small blocks limit a workload', async () => {
  const server = await knownServer({ behaviours: [slow] });
  const change = { workload: 'transactions', rate: 100, batch: 2, durationMs: 4_000 } as const;
  const { verdict, arrivals } = await load(server, change);
  expect([verdict, arrivals.limit!.option]).toEqual(['WORKLOAD_BOUND', '--batch']);
  // A block takes 200 ms, or half that time if the next block is proposed meanwhile.
  expect(arrivals.limit!.value).toBeGreaterThanOrEqual(10);
});

test('limit: a server that answers one by one is the limit, not the workload', async () => {
  const queue: Behaviour = { on: ['vote'], does: 'queue', eachMs: 10 };
  const server = await knownServer({ behaviours: [queue] });
  const result = await load(server, { ...asked, agents: 300, connections: 8 });
  expect(result.verdict).toBe('INVALID');
  expect(result.arrivals.held!.connections).toBeGreaterThan(0.5);
  expect(result.reasons.join()).toContain('--connections');
});

test('limit: a server that refuses is the limit, with any number of agents', async () => {
  const server = await knownServer({ behaviours: [slow, refuses('vote', 3)] });
  const result = await load(server, { ...asked, agents: 10 });
  expect(result.verdict).toBe('INVALID');
  expect(operation(result, 'vote').refused).not.toEqual([]);
});

test('limit: a server that refuses proposals is the limit, not the workload', async () => {
  const server = await knownServer({ behaviours: [refuses('propose', 2)] });
  const result = await load(server, { ...asked, agents: 10, rate: 2_000 });
  expect(operation(result, 'propose (beside)').refused).not.toEqual([]);
  expect(result.verdict).toBe('INVALID');
});

test('limit: a closed loop with too few agents notes unused concurrency', async () => {
  const result = await onIdleMachine(async () => {
    const server = await knownServer({ behaviours: [slow] });
    return load(server, { ...asked, rate: null, concurrency: 32, agents: 10 });
  });
  expect(['VALID', 'UNSTABLE']).toContain(result.verdict);
  expect(result.arrivals.held!.answers).toBeGreaterThan(0.5);
  expect(result.reasons.join()).toContain('--concurrency');
  expect(result.arrivals.limit).toBe(null);
});
