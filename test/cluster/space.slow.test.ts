/** An etcd without room, under nodes: nothing that was told is lost, and it goes on with room. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectKept } from '../support/cluster/history.js';
import { isDone, update } from '../support/cluster/load.js';
import { askOnce, insist, nodeProcess, readFrom, type Told } from '../support/cluster/processes.js';
import { etcd, etcdClient, hasEtcd, makeRoom } from '../support/etcd.js';
import { temporaryFolder } from '../support/fixture.js';
import { agentOf, meme, register } from '../support/service/signer.js';

const MIB = 1_048_576;
const ada = agentOf('ada');

/** A meme of 900 KiB that no other is the same as. */
const large = (number: number) => {
  const file = Buffer.alloc(900 * 1024, number);
  Buffer.from('89504e470d0a1a0a', 'hex').copy(file);
  return meme(ada, { file });
};

test.skipIf(!hasEtcd)('etcd is full: 503 DISK_FULL, until there is room again', async () => {
  const order = await etcd({ args: ['--quota-backend-bytes', String(16 * MIB)] });
  const client = etcdClient(order);
  const folder = temporaryFolder();
  const start = (name: string) =>
    nodeProcess({ cluster: order.url, name, folder: join(folder, name) });
  const nodes = [await start('n1'), await start('n2')];
  const told: Told[] = [await insist(nodes, register(ada), 0)];
  for (let number = 1; told.at(-1)!.status === 201; number += 1) {
    told.push(await askOnce(nodes, large(number), number));
  }
  const unknown = told.at(-1)!;
  // Whoever is the first to wait is not told that nothing was done: it may be, by and by.
  expect(unknown).toMatchObject({ status: 503, reason: 'UNCERTAIN' });
  const refused: Told[] = [];
  for (const at of nodes.keys()) {
    const first = await askOnce(nodes, update(ada), at);
    expect(['UNCERTAIN', 'DISK_FULL']).toContain(first.reason);
    const second = await askOnce(nodes, update(ada), at);
    expect(second).toMatchObject({ status: 503, reason: 'DISK_FULL' });
    refused.push(first, second);
  }
  const { blocks } = await readFrom(nodes, 0, '/api/v1/blocks');
  expect(blocks).toEqual([]);
  expect(await client.alarms()).toMatchObject([{ alarm: 'NOSPACE' }]);
  // What all nodes have they let go of by themselves; the rest is for who runs etcd.
  const parts = () => client.range({ prefix: 'folkmoot/network/town/part/' }, { keysOnly: true });
  await expect.poll(async () => (await parts()).count).toBeLessThan(3);
  await makeRoom(order, client);
  told.push(await insist(nodes, unknown.request, 0), await insist(nodes, update(ada), 1));
  expect(told.slice(-2).map(isDone)).toEqual([true, true]);
  await expectKept(nodes, [...told, ...refused]);
});
