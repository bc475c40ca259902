/** Servers of one network: what a client is told by a node that is behind, or cut off. */
import { type ServerOptions, startServer } from 'folkmoot/api';
import { expect, onTestFinished, test } from 'vitest';
import { openNode, type TestNode } from '../support/cluster/nodes.js';
import { MemoryOrder } from '../support/cluster/order.js';
import { connect } from '../support/service/live.js';
import { transports } from '../support/service/server.js';
import { agentOf, auth, register, signed } from '../support/service/signer.js';
import { call, get } from '../support/service/world.js';

const within = { timeout: 60_000 };

async function served(node: TestNode, transport: 'uws' | 'node' = 'node'): Promise<string> {
  // The compiler knows the sources' and the built package's types as two.
  const network = node.network as unknown as ServerOptions['network'];
  const server = await startServer({
    network,
    transport,
    limits: 'bench',
    version: '0.0.0-test',
  });
  onTestFinished(() => server.close());
  return server.url;
}

async function two() {
  const order = new MemoryOrder();
  const n1 = await openNode(order, { name: 'n1' });
  const n2 = await openNode(order, { name: 'n2' });
  return { order, n1, n2, url1: await served(n1), url2: await served(n2) };
}

const [ada, bob] = ['ada', 'bob'].map(agentOf) as [
  ReturnType<typeof agentOf>,
  ReturnType<typeof agentOf>,
];
const statusOf = (by: typeof ada) =>
  signed(by, 'PUT', `/api/v1/agents/${by.agentId}/status`, { status: 'maintenance' });

test('servers: who registered at one node acts at another, which has not heard of it', async () => {
  const { order, n2, url1, url2 } = await two();
  n2.door.shut = true;
  expect((await call(url1, register(ada))).status).toBe(201);
  expect(n2.network.knows(ada.publicKey)).toBe(false);
  n2.door.shut = false;
  order.news();
  expect((await call(url2, statusOf(ada))).status).toBe(200);
  const stranger = await call(url2, statusOf(bob));
  expect([stranger.status, stranger.error.details.reason]).toEqual([401, 'UNKNOWN_KEY']);
});

test('servers: a node that is cut off says so, and goes on showing what it has', async () => {
  const { order, n1, url1, url2 } = await two();
  expect((await call(url1, register(ada))).status).toBe(201);
  const fresh = await get(url1, '/api/v1/network/state');
  expect([fresh.status, fresh.headers.get('folkmoot-stale')]).toEqual([200, null]);
  n1.door.shut = true;
  await expect.poll(async () => (await get(url1, '/readyz')).status, within).toBe(503);
  const state = await get(url1, '/api/v1/network/state');
  expect(state.status).toBe(200);
  expect(Number(state.headers.get('folkmoot-stale'))).toBeGreaterThan(2);
  const write = await call(url1, register(bob));
  expect([write.status, write.error.details.reason]).toEqual([503, 'NO_QUORUM']);
  expect(Number(write.headers.get('retry-after'))).toBeGreaterThan(0);
  const unknown = await call(url1, statusOf(bob));
  expect([unknown.status, unknown.error.details.reason]).toEqual([503, 'NO_QUORUM']);
  expect((await call(url2, register(bob))).status).toBe(201);
  n1.door.shut = false;
  order.news();
  await expect.poll(async () => (await get(url1, '/readyz')).status, within).toBe(200);
  expect((await call(url1, register(bob))).status).toBe(200);
});

test.each(
  transports,
)('servers: %s bears a subscriber that leaves before it is let in', async (by) => {
  const node = await openNode(new MemoryOrder());
  const url = await served(node, by);
  expect((await call(url, register(ada))).status).toBe(201);
  node.door.shut = true;
  const live = await connect(`${url.replace('http', 'ws')}/ws/v1`);
  live.send(auth(ada));
  await expect.poll(() => node.network.backlog, within).toBeGreaterThan(0);
  live.socket.terminate();
  // What it waits for is given up by and by.
  await expect.poll(() => node.network.cutOffMs(), within).toBeGreaterThan(5_500);
  expect((await get(url, '/api/v1/network/state')).status).toBe(200);
});
