/**
 * Nodes that stop, or do not start, because the order or a folder is not theirs. The swarm of
 * simulated clusters tests all that nodes promise: test/sim/swarm.
 */
import { createVerifier, Network, type Signatory, StoreError } from 'folkmoot';
import type { OrderedBatch } from '../../dist/cluster/order/order.js';
import { agents, expectSame, openNode, registration } from '../support/cluster/nodes.js';
import { MemoryOrder } from '../support/cluster/order.js';
import { temporaryFolder } from '../support/fixture.js';

const accepted = { result: 'accepted' };
const [ada, bob] = agents as [Signatory, Signatory];

test('nodes: --verify-all finds an invalid signature admitted by another node', async () => {
  const order = new MemoryOrder();
  const careless = await openNode(order, { name: 'n1' });
  const careful = await openNode(order, { name: 'n2', verifyAll: true });
  expect(await careless.submit(registration(ada))).toMatchObject(accepted);
  await expectSame(order, [careless, careful]);
  const [{ position: _, ...batch }] = order.batches as [OrderedBatch];
  const forged = { ...registration(bob), signature: '0'.repeat(128) };
  const forger = { node: 'n3', incarnation: 'forger', k: 1 };
  await order.other.join('n3', 'forger');
  await order.other.append({ ...batch, ...forger, inputs: [{ request: forged, spender: '' }] });
  await expect.poll(() => careful.fatal.map(({ message }) => message)).toHaveLength(1);
  expect(careful.fatal[0]).toMatchObject({ code: 'FOREIGN', problem: 'REQUEST_UNVERIFIED' });
});

test('nodes: stop on diverged digests and name the entry', async () => {
  const order = new MemoryOrder();
  const one = await openNode(order, { name: 'n1' });
  await one.submit(registration(ada));
  const [{ position: _, ...batch }] = order.batches as [OrderedBatch];
  const witness = { seq: 1, digest: 'f'.repeat(64) };
  const other = { node: 'n2', incarnation: 'other', k: 1 };
  await order.other.join('n2', 'other');
  await order.other.append({ ...batch, ...other, witness, inputs: [] });
  await expect.poll(() => one.fatal.map(({ message }) => message)).toHaveLength(1);
  expect(one.fatal[0]!.message).toMatch(/diverged: entry 1 has digest ffff.* at node n2/);
});

test('nodes: refuse to start with another parameter, order or folder', async () => {
  const order = new MemoryOrder();
  const path = temporaryFolder();
  const node = await openNode(order, { path });
  await node.submit(registration(ada));
  await node.close();
  const other = openNode(order, { name: 'n2', genesis: { voting_period_ms: 1_234 } });
  await expect(other).rejects.toMatchObject({ problem: 'GENESIS_MISMATCH' });
  const elsewhere = openNode(new MemoryOrder(), { path });
  await expect(elsewhere).rejects.toMatchObject({ problem: 'OTHER_CLUSTER_FOLDER' });
  const verifier = createVerifier('inline');
  const alone = Network.open({ path, genesis: { network_id: 'devnet' }, verifier });
  await expect(alone).rejects.toThrow(StoreError);
  await expect(alone).rejects.toMatchObject({ problem: 'CLUSTER_FOLDER' });
  // Empties the order, as if an earlier state had been restored.
  await order.delete('order');
  const restored = openNode(order, { path });
  await expect(restored).rejects.toMatchObject({ problem: 'ORDER_BEHIND' });
  await verifier.close();
});

test('nodes: stop when the order is emptied', async () => {
  const order = new MemoryOrder();
  const node = await openNode(order);
  await node.submit(registration(ada));
  node.door.announce = async () => ({ version: 0, revision: 0 });
  await expect.poll(() => node.fatal.length, { timeout: 30_000 }).toBe(1);
  expect(node.fatal[0]).toMatchObject({ problem: 'ORDER_BEHIND' });
});
