/** Networks with several nodes. Every node reaches the same state, with clients on any node. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createVerifier,
  type GenesisOptions,
  Network,
  openLmdbStore,
  SCHEMA_VERSION,
  type Signatory,
  StoreError,
  tables,
} from 'folkmoot';
import type { Card, OrderedBatch, Position } from '../../dist/cluster/order/order.js';
import {
  agents,
  blockOf,
  endOf,
  expectSame,
  openNode,
  proposal,
  registration,
  vote,
} from '../support/cluster/nodes.js';
import { Door, MemoryOrder } from '../support/cluster/order.js';
import { signatoryOf, temporaryFolder } from '../support/fixture.js';

const accepted = { result: 'accepted' };
const [ada, bob, eve] = agents as [Signatory, Signatory, Signatory];

async function three(genesis: Partial<GenesisOptions> = {}) {
  const order = new MemoryOrder();
  const n1 = await openNode(order, { name: 'n1', genesis });
  const n2 = await openNode(order, { name: 'n2', genesis });
  const n3 = await openNode(order, { name: 'n3', genesis });
  return { order, nodes: [n1, n2, n3], n1, n2, n3 };
}

test('nodes: replicate requests with the same digests and event numbers', async () => {
  const { order, nodes, n1, n2, n3 } = await three();
  expect(await n1.submit(registration(ada))).toMatchObject(accepted);
  expect(await n2.submit(registration(bob))).toMatchObject(accepted);
  expect(await n3.submit(registration(eve))).toMatchObject(accepted);
  await expectSame(order, nodes);
  const block = blockOf(await n2.submit(proposal(bob)));
  await expectSame(order, nodes);
  expect(await n3.submit(vote(ada, block))).toMatchObject(accepted);
  expect(await n1.submit(vote(bob, block))).toMatchObject(accepted);
  expect(await n1.submit(vote(eve, block))).toMatchObject(accepted);
  await expectSame(order, nodes);
  expect(n2.network.read.block(block)).toMatchObject({ status: 'finalized' });
  const events = nodes.map(({ network }) => [...network.read.events(1, 1_000)]);
  expect(events[0]!.length).toBeGreaterThan(5);
  expect([events[1], events[2]]).toEqual([events[0], events[0]]);
  expect(n1.network.epoch).toBe(n3.network.epoch);
});

/** Delivers each batch twice, and leaves out every third one at first. */
class CarelessDoor extends Door {
  #count = 0;

