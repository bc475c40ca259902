/** Each workload against a real server: the run's counts match the server's state. */
import { agentId } from 'folkmoot/signing';
import type { LoadOptions } from '../../../../dist/bench/load/options.js';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import type { LoadHooks } from '../../../../dist/bench/load/run.js';
import { deriveSignatory } from '../../../../dist/sim/agents/port.js';
import { runCommand } from '../../../support/command.js';
import { full } from '../../../support/counts.js';
import { transports, world } from '../../../support/service/server.js';
import { type Agent, propose, vote } from '../../../support/service/signer.js';
import type { World } from '../../../support/service/world.js';
import { load, sum } from '../generator.js';

/** Runs a load of a second. */
const loaded = (server: { url: string }, options: Partial<LoadOptions>, hooks: LoadHooks = {}) =>
  load(server, { workload: 'votes', durationMs: 1_000, connections: 32, ...options }, hooks);

interface Block {
  status: string;
  producer: { public_key: string };
  transactions: number;
  tally: { approve: number };
}

/** Newest first. */
const blocksOf = async (server: World) =>
  (await server.read('/api/v1/blocks?limit=1000')).blocks as Block[];

const validatorsOf = async (server: World) =>
  (await server.read('/api/v1/network/agents')).validators as unknown[];

/**
 * Expects that all requests were accepted, and none as a repeat. A busy machine may not send all
 * intended arrivals.
 */
function expectAllAccepted(result: LoadResult): void {
  expect(result.ended).toBe('complete');
  expect(result.arrivals.accepted).toBeGreaterThan(0);
  for (const { operation, sent, accepted, refused, lies } of result.operations) {
    const good = { operation, refused: [], lies: 0, accepted: sent };
    expect({ operation, refused, lies, accepted }).toEqual(good);
  }
}

// The transport makes hardly any difference to a client.
for (const transport of full ? transports : transports.slice(0, 1)) {
  test(`votes, ${transport}: each counted vote is on the server`, async () => {
    const server = await world({ transport, limits: 'off' });
    const result = await loaded(server, { agents: 30, rate: 300 });
    expectAllAccepted(result);
    const blocks = await blocksOf(server);
    const held = sum(blocks.map(({ tally }) => tally.approve));
    // The last block is decided after the measured time.
    expect(held - result.arrivals.accepted).toBeGreaterThanOrEqual(0);
    expect(held - result.arrivals.accepted).toBeLessThanOrEqual(21);
    expect(blocks.map(({ status, tally }) => [status, tally.approve])).toEqual(
      blocks.map(() => ['finalized', 21]),
    );
    expect(result.generator).toMatchObject({ keys: 30, prepared_ahead: 1 });
    // No validators remain that never vote.
    expect(await validatorsOf(server)).toEqual([]);
  });

  test(`transactions, ${transport}: counts the final transactions of the server`, async () => {
    const server = await world({ transport, limits: 'off' });
    const workload = 'transactions';
    const result = await loaded(server, { workload, batch: 120, rate: 1_200 });
    expectAllAccepted(result);
    const final = (await blocksOf(server)).filter(({ status }) => status === 'finalized');
    const held = sum(final.map(({ transactions }) => transactions));
    expect(held).toBe(120 * result.arrivals.accepted);
    expect(result.transactions).toMatchObject({
      ...{ proposed: held, accepted: held, finalized: held, timed_out: 0, unfinished: 0 },
    });
    expect(result.finality.count).toBe(held);
    // The keys belong to the senders and to four validators.
    expect(result.generator.keys).toBeGreaterThanOrEqual(Math.min(1_000, held));
  });

  test(`subscribers, ${transport}: each update reaches each subscriber once`, async () => {
    const { url } = await world({ transport, limits: 'off' });
    const workload = 'subscribers';
    const result = await loaded({ url }, { workload, agents: 40, rate: 40 });
    expectAllAccepted(result);
    const due = 40 * result.arrivals.accepted;
    expect(result.delivery).toMatchObject({
      ...{ subscribers: 40, expected: due, delivered: due, holes: 0, disconnects: 0 },
    });
    expect(result.delivery.latency.count).toBe(due);
  });
}

test('votes: are all accepted in a closed loop', async () => {
  const { url } = await world({ limits: 'off' });
  const result = await loaded({ url }, { agents: 4, rate: null, concurrency: 2 });
  expectAllAccepted(result);
});

test('votes: reactivates agents of an earlier run with the same seed', async () => {
  const server = await world({ limits: 'off' });
  const options = { agents: 4, rate: 50, durationMs: 300 };
  expectAllAccepted(await loaded(server, options));
  expectAllAccepted(await loaded(server, { ...options, keepAgents: true }));
  expect(await validatorsOf(server)).toHaveLength(4);
});

test('votes: retires agents that an earlier run with the same seed left active', async () => {
  const server = await world({ limits: 'off' });
  const options = { agents: 4, rate: 50, durationMs: 300 };
  expectAllAccepted(await loaded(server, { ...options, agents: 40, keepAgents: true }));
  // 40 validators that never vote block a smaller run.
  await expect(loaded(server, options)).rejects.toMatchObject({ problem: 'OTHER_VALIDATORS' });
  expectAllAccepted(await loaded(server, { ...options, seedNamed: true }));
  expect(await validatorsOf(server)).toEqual([]);
});

