/**
 * Barriers, especially for unknown keys. Callers share one barrier, and empty batches are limited.
 */
import { bounds } from '../../dist/cluster/node/bounds.js';
import { agents, openNode, registration, served } from '../support/cluster/nodes.js';
import { MemoryOrder } from '../support/cluster/order.js';
import { agentOf, register, status } from '../support/service/signer.js';
import { call } from '../support/service/world.js';

const [ada, bob] = agents as [(typeof agents)[0], (typeof agents)[0]];

/** Counts batches without requests. */
const empty = (order: MemoryOrder) =>
  order.batches.filter(({ inputs }) => inputs.length === 0).length;

test('barriers: callers before the next batch share one barrier', async () => {
  const order = new MemoryOrder();
  const node = await openNode(order);
  const all = await Promise.all(Array.from({ length: 5_000 }, () => node.network.barrier()));
  expect(new Set(all)).toEqual(new Set([null]));
  expect(order.batches).toHaveLength(1);
});

test('barriers: share a batch with requests instead of an empty batch', async () => {
  const order = new MemoryOrder();
  const node = await openNode(order);
  const verified = await node.verify(registration(ada));
  await node.network.barrier();
  const [late, outcome] = await Promise.all([
    node.network.barrier(),
    node.network.submit(verified),
  ]);
  expect([[late, outcome.result], empty(order)]).toEqual([[null, 'accepted'], 1]);
});

test('barriers: a waiting barrier is refused when the node closes', async () => {
  const node = await openNode(new MemoryOrder());
  await node.network.barrier();
  const waiting = node.network.barrier();
  await node.close();
  expect(await waiting).toMatchObject({ reason: 'STOPPING' });
});

test('barriers: a flood of unknown keys causes few, and known agents continue', async () => {
  const order = new MemoryOrder();
  const n1 = await openNode(order, { name: 'n1' });
  const n2 = await openNode(order, { name: 'n2' });
  const url = await served(n1);
  const known = agentOf('known');
  expect((await call(url, register(known))).status).toBe(201);
  expect((await n2.submit(registration(bob))).result).toBe('accepted');
  const before = empty(order);
  const began = performance.now();
  let going = true;
  let done = 0;
  const goOn = async () => {
    while (going) {
      const answer = await call(url, status(known, { status: 'active' }));
      expect(answer.status).toBe(200);
      done += 1;
    }
  };
  const goesOn = goOn();
  const strangers = Array.from({ length: 300 }, (_, index) => agentOf(`stranger ${index}`));
  while (strangers.length > 0) {
    const some = strangers.splice(0, 20);
    const asked = some.map((by) => call(url, status(by, { status: 'active' })));
    for (const { status: answer, error } of await Promise.all(asked)) {
      expect([answer, error.details.reason]).toEqual([401, 'UNKNOWN_KEY']);
    }
  }
  going = false;
  await goesOn;
  expect(done).toBeGreaterThan(3);
  const most = (performance.now() - began) / bounds.emptyMs + 1;
  expect(empty(order) - before).toBeLessThanOrEqual(most);
});

test('barriers: unknown keys alone get one per interval', async () => {
  const order = new MemoryOrder();
  const url = await served(await openNode(order));
  const began = performance.now();
  for (let round = 0; round < 8; round += 1) {
    const stranger = agentOf(`stranger ${round}`);
    expect((await call(url, status(stranger, { status: 'active' }))).status).toBe(401);
  }
  expect(order.batches).toHaveLength(8);
  expect(performance.now() - began).toBeGreaterThan(7 * bounds.emptyMs - 10);
});
