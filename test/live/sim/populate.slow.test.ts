/**
 * `serve --scenario`: a served network with simulated agents, and an external agent that connects.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentClient, type Event, type EventStream, generateKeys } from 'folkmoot/client';
import { defaultScenario, simulate } from 'folkmoot/sim';
import { folkmoot } from '../../support/cli.js';
import { host, stop } from '../../support/host.js';
import { replayHere, suiteFolder } from '../../support/runs.js';
import { scenarioFile } from '../clients/scenarios.js';

const folder = suiteFolder();

type DataOf<T extends Event['type']> = (Event & { type: T })['data'];

/** Returns the next matching event of a type. The stream stays open. */
async function nextOf<T extends Event['type']>(
  events: EventStream,
  type: T,
  fits: (data: DataOf<T>) => boolean = () => true,
): Promise<DataOf<T>> {
  for (;;) {
    const { done, value } = await events.next();
    if (done) throw new Error('the stream ended');
    if (value.type === type && fits(value.data as DataOf<T>)) return value.data as DataOf<T>;
  }
}

/** Votes on the simulated agents' blocks until one vote is in time. */
async function voteOnNext(client: AgentClient) {
  const events = client.events(['proposals']);
  await events.opened;
  for (;;) {
    const { block_hash } = await nextOf(events, 'block_proposal');
    const vote = await client.vote({ block_hash, decision: 'approve' }).catch(() => null);
    if (!vote) continue;
    await events.return();
    return vote;
  }
}

const meant = { type: 'transfer', amount: 5 };

/** Proposes until a block is decided, because other agents may be faster on the same head. */
async function proposeUntilDecided(client: AgentClient, amount: number) {
  const events = client.events(['outcomes']);
  await events.opened;
  for (let number = 0; ; number += 1) {
    const data = JSON.stringify({ ...meant, amount, number });
    const block = await client.propose({ transactions: [data] }).catch(({ reason }) => {
      expect(['STALE_PARENT', 'OPEN_BLOCK']).toContain(reason);
      return null;
    });
    // The proposal was refused. The next closed block moves the head.
    const { status } = await nextOf(events, 'block_status', ({ block_hash }) => {
      return block === null || block_hash === block.block_hash;
    });
    if (!block || (status !== 'finalized' && status !== 'rejected')) continue;
    await events.return();
    return status;
  }
}

test('serve --scenario: an external agent takes part, and a restart continues', async () => {
  const scenario = scenarioFile(folder, {
    // The agents judge only the content, so they must have read the external block.
    agents: [{ group: 'town', count: 40, producers: 3, strategy: { kind: 'honest' } }],
    consensus: { voting_period_ms: 4_000, dormant_after: 7, policy: 'majority' },
  });
  const data = join(folder, 'town');
  const args = ['--scenario', scenario, '--speed', '5', '--policy', 'bft'];
  const first = await host({ data, args });
  await first.said('40 of 40 agents joined');

  const ada = new AgentClient({ url: first.url, keys: generateKeys() });
  expect(await ada.meta()).toMatchObject({
    ...{ voting_period_ms: 4_000, dormant_after: 7, policy: 'bft' },
  });
  const capabilities = ['validator', 'producer'] as const;
  await ada.register({ name: 'Ada', personality: 'lawful', capabilities });
  expect(await voteOnNext(ada)).toMatchObject({ agent_id: ada.agentId, decision: 'approve' });
  expect(await proposeUntilDecided(ada, 5)).toBe('finalized');
  expect(await proposeUntilDecided(ada, -5)).toBe('rejected');
  await stop(first);
  expect(await replayHere(data)).toMatchObject({ match: true, first_divergence: null });

  // An existing folder keeps its own parameters instead of using the scenario's.
  const second = await host({ data, args: ['--scenario', scenario, '--speed', '5'] });
  await second.said('40 of 40 agents joined');
  const later = new AgentClient({ url: second.url, keys: generateKeys() });
  await later.register({ name: 'Eve', personality: 'lawful', capabilities: ['validator'] });
  const { block_height } = await later.networkState();
  const outcomes = later.events(['outcomes']);
  await outcomes.opened;
  const finalized = await nextOf(outcomes, 'block_status', ({ status }) => status === 'finalized');
  expect(finalized.height).toBeGreaterThan(block_height);
  await outcomes.return();
  // The validators are the same forty agents, Ada and Eve.
  expect((await later.agents()).validators).toHaveLength(42);
  await stop(second);
  expect(await replayHere(data)).toMatchObject({ match: true, first_divergence: null });
});

test('serve: a script that throws stops the agents, not the server', async () => {
  writeFileSync(join(folder, 'broken.mjs'), 'export const produce = () => { throw Error("no"); };');
  const strategy = { kind: 'script', module: 'broken.mjs' };
  const scenario = scenarioFile(folder, {
    agents: [{ group: 'town', count: 3, producers: 1, strategy }],
  });
  const server = await host({
    data: join(folder, 'broken'),
    args: ['--scenario', scenario, '--speed', '20'],
  });
  await server.said('scenario agents stopped');
  expect(server.stderr()).toContain('broken.mjs: produce');
  const client = new AgentClient({ url: server.url, keys: generateKeys() });
  await expect.poll(async () => (await client.networkState()).active_validators).toBe(3);
  await stop(server);
});

test('serve: refuses a scenario without signatures', async () => {
  const out = join(folder, 'unsigned');
  await simulate(defaultScenario(5, { signatures: 'none', length: { blocks: 1 } }), { out });
  const data = join(out, 'network');
  const ended = await folkmoot(['serve', '--port', '0', '--data', data]);
  expect([ended.code, ended.stdout]).toEqual([2, '']);
  expect(ended.stderr).toContain('signatures: none');
});
