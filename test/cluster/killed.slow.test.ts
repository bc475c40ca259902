/**
 * What is larger than etcd takes at a time, from a node that is killed while it puts the parts of
 * it there: applied whole or not at all, done once when it is sent again, and nothing is left.
 */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EtcdClient } from '../../dist/cluster/etcd/index.js';
import { EtcdOrder } from '../../dist/cluster/index.js';
import { expectKept } from '../support/cluster/history.js';
import {
  askOnce,
  expectTogether,
  insist,
  type NodeProcess,
  nodeProcess,
  readFrom,
  type Told,
} from '../support/cluster/processes.js';
import { etcd, etcdClient, hasEtcd } from '../support/etcd.js';
import { temporaryFolder } from '../support/fixture.js';
import {
  agentOf,
  blockHash,
  meme,
  propose,
  type Request,
  register,
  stamp,
  transaction,
} from '../support/service/signer.js';

const PARTS = 'folkmoot/network/town/part/';
/** Block by block another one, since a producer has one block in voting. */
const agents = ['ada', 'bob', 'eve', 'kim', 'lee', 'max', 'zoe'].map(agentOf);
const [ada] = agents as [(typeof agents)[0]];

/** A meme of 1 MiB that no other is the same as. */
function picture(): { file: Buffer; request: Request } {
  const file = Buffer.alloc(1_048_576, stamp());
  Buffer.from('89504e470d0a1a0a', 'hex').copy(file);
  return { file, request: meme(ada, { file }) };
}

function block(by: typeof ada): Request {
  const transactions = Array.from({ length: 440 }, () =>
    transaction(by, 'town', stamp().padEnd(4_096, 'x')),
  );
  return propose(by, { parent_hash: '0'.repeat(64), transactions });
}

/** The hashes of batches whose parts are there, or some of them. */
async function partsIn(client: EtcdClient): Promise<Set<string>> {
  const { values } = await client.range({ prefix: PARTS }, { keysOnly: true });
  return new Set(values.map(({ key }) => key.slice(PARTS.length).split('/')[0]!));
}

/**
 * Sends it to a node that is killed as soon as a part of it is in etcd.
 * @returns the hash of a batch that was not appended any more; null where it was.
 */
async function killedAt(client: EtcdClient, node: NodeProcess, request: Request) {
  const before = await partsIn(client);
  const end = new AbortController();
  const told = (async () => {
    for await (const { events } of client.watch({ prefix: PARTS }, { signal: end.signal })) {
      // The watch stands: it is sent now.
      if (events.length === 0) void askOnce([node], request, 0);
      else break;
    }
  })();
  await told;
  await node.signal('SIGKILL');
  const [hash] = [...(await partsIn(client))].filter((one) => !before.has(one));
  return (await client.get(`folkmoot/network/town/parted/${hash}`)) ? null : hash!;
}

test.skipIf(!hasEtcd)('a meme and a proposal, whose author is killed between parts', async () => {
  const order = await etcd();
  const client = etcdClient(order);
  const folder = temporaryFolder();
  const start = (name: string) =>
    nodeProcess({ cluster: order.url, name, folder: join(folder, name) });
  const nodes = [await start('n1'), await start('n2'), await start('n3')];
  const [author, ...others] = nodes as [NodeProcess, ...NodeProcess[]];
  const told: Told[] = [];
  for (const [index, by] of agents.entries()) told.push(await insist(nodes, register(by), index));
  const left: string[] = [];

  /** Until it was killed between two parts: it may have been quicker. */
  const until = async (sent: () => Promise<boolean>) => {
    for (let tries = 1; !(await sent()); tries += 1) expect(tries).toBeLessThan(agents.length);
  };
  const kill = async (request: Request) => {
    const before = await expectTogether(nodes);
    const hash = await killedAt(client, author, request);
    const seqs = others.map(async (node) => (await readFrom([node], 0, '/api/v1/meta')).seq);
    if (hash) expect(await Promise.all(seqs)).toEqual(others.map(() => before.seq));
    if (hash) left.push(hash);
    told.push(await insist(others, request, told.length));
    // One that was quicker is done, and the same again is a repeat.
    expect(told.at(-1)!.status).toBe(hash ? 201 : 200);
    await author.restart();
    await expectTogether(nodes);
    return hash !== null;
  };

  await until(async () => {
    const { file, request } = picture();
    const between = await kill(request);
    for (const { url } of nodes) {
      const { events } = await readFrom([{ ...author, url }], 0, '/api/v1/events?topics=memes');
      const { meme_id } = events.at(-1).data;
      const content = await fetch(`${url}/api/v1/social/memes/${meme_id}/content`);
      expect(Buffer.from(await content.arrayBuffer()).equals(file)).toBe(true);
    }
    return between;
  });
  const producers = [...agents];
  await until(async () => {
    const by = producers.shift()!;
    const request = block(by);
    const between = await kill(request);
    const path = `/api/v1/blocks/${blockHash(request, by, 'town')}`;
    for (const node of nodes) {
      expect(await readFrom([node], 0, path)).toMatchObject({ transactions: 440 });
    }
    return between;
  });
  // With what all nodes have goes what nobody refers to.
  const isLeft = async () => [...(await partsIn(client))].filter((hash) => left.includes(hash));
  expect(await isLeft()).toEqual(left.sort());
  const { endpoints } = order;
  const trimmed = new EtcdOrder({ endpoints, networkId: 'town' });
  onTestFinished(() => trimmed.close());
  await trimmed.trim(await trimmed.head());
  expect(await isLeft()).toEqual([]);
  await expectTogether(nodes);
  await expectKept(nodes, told);
});