  override follow(
    from: Position,
    take: (batch: OrderedBatch) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const careless = async (batch: OrderedBatch) => {
      this.#count += 1;
      if (this.#count % 3 !== 0) await Promise.all([take(batch), take(batch)]);
    };
    return super.follow(from, careless, signal);
  }
}

test('nodes: apply each batch once if batches repeat and are left out', async () => {
  const order = new MemoryOrder();
  const n1 = await openNode(order, { name: 'n1' });
  const careless = await openNode(order, { name: 'n2', door: new CarelessDoor(order) });
  for (const by of agents) expect(await n1.submit(registration(by))).toMatchObject(accepted);
  await expectSame(order, [n1, careless]);
  expect(endOf(careless).seq).toBe(agents.length);
});

test('nodes: answer a retry at another node as a repeat', async () => {
  const { order, nodes, n1, n2, n3 } = await three();
  const request = registration(ada);
  expect(await n1.submit(request)).toMatchObject(accepted);
  await expectSame(order, nodes);
  expect(await n2.submit(request)).toMatchObject({ result: 'duplicate' });
  const both = await Promise.all([n1.submit(registration(bob)), n3.submit(registration(bob))]);
  expect(both.map(({ result }) => result).sort()).toEqual(['accepted', 'duplicate']);
});

test('nodes: a barrier waits for requests that another node has acknowledged', async () => {
  const { n1, n2, order } = await three();
  await n1.submit(registration(ada));
  // Delays the batch at n2.
  n2.door.shut = true;
  await n1.submit(registration(bob));
  expect(n2.network.knows(bob.publicKey)).toBe(false);
  n2.door.shut = false;
  order.news();
  expect([await n2.network.barrier(), n2.network.knows(bob.publicKey)]).toEqual([null, true]);
});

test('nodes: fire each deadline once on all nodes, even without requests', async () => {
  const { order, nodes, n1, n2, n3 } = await three({ voting_period_ms: 700 });
  for (const by of [ada, bob, eve]) await n1.submit(registration(by));
  const block = blockOf(await n2.submit(proposal(ada)));
  const statusOf = (hash: string) => () => n3.network.read.block(hash)?.status;
  await expect.poll(statusOf(block), { timeout: 30_000 }).toBe('expired');
  await expectSame(order, nodes);
  // A single remaining node also fires deadlines.
  await n1.close();
  await n2.close();
  const head = n3.network.read.block(block)!.parent_hash;
  const next = blockOf(await n3.submit(proposal(bob, head)));
  await expect.poll(statusOf(next), { timeout: 30_000 }).toBe('expired');
});

test('nodes: --verify-all finds an invalid signature admitted by another node', async () => {
  const order = new MemoryOrder();
  const careless = await openNode(order, { name: 'n1' });
  const careful = await openNode(order, { name: 'n2', verifyAll: true });
  expect(await careless.submit(registration(ada))).toMatchObject(accepted);
  await expectSame(order, [careless, careful]);
  const { position: _, ...batch } = order.batch(1);
  const forged = { ...registration(bob), signature: '0'.repeat(128) };
  const incarnation = 'forger';
  order.join('n3', incarnation);
  order.append({
    ...batch,
    node: 'n3',
    incarnation,
    k: 1,
    inputs: [{ request: forged, spender: '' }],
  });
  await expect.poll(() => careful.fatal.map(({ message }) => message)).toHaveLength(1);
  expect(careful.fatal[0]).toMatchObject({ code: 'FOREIGN', problem: 'REQUEST_UNVERIFIED' });
});

test('nodes: of two processes with the same name, the older one stops', async () => {
  const order = new MemoryOrder();
  const older = await openNode(order, { name: 'n1' });
  const newer = await openNode(order, { name: 'n1' });
  expect(await older.submit(registration(ada))).toMatchObject({ result: 'refused' });
  expect(older.fatal).toMatchObject([{ code: 'FENCED', problem: 'NODE_NAME_TAKEN' }]);
  expect(await newer.submit(registration(ada))).toMatchObject(accepted);
});

test('nodes: a cut-off node refuses unsent requests; others are UNCERTAIN', async () => {
  const { order, nodes, n1, n2 } = await three();
  await n1.submit(registration(ada));
  n1.door.shut = true;
  const pending = n1.submit(registration(bob));
  expect(await pending).toMatchObject({ refusal: { reason: 'UNCERTAIN', status: 503 } });
  expect(n1.network.cutOffMs()).toBeGreaterThan(3_000);
  expect(await n1.submit(registration(eve))).toMatchObject({ refusal: { reason: 'NO_QUORUM' } });
  expect(n2.network.cutOffMs()).toBe(0);
  n1.door.shut = false;
  order.news();
  await expect.poll(() => n1.network.cutOffMs(), { timeout: 30_000 }).toBe(0);
  await expectSame(order, nodes);
  // The request was applied after all, and only once.
  expect(await n1.submit(registration(bob))).toMatchObject({ result: 'duplicate' });
});

test('nodes: answer DISK_FULL until the order has space', async () => {
  const { order, n1, n2, nodes } = await three();
  await n1.submit(registration(ada));
  for (const { door } of nodes) door.full = true;
  const first = n1.submit(registration(bob));
  await expect
    .poll(() => n1.submit(registration(eve)) as Promise<object>, { timeout: 60_000 })
    .toMatchObject({ refusal: { reason: 'DISK_FULL', status: 503 } });
  expect(await first).toMatchObject({ refusal: { reason: 'UNCERTAIN' } });
  expect(n2.network.cutOffMs()).toBe(0);
  for (const { door } of nodes) door.full = false;
  await expectSame(order, nodes);
  // The requests that were retried meanwhile are applied now.
  await expect
    .poll(async () => (await n1.submit(registration(bob))).result, { timeout: 60_000 })
    .toBe('duplicate');
});

test('nodes: a node with a wrong clock refuses writes and does not advance time', async () => {
  const order = new MemoryOrder();
  const right = await openNode(order, { name: 'n1' });
  await openNode(order, { name: 'n2' });
  const fast = await openNode(order, { name: 'n3', aheadMs: 600_000 });
  await right.submit(registration(ada));
  // One card per node suffices.
  await expect
    .poll(async () => (await fast.submit(registration(bob))) as object, { timeout: 30_000 })
    .toMatchObject({ refusal: { reason: 'CLOCK', status: 503 } });
  expect(fast.warnings.join()).toMatch(/clock .* (599|60)\d+ ms/);
  expect(await fast.network.barrier()).toBe(null);
  expect(await right.submit(registration(eve))).toMatchObject(accepted);
  expect(endOf(right).time).toBeLessThan(Date.now() + 1_000);
});

/** Checks for each card that its node's folder contains the state that the card announces. */
class CheckedOrder extends MemoryOrder {
  readonly checked: { said: number; has: number | undefined }[] = [];
  readonly #path: string;

