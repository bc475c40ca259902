/**
 * Agents' quotas across several nodes in one network. An agent's quota applies once for all nodes.
 */
import { expectSame, openNode, served } from '../support/cluster/nodes.js';
import { MemoryOrder } from '../support/cluster/order.js';
import { temporaryFolder } from '../support/fixture.js';
import { agentOf, register, status } from '../support/service/signer.js';
import { call, expectError } from '../support/service/world.js';

const ada = agentOf('ada');
const bob = agentOf('bob');
const spec = { limits: 'spec' } as const;
const STATUS_QUOTA = 30;
const update = () => status(ada, { status: 'active' });

async function three() {
  const order = new MemoryOrder();
  const nodes = [
    await openNode(order, { name: 'n1' }),
    await openNode(order, { name: 'n2' }),
    await openNode(order, { name: 'n3' }),
  ];
  const urls = await Promise.all(nodes.map((node) => served(node, spec)));
  return { order, nodes, urls };
}

/** Sends requests to the nodes in turn. Returns the number accepted. */
async function inTurn(urls: readonly string[], times: number): Promise<number> {
  let done = 0;
  for (let time = 0; time < times; time += 1) {
    const { status: answer } = await call(urls[time % urls.length]!, update());
    if (answer === 200) done += 1;
  }
  return done;
}

test('quotas: an agent that rotates over three nodes has each quota once', async () => {
  const { order, nodes, urls } = await three();
  expect((await call(urls[0]!, register(ada))).status).toBe(201);
  // An address may register one agent per minute.
  await expectSame(order, nodes);
  expectError(await call(urls[1]!, register(bob)), 429, 'RATE_LIMITED', 'QUOTA_USED');
  expect(await inTurn(urls, STATUS_QUOTA)).toBe(STATUS_QUOTA);
  await expectSame(order, nodes);
  for (const url of urls) {
    const refused = await call(url, update());
    expectError(refused, 429, 'RATE_LIMITED', 'QUOTA_USED');
    expect(refused.error.details).toMatchObject({ limit: 'status', quota: STATUS_QUOTA });
  }
});

test('quotas: at most the requests in flight exceed a quota', async () => {
  const { order, nodes, urls } = await three();
  expect((await call(urls[0]!, register(ada))).status).toBe(201);
  await expectSame(order, nodes);
  const width = 4;
  let done = 0;
  for (let round = 0; round < 2 * STATUS_QUOTA; round += 1) {
    const asked = Array.from({ length: width }, (_, index) =>
      call(urls[(round + index) % urls.length]!, update()),
    );
    for (const { status: answer } of await Promise.all(asked)) if (answer === 200) done += 1;
    await expectSame(order, nodes);
    if (done > STATUS_QUOTA) break;
  }
  expect(done).toBeGreaterThanOrEqual(STATUS_QUOTA);
  expect(done).toBeLessThan(STATUS_QUOTA + width);
});

test('quotas: the same request at all nodes at once costs one', async () => {
  const { order, nodes, urls } = await three();
  expect((await call(urls[0]!, register(ada))).status).toBe(201);
  await expectSame(order, nodes);
  for (let time = 0; time < STATUS_QUOTA; time += 1) {
    const request = update();
    const answers = await Promise.all(urls.map((url) => call(url, request)));
    expect(answers.map(({ status: answer }) => answer)).toEqual([200, 200, 200]);
    await expectSame(order, nodes);
  }
  for (const url of urls) expectError(await call(url, update()), 429, 'RATE_LIMITED');
});

test('quotas: a starting node counts the requests of the window in the order, by age', async () => {
  const { order, nodes, urls } = await three();
  expect((await call(urls[0]!, register(ada))).status).toBe(201);
  await expectSame(order, nodes);
  expect(await inTurn(urls, STATUS_QUOTA)).toBe(STATUS_QUOTA);
  await expectSame(order, nodes);
  const path = temporaryFolder();
  const late = await openNode(order, { name: 'n4', path });
  expectError(await call(await served(late, spec), update()), 429, 'RATE_LIMITED', 'QUOTA_USED');
  for (const node of [...nodes, late]) await node.close();
  // Without other nodes, there are no clock offsets, so a minute has passed.
  await order.delete('card/');
  const later = await openNode(order, { name: 'n5', aheadMs: 61_000 });
  expect((await call(await served(later, spec), update())).status).toBe(200);
});
