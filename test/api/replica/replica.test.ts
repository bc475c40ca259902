/** A server for a read-only folder serves reads and refuses all writes. */
import { createVerifier, type GenesisOptions, KeptNetwork, Network } from 'folkmoot';
import { startServer } from 'folkmoot/api';
import { completeScenario, simulate } from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import { Live } from '../../support/service/live.js';
import { oneTransport } from '../../support/service/server.js';
import { agentOf, auth, discuss, propose, register, vote } from '../../support/service/signer.js';
import { expectError, GENESIS_HASH, World } from '../../support/service/world.js';

const agents = [{ group: 'town', count: 12, producers: 2 }];
const scenario = completeScenario({ title: 'Small', agents, length: { blocks: 3 } });

async function served(transport: 'uws' | 'node') {
  const out = temporaryFolder();
  const result = await simulate(scenario, { out, verifier: 'inline' });
  const network = KeptNetwork.open({ path: `${out}/network` });
  const shared = { port: 0, transport, version: '0.0.0-test', limits: 'bench' as const };
  const server = await startServer({ ...shared, network });
  onTestFinished(async () => {
    await server.close();
    await network.close();
  });
  const wsUrl = `${server.url.replace('http', 'ws')}/ws/v1`;
  return { result, network, there: new World({ url: server.url, wsUrl }), path: `${out}/network` };
}

test.each(oneTransport)('replica over %s: reads equal those of the network', async (transport) => {
  const { result, there, network } = await served(transport);
  const state = await there.read('/api/v1/network/state');
  expect(state).toMatchObject({ block_height: result.measures.finalized, active_validators: 12 });
  const meta = await there.read('/api/v1/meta');
  expect(meta).toMatchObject({ digest: result.digest, epoch: network.epoch, durable: true });
  const { blocks } = (await there.read('/api/v1/blocks')) as { blocks: { block_hash: string }[] };
  for (const { block_hash } of blocks) await there.read(`/api/v1/blocks/${block_hash}/votes`);
  expect((await there.get('/metrics')).text).toMatch(/^folkmoot_commits_total 0$/m);
  expect((await there.get('/readyz')).status).toBe(200);
});

test.each(oneTransport)('replica over %s: refuses writes', async (transport) => {
  const { there, network } = await served(transport);
  const ada = agentOf('Ada');
  const before = network.read.position;
  for (const request of [
    register(ada, { name: 'Ada' }),
    propose(ada, { parent_hash: GENESIS_HASH }),
    vote(ada, { block_hash: 'e'.repeat(64), decision: 'approve' }),
    discuss(ada, { block_hash: 'e'.repeat(64), message: 'x'.repeat(2_000) }),
  ]) {
    const answer = await there.send(request);
    expectError(answer, 403, 'INVALID_REQUEST', 'READ_ONLY');
    expect(answer.error.message).toContain('folkmoot serve');
  }
  expect(network.read.position).toEqual(before);
});

test.each(oneTransport)('replica over %s: refuses auth on a socket', async (transport) => {
  const { there } = await served(transport);
  const live = await Live.open(there.wsUrl);
  live.send(auth(agentOf('Ada')));
  expect((await live.closed).code).toBe(4403);
  expect(live.received).toMatchObject([
    { type: 'error', error: { details: { reason: 'READ_ONLY' } } },
  ]);
});

test('replica: verifies a described request like a live server', async () => {
  const { there } = await served('node');
  const { method, path: target, headers, body } = register(agentOf('Ada'), { name: 'Ada' });
  const question = JSON.stringify({ method, target, headers, body });
  const asked = {
    ...{ method: 'POST', path: '/api/v1/debug/verify' },
    ...{ headers: { 'Content-Type': 'application/json' }, body: question },
  };
  expect(await there.do(asked, 200)).toMatchObject({ valid: true, kind: 'register' });
});

test('replica: shows commits of a writer in the same process', async () => {
  const path = temporaryFolder();
  const verifier = createVerifier('inline');
  const genesis: GenesisOptions = { network_id: 'beside' };
  const network = await Network.open({ path, genesis, verifier });
  const shown = KeptNetwork.open({ path });
  onTestFinished(async () => {
    await shown.close();
    await network.close();
    await verifier.close();
  });
  expect(shown.read.position).toEqual(network.read.position);
  expect(shown.epoch).toBe(network.epoch);
});
