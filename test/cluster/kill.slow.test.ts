/**
 * A request above etcd's size limit, sent to a node that is killed while it puts the parts. The
 * request is applied completely or not at all, and only once after a retry. No parts remain.
 */
import { join } from 'node:path';
import type { EtcdClient } from '../../dist/cluster/etcd/client.js';
import { EtcdOrder } from '../../dist/cluster/order/etcd.js';
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
import { type Tap, tapBefore } from '../support/cluster/tap.js';
import { etcd, etcdClient, hasEtcd } from '../support/etcd.js';
import { temporaryFolder } from '../support/fixture.js';
import {
  type Agent,
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
const agents = ['ada', 'bob'].map(agentOf) as [Agent, Agent];
const [ada, bob] = agents;

/** Builds a unique meme of 1 MiB. */
function picture(): { file: Buffer; request: Request } {
  const file = Buffer.alloc(1_048_576, stamp());
  Buffer.from('89504e470d0a1a0a', 'hex').copy(file);
  return { file, request: meme(ada, { file }) };
}

function block(by: Agent): Request {
  const transactions = Array.from({ length: 440 }, () =>
    transaction(by, 'town', stamp().padEnd(4_096, 'x')),
  );
  return propose(by, { parent_hash: '0'.repeat(64), transactions });
}

/** Lists the parts in etcd, each as `hash/number`. */
async function partsIn(client: EtcdClient): Promise<string[]> {
  const { values } = await client.range({ prefix: PARTS }, { keysOnly: true });
  return values.map(({ key }) => key.slice(PARTS.length));
}

/**
 * Sends a request to a node that is killed once the first part is in etcd, before its put returns.
 * @returns the batch hashes, one per attempt.
 */
async function killedAt(client: EtcdClient, tap: Tap, node: NodeProcess, request: Request) {
  const before = await partsIn(client);
  const end = new AbortController();
  for await (const { events } of client.watch({ prefix: PARTS }, { signal: end.signal })) {
    if (events.length > 0) break;
    // The watch is active, so the request is sent now.
    tap.silent = true;
    void askOnce([node], request, 0);
  }
  await node.signal('SIGKILL');
  tap.silent = false;
  const parts = (await partsIn(client)).filter((one) => !before.includes(one));
  expect(parts.length).toBeGreaterThan(0);
  const hashes = parts.map((part) => part.split('/')[0]!);
  expect(parts).toEqual(hashes.map((hash) => `${hash}/0`));
  for (const hash of hashes) {
    expect(await client.get(`folkmoot/network/town/parted/${hash}`)).toBeNull();
  }
  return hashes;
}

test.skipIf(!hasEtcd)('parts: a meme and a proposal survive a kill between parts', async () => {
  const order = await etcd();
  const client = etcdClient(order);
  const tap = await tapBefore(order.endpoints[0]!);
  const folder = temporaryFolder();
  const start = (name: string, cluster = order.url) =>
    nodeProcess({ cluster, name, folder: join(folder, name) });
  const author = await start('n1', `etcd://${tap.endpoint}`);
  const others = [await start('n2'), await start('n3')];
  const nodes = [author, ...others];
  const told: Told[] = [];
  for (const [index, by] of agents.entries()) told.push(await insist(nodes, register(by), index));
  const left: string[] = [];

  const kill = async (request: Request) => {
    const before = await expectTogether(nodes);
    left.push(...(await killedAt(client, tap, author, request)));
    const seqs = others.map(async (node) => (await readFrom([node], 0, '/api/v1/meta')).seq);
    expect(await Promise.all(seqs)).toEqual(others.map(() => before.seq));
    told.push(await insist(others, request, told.length));
    expect(told.at(-1)!.status).toBe(201);
    await author.restart();
    await expectTogether(nodes);
  };

  const { file, request } = picture();
  await kill(request);
  for (const node of nodes) {
    const { events } = await readFrom([node], 0, '/api/v1/events?topics=memes');
    const { meme_id } = events.at(-1).data;
    const content = await fetch(`${node.url}/api/v1/social/memes/${meme_id}/content`);
    expect(Buffer.from(await content.arrayBuffer()).equals(file)).toBe(true);
  }
  const proposal = block(bob);
  await kill(proposal);
  const path = `/api/v1/blocks/${blockHash(proposal, bob, 'town')}`;
  for (const node of nodes) {
    expect(await readFrom([node], 0, path)).toMatchObject({ transactions: 440 });
  }
  // Trimming deletes even parts without a batch.
  const isLeft = async () =>
    [...new Set((await partsIn(client)).map((part) => part.split('/')[0]!))].filter((hash) =>
      left.includes(hash),
    );
  expect(await isLeft()).toEqual(left.sort());
  const { endpoints } = order;
  const trimmed = new EtcdOrder({ endpoints, networkId: 'town' });
  onTestFinished(() => trimmed.close());
  await trimmed.trim(await trimmed.head());
  expect(await isLeft()).toEqual([]);
  await expectTogether(nodes);
  await expectKept(nodes, told);
});
