/**
 * The known server does what its record states, because load runs are compared with this record.
 */
import { AgentClient, ApiError, generateKeys, UnreachableError } from 'folkmoot/client';
import { expect, test } from 'vitest';
import { type Behaviour, reads } from './behaviour.js';
import { type KnownServer, knownServer, treated } from './known-server.js';

const state = (server: KnownServer) => fetch(`${server.url}/api/v1/network/state`);

function agentOf({ url }: KnownServer): AgentClient {
  return new AgentClient({ url, keys: generateKeys() });
}

test('known server: works with the client library', async () => {
  const server = await knownServer({ checks: true });
  const agent = agentOf(server);
  const both = ['validator', 'producer'] as const;
  const { agent_id } = await agent.register({
    personality: 'lawful',
    name: 'Ada',
    capabilities: both,
  });
  const events = agent.events(['blocks', 'outcomes', 'network', 'memes']);
  await events.opened;
  const { block_hash } = await agent.propose({ transactions: ['one', 'two'] });
  await agent.vote({ block_hash, decision: 'approve' });
  await agent.postMeme({ file: 'a joke', caption: 'hm', tags: ['dry'] });
  await agent.setStatus('inactive', { reason: 'tired' });

  const types: string[] = [];
  for await (const { type } of events) {
    types.push(type);
    if (types.length === 6) break;
  }
  const closed = ['block_status', 'network_metrics'];
  expect(types).toEqual([
    ...['block_proposal', 'block_validation'],
    ...closed,
    ...['meme_posted', 'agent_status'],
  ]);
  expect(await agent.networkState()).toMatchObject({ block_height: 1, head_hash: block_hash });
  expect(await agent.reputation(agent_id)).toMatchObject({ overall_score: 50 });
  const { finalized, wrong, signatures, keys } = await server.record();
  expect(finalized).toMatchObject([{ hash: block_hash, transactions: 2 }]);
  // The signatures are registration, auth, proposal, two transactions, vote, meme and status.
  expect([signatures, keys, wrong]).toEqual([8, 1, []]);
});

test('known server: detects a forged and a repeated message', async () => {
  const server = await knownServer({ checks: true });
  const agent = agentOf(server);
  const fields = { personality: 'lawful', name: 'Ada', capabilities: ['validator'] } as const;
  await agent.register(fields);
  const body = JSON.stringify({ block_hash: '0'.repeat(64), timestamp: new Date().toISOString() });
  const headers = { 'X-Agent-Public-Key': agent.publicKey };
  const target = `${server.url}/api/v1/consensus/vote`;
  for (let count = 0; count < 2; count += 1) await fetch(target, { method: 'POST', headers, body });
  expect((await server.record()).wrong).toEqual([
    expect.stringContaining('a vote without a whole key and signature'),
    expect.stringContaining('a vote came twice'),
    expect.stringContaining('a vote without a whole key and signature'),
  ]);
});

const every3 = { on: reads, every: 3 } as const;
const statuses: [Behaviour, (string | number)[]][] = [
  [{ ...every3, does: 'refuse', status: 503, code: 'NETWORK_ERROR', reason: 'DISK_FULL' }, [503]],
  [{ ...every3, does: 'lie' }, [200]],
  [{ ...every3, does: 'drop' }, ['broken']],
  [{ ...every3, does: 'cut' }, ['broken']],
];

test.each(statuses)('known server: applies %o to every third request', async (behaviour, [hit]) => {
  const server = await knownServer({ behaviours: [{ ...behaviour, after: 1 }] });
  const seen: (string | number)[] = [];
  for (let count = 0; count < 7; count += 1) {
    const answer = await state(server).catch(() => null);
    const data = await answer?.json().catch(() => null);
    seen.push(answer && data !== null ? answer.status : behaviour.does === 'lie' ? 200 : 'broken');
  }
  expect(seen).toEqual([200, 200, 200, hit, 200, 200, hit]);
  const record = await server.record();
  expect(treated(record, behaviour.does as 'lie', reads)).toHaveLength(2);
  expect(treated(record, 'answer', reads)).toHaveLength(5);
});

test('known server: a stall delays responses, a queue answers one by one', async () => {
  const stalled = await knownServer({
    behaviours: [{ on: reads, does: 'stall', startMs: 0, endMs: 300 }],
  });
  const queue = await knownServer({ behaviours: [{ on: reads, does: 'queue', eachMs: 20 }] });
  const asked = async (server: KnownServer) => {
    await Promise.all(Array.from({ length: 5 }, () => state(server)));
    return (await server.record()).requests;
  };
  const [held, queued] = await Promise.all([asked(stalled), asked(queue)]);
  for (const { answeredAtMs } of held) expect(answeredAtMs! - held[0]!.atMs).toBeGreaterThan(298);
  const last = Math.max(...queued.map(({ answeredAtMs }) => answeredAtMs!));
  expect(last - queued[0]!.atMs).toBeGreaterThan(98);
});

test('known server: dies as planned, and leaves its record', async () => {
  const server = await knownServer({
    behaviours: [{ on: reads, after: 1, does: 'die', startMs: 50 }],
  });
  await state(server);
  await state(server);
  await expect.poll(() => state(server).catch(() => 'gone')).toBe('gone');
  expect((await server.record()).requests.length).toBeGreaterThanOrEqual(2);
  await expect(agentOf(server).networkState()).rejects.toThrow(UnreachableError);
});

test('known server: the bare one has only the standard protocol, without /meta', async () => {
  const server = await knownServer({ shows: 'interface', citizens: 2 });
  const agent = agentOf(server);
  await expect(agent.meta()).rejects.toThrow(ApiError);
  expect(Object.keys(await agent.networkState())).toEqual([
    ...['block_height', 'active_validators', 'active_producers', 'pending_transactions'],
    'network_tps',
  ]);
  expect((await agent.agents()).producers).toHaveLength(2);
});
