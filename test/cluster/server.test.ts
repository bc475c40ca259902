/** Servers on one network: responses from a node that lags or is cut off. */
import { expectSame, openNode, served } from '../support/cluster/nodes.js';
import { MemoryOrder } from '../support/cluster/order.js';
import { connect } from '../support/service/live.js';
import { oneTransport, world } from '../support/service/server.js';
import { agentOf, auth, register, signed } from '../support/service/signer.js';
import { call, get } from '../support/service/world.js';

const within = { timeout: 60_000 };

test('servers: report the status of all nodes and of etcd', async () => {
  const { order, n1, n2, url1, url2 } = await two();
  expect((await call(url1, register(ada))).status).toBe(201);
  await expectSame(order, [n1, n2]);
  n1.network.listensAt(url1);
  const shown = async () => (await get(url2, '/api/v1/cluster')).data;
  const of = (node: string) => ({
    ...{ node, alive: true, behind: 0, entry: 1, url: expect.any(String) },
  });
  const etcd = { members: 1, answering: 1, leader: true };
  await expect
    .poll(shown, within)
    .toMatchObject({ node: 'n2', cut_off_ms: 0, nodes: [of('n1'), of('n2')], etcd });
  const { knows } = (await get(url2, '/api/v1/control')).data;
  expect(knows).toEqual(['cluster']);
  // A stopped node's last card remains.
  await n1.close();
  const { version } = order.head;
  await n2.network.barrier();
  const gone = { node: 'n1', alive: false, batch: version, behind: 1, url: url1 };
  await expect
    .poll(shown, within)
    .toMatchObject({ nodes: [gone, { node: 'n2', batch: version + 1 }], batches: version + 1 });
  n2.door.shut = true;
  const unknown = { etcd: { answering: 0 }, cut_off_ms: expect.any(Number) };
  await expect.poll(shown, within).toMatchObject(unknown);
});

test('servers: a server without a cluster has no cluster status', async () => {
  const { url } = await world();
  const none = await get(url, '/api/v1/cluster');
  expect([none.status, none.error.details.reason]).toEqual([404, 'UNKNOWN_ROUTE']);
  expect((await get(url, '/api/v1/control')).data.knows).toEqual([]);
});

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

test('servers: an agent registered at one node acts at a lagging one', async () => {
  const { n2, url1, url2 } = await two();
  n2.door.shut = true;
  expect((await call(url1, register(ada))).status).toBe(201);
  expect(n2.network.knows(ada.publicKey)).toBe(false);
  n2.door.shut = false;
  expect((await call(url2, statusOf(ada))).status).toBe(200);
  const stranger = await call(url2, statusOf(bob));
  expect([stranger.status, stranger.error.details.reason]).toEqual([401, 'UNKNOWN_KEY']);
});

test('servers: a cut-off node reports NO_QUORUM and still answers reads', async () => {
  const { n1, url1, url2 } = await two();
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
  await expect.poll(async () => (await get(url1, '/readyz')).status, within).toBe(200);
  expect((await call(url1, register(bob))).status).toBe(200);
});

test.each(oneTransport)('servers: %s a subscriber leaves before it is admitted', async (by) => {
  const node = await openNode(new MemoryOrder());
  const url = await served(node, { transport: by });
  expect((await call(url, register(ada))).status).toBe(201);
  node.door.shut = true;
  const live = await connect(`${url.replace('http', 'ws')}/ws/v1`);
  live.send(auth(ada));
  await expect.poll(() => node.network.backlog, within).toBeGreaterThan(0);
  live.socket.terminate();
  // The pending request is given up after a while.
  await expect.poll(() => node.network.cutOffMs(), within).toBeGreaterThan(5_500);
  expect((await get(url, '/api/v1/network/state')).status).toBe(200);
});
