/**
 * An etcd that is compacted under running nodes, and an etcd without space. No acknowledged request
 * is lost.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdOrder } from '../../dist/cluster/order/etcd.js';
import type { Position } from '../../dist/cluster/order/order.js';
import { expectKept } from '../support/cluster/history.js';
import { isDone, update } from '../support/cluster/load.js';
import {
  askOnce,
  expectTogether,
  insist,
  nodeProcess,
  readFrom,
  type Told,
} from '../support/cluster/processes.js';
import { etcd, etcdClient, hasEtcd, makeRoom } from '../support/etcd.js';
import { temporaryFolder } from '../support/fixture.js';
import { agentOf, meme, register } from '../support/service/signer.js';

const MIB = 1_048_576;
/** Exceeds the time after which a node reports that etcd does not answer. */
const PATIENCE_MS = 120_000;
const ada = agentOf('ada');

/** Builds a unique meme that fits into one batch without parts. */
const large = (number: number) => {
  const file = Buffer.alloc(600 * 1024, number);
  Buffer.from('89504e470d0a1a0a', 'hex').copy(file);
  return meme(ada, { file });
};

/** Returns the end of the order, once all nodes' cards have reached it. */
async function inAllFolders(order: EtcdOrder): Promise<Position> {
  for (;;) {
    const [head, cards] = [await order.head(), await order.cards()];
    if (cards.every(({ position }) => position.version >= head.version)) return head;
    await sleep(100);
  }
}

test.skipIf(!hasEtcd)('etcd is full: 503 DISK_FULL until there is space again', async () => {
  const order = await etcd({ args: ['--quota-backend-bytes', String(16 * MIB)] });
  const client = etcdClient(order);
  const folder = temporaryFolder();
  const start = (name: string) =>
    nodeProcess({ cluster: order.url, name, folder: join(folder, name) });
  const nodes = [await start('n1'), await start('n2')];
  const told: Told[] = [await insist(nodes, register(ada), 0)];
  const post = async () => {
    const number = told.length;
    told.push(await askOnce(nodes, large(number), number, PATIENCE_MS));
  };
  const all = new EtcdOrder({ endpoints: order.endpoints, networkId: 'town' });
  onTestFinished(() => all.close());
  while (told.length < 8) await post();
  const early = await all.head();
  // Returns the lowest position that the nodes have announced.
  const least = async () =>
    Math.min(...(await all.cards()).map(({ position }) => position.version));
  await expect.poll(least).toBeGreaterThanOrEqual(early.version);
  while (told.at(-1)!.status === 201) await post();
  const unknown = told.at(-1)!;
  // The first waiting request has an unknown outcome, since it was sent.
  expect(unknown).toMatchObject({ status: 503, reason: 'UNCERTAIN' });
  const refused: Told[] = [];
  for (const at of nodes.keys()) {
    const first = await askOnce(nodes, update(ada), at, PATIENCE_MS);
    expect(['UNCERTAIN', 'DISK_FULL']).toContain(first.reason);
    const second = await askOnce(nodes, update(ada), at, PATIENCE_MS);
    expect(second).toMatchObject({ status: 503, reason: 'DISK_FULL' });
    refused.push(first, second);
  }
  const { blocks } = await readFrom(nodes, 0, '/api/v1/blocks');
  expect(blocks).toEqual([]);
  expect(await client.alarms()).toMatchObject([{ alarm: 'NOSPACE' }]);
  // Nodes trim batches that all nodes have stored. Anything else is up to etcd's operator.
  const isThere = () =>
    client.range('folkmoot', { revision: early.revision - 1 }).then(
      () => true,
      (error) => error.kind !== 'compacted',
    );
  await expect.poll(isThere).toBe(false);
  await makeRoom(order, client);
  told.push(await insist(nodes, unknown.request, 0), await insist(nodes, update(ada), 1));
  expect(told.slice(-2).map(isDone)).toEqual([true, true]);
  await expectKept(nodes, [...told, ...refused]);
});

test.skipIf(!hasEtcd)(
  'etcd is compacted while nodes run: they continue, even after a restart',
  async () => {
    const { url: cluster, endpoints } = await etcd({ members: 3 });
    const folder = temporaryFolder();
    const start = (name: string) => nodeProcess({ cluster, name, folder: join(folder, name) });
    const nodes = [await start('n1'), await start('n2'), await start('n3')];
    const told: Told[] = [await insist(nodes, register(ada), 0)];
    const order = new EtcdOrder({ endpoints, networkId: 'town' });
    onTestFinished(() => order.close());
    for (let round = 0; round < 6; round += 1) {
      const before = await expectTogether(nodes);
      // Compacts etcd as an operator would by hand, up to the positions that all nodes have
      // announced.
      const compacted = order.trim(await inAllFolders(order));
      const asked = nodes.map((_, at) => insist(nodes, update(ada), at));
      told.push(...(await Promise.all(asked)));
      await compacted;
      const node = nodes[round % 3]!;
      await node.signal('SIGKILL');
      await node.restart();
      expect((await expectTogether(nodes)).seq).toBeGreaterThan(before.seq);
    }
    await expectKept(nodes, told);
  },
);