  constructor(path: string) {
    super();
    this.#path = path;
  }

  override tell(card: Card): void {
    const folder = { path: this.#path, tables, schemaVersion: SCHEMA_VERSION };
    const disk = openLmdbStore({ ...folder, readOnly: true });
    this.checked.push({ said: card.seq, has: disk.meta()?.seq });
    void disk.close();
    super.tell(card);
  }
}

test('nodes: a card states no more than the folder holds, from the first card on', async () => {
  const path = temporaryFolder();
  const order = new CheckedOrder(path);
  const node = await openNode(order, { path });
  // Keeps writes to the folder always in flight.
  for (let number = 1; order.checked.length < 4; number += 1) {
    await node.submit(registration(signatoryOf(number)));
    await sleep(5);
  }
  expect(order.checked[0]).toEqual({ said: 0, has: 0 });
  for (const { said, has } of order.checked) expect(said).toBeLessThanOrEqual(has ?? -1);
});

test('nodes: stop on diverged digests and name the entry', async () => {
  const order = new MemoryOrder();
  const one = await openNode(order, { name: 'n1' });
  await one.submit(registration(ada));
  const { position: _, ...batch } = order.batch(1);
  const witness = { seq: 1, digest: 'f'.repeat(64) };
  order.join('n2', 'other');
  order.append({ ...batch, node: 'n2', incarnation: 'other', k: 1, witness, inputs: [] });
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
  order.batches.length = 0;
  const restored = openNode(order, { path });
  await expect(restored).rejects.toMatchObject({ problem: 'ORDER_BEHIND' });
  await verifier.close();
});

test('nodes: stop when the order is emptied', async () => {
  const order = new MemoryOrder();
  const node = await openNode(order);
  await node.submit(registration(ada));
  order.batches.length = 0;
  await expect.poll(() => node.fatal.length, { timeout: 30_000 }).toBe(1);
  expect(node.fatal[0]).toMatchObject({ problem: 'ORDER_BEHIND' });
});

test('nodes: batches of refusals advance position and time, even after a restart', async () => {
  const order = new MemoryOrder();
  const path = temporaryFolder();
  const n1 = await openNode(order, { path });
  const n2 = await openNode(order, { name: 'n2' });
  await n1.submit(registration(ada));
  for (let time = 0; time < 5; time += 1) {
    const outcome = await n1.submit(vote(ada, 'a'.repeat(64)));
    expect(outcome).toMatchObject({ refusal: { reason: 'UNKNOWN_BLOCK' } });
  }
  await n1.close();
  await n2.submit(registration(bob));
  const again = await openNode(order, { path });
  await expectSame(order, [again, n2]);
  expect(endOf(again)).toMatchObject({ seq: 2 });
});