test('cleanup: sets the agents of a seed inactive, and no others', async () => {
  const server = await world({ limits: 'off' });
  const other = await server.join('other', { capabilities: ['validator'] });
  const options = { agents: 8, rate: 50, durationMs: 300, keepAgents: true };
  expectAllAccepted(await loaded(server, options));
  const clean = (of: string) => runCommand(['load', 'cleanup', '--seed', of, '--url', server.url]);
  expect(await clean('another')).toMatchObject({ code: 0, stdout: '0 agents set inactive\n' });
  expect(await validatorsOf(server)).toHaveLength(9);
  expect(await clean('known')).toMatchObject({ code: 0, stdout: '8 agents set inactive\n' });
  expect(await validatorsOf(server)).toEqual([
    expect.objectContaining({ public_key: other.publicKey }),
  ]);
  expect(await clean('known')).toMatchObject({ code: 0, stdout: '0 agents set inactive\n' });
});

test('mixed: sends all operations in their shares', async () => {
  const server = await world({ limits: 'off' });
  const workload = 'mixed';
  const result = await loaded(server, { workload, agents: 30, rate: 150, batch: 5 });
  expectAllAccepted(result);
  const sent = new Map(result.operations.map((one) => [one.operation, one.sent]));
  const share = (name: string) => (sent.get(name) ?? 0) / result.arrivals.accepted;
  // An operation falls behind by at most ten arrivals.
  const slack = 11 / result.arrivals.accepted;
  for (const [name, weight] of [
    ['vote', 0.6],
    ['read', 0.3],
    ['status', 0.07],
    ['meme', 0.03],
  ] as const) {
    expect(Math.abs(share(name) - weight), name).toBeLessThan(slack);
  }
  const final = (await blocksOf(server)).filter(({ status }) => status === 'finalized');
  const { proposed, finalized } = result.transactions;
  expect(result.transactions).toMatchObject({ finalized: proposed, timed_out: 0, unfinished: 0 });
  // On a slow machine, the last block is proposed after the measured time and is not counted.
  expect([5 * final.length, 5 * (final.length - 1)]).toContain(finalized);
});

test('others: refuses a run that cannot decide a block, and names the agents needed', async () => {
  const server = await world({ limits: 'off' });
  for (const name of ['one', 'two', 'three']) {
    await server.join(name, { capabilities: ['validator'] });
  }
  const refused = loaded(server, { agents: 6 });
  await expect(refused).rejects.toMatchObject({
    problem: 'OTHER_VALIDATORS',
    message: expect.stringMatching(/7 approvals.*--agents 7/),
  });
  // Refused before any agent was registered.
  expect(await validatorsOf(server)).toHaveLength(3);
  expectAllAccepted(await loaded(server, { agents: 7, rate: 70 }));
});

test('others: the run continues from a block of another agent', async () => {
  const server = await world({ limits: 'off' });
  const other = await server.join('other', { capabilities: ['producer'] });
  const enough = new AbortController();
  const options = { agents: 4, rate: 40, durationMs: 600_000 };
  const running = loaded(server, options, { signal: enough.signal });
  while ((await validatorsOf(server)).length < 4) await pause(20);
  for (let between = 0; between < 3; between += (await blockBetween(server, other)) ? 1 : 0) {
    await pause(50);
  }
  // The run's blocks resume after the last foreign block.
  const since = async () => {
    const blocks = await blocksOf(server);
    const theirs = blocks.findIndex((b) => isFinal(b) && b.producer.public_key === other.publicKey);
    return blocks.slice(0, theirs).filter(isFinal).length;
  };
  while ((await since()) < 2) await pause(50);
  enough.abort();
  expect((await running).ended).toBe('interrupted');
});

test('interrupted: sets its agents inactive if nothing was measured yet', async () => {
  const server = await world({ limits: 'off' });
  const interruption = new AbortController();
  const running = loaded(
    server,
    { agents: 20, rate: 20_000, durationMs: 20_000 },
    { signal: interruption.signal, onPreparing: () => interruption.abort() },
  );
  await expect(running).rejects.toMatchObject({ problem: 'NOTHING_MEASURED' });
  expect(await validatorsOf(server)).toEqual([]);
});

const isFinal = ({ status }: Block) => status === 'finalized';
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Proposes a block by a different agent, approved with the run's keys. Returns false if the run was
 * faster.
 */
async function blockBetween(server: World, by: Agent): Promise<boolean> {
  const { head_hash } = await server.read('/api/v1/network/state');
  const answer = await server.send(propose(by, { parent_hash: head_hash, transactions: [] }));
  if (answer.status !== 201) return false;
  const statuses: unknown[] = [];
  for (const ordinal of [1, 2, 3]) {
    const keys = deriveSignatory('load/known', ordinal);
    const voter = Object.assign(keys, { agentId: agentId(keys.publicKey) });
    const { block_hash } = answer.data;
    const voted = await server.send(vote(voter, { block_hash: String(block_hash) }));
    statuses.push(voted.data?.block_status);
  }
  return statuses.includes('finalized');
}
