/**
 * The known server does what its record states, because load runs are compared with this record.
 */
import { AgentClient, generateKeys, UnreachableError } from 'folkmoot/client';
import { type Behaviour, reads } from './behaviour.js';
import { type KnownServer, knownServer, treated } from './known-server.js';

const state = (server: KnownServer) => fetch(`${server.url}/api/v1/network/state`);

function agentOf({ url }: KnownServer): AgentClient {
  return new AgentClient({ url, keys: generateKeys() });
}

test('known server: counts signatures, and detects a repeated message', async () => {
  const server = await knownServer();
  const agent = agentOf(server);
  const capabilities = ['validator', 'producer'] as const;
  await agent.register({ personality: 'lawful', name: 'Ada', capabilities });
  const { block_hash } = await agent.propose({ transactions: ['one', 'two'] });
  await agent.vote({ block_hash, decision: 'approve' });
  await agent.postMeme({ file: 'a joke', caption: 'hm', tags: ['dry'] });
  await agent.setStatus('inactive', { reason: 'tired' });
  const { finalized, signatures, keys, repeated } = await server.record();
  expect(finalized).toMatchObject([{ hash: block_hash, transactions: 2 }]);
  // The signatures are registration, proposal, two transactions, vote, meme and status.
  expect([signatures, keys, repeated]).toEqual([7, 1, []]);
  const body = JSON.stringify({ block_hash, signature: 'the same' });
  const headers = { 'X-Agent-Public-Key': agent.publicKey };
  const target = `${server.url}/api/v1/consensus/vote`;
  for (let count = 0; count < 2; count += 1) await fetch(target, { method: 'POST', headers, body });
  expect((await server.record()).repeated).toEqual(['vote']);
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
