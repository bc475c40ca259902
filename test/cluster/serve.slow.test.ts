/** `folkmoot serve --cluster`: nodes as processes over a real etcd. */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EtcdOrder } from '../../dist/cluster/order/etcd.js';
import { folkmoot } from '../support/cli.js';
import { expectKept } from '../support/cluster/history.js';
import { update } from '../support/cluster/load.js';
import {
  expectTogether,
  insist,
  type NodeProcess,
  nodeProcess,
} from '../support/cluster/processes.js';
import { etcd, hasEtcd } from '../support/etcd.js';
import { temporaryFolder } from '../support/fixture.js';
import {
  agentOf,
  blockHash,
  meme,
  propose,
  register,
  transaction,
  vote,
} from '../support/service/signer.js';

const agents = ['ada', 'bob', 'eve', 'kim', 'lee', 'max'].map(agentOf);
const [ada] = agents as [(typeof agents)[0]];

// biome-ignore lint/suspicious/noExplicitAny: the test inspects the value
async function readJson(url: string): Promise<any> {
  const answer = await fetch(url);
  return ((await answer.json()) as { data: unknown }).data;
}

async function three(cluster: string, args: readonly string[] = []): Promise<NodeProcess[]> {
  const folder = temporaryFolder();
  const start = (name: string) => nodeProcess({ cluster, name, folder: join(folder, name), args });
  return [await start('n1'), await start('n2'), await start('n3')];
}

describe.skipIf(!hasEtcd)('serve --cluster', () => {
  test.each([
    ['decided by votes at all nodes', '600000', agents, 'finalized'],
    ['over at all nodes when their deadline passes', '2000', [], 'expired'],
  ])('blocks are %s', async (_, periodMs, voters, status) => {
    const order = await etcd();
    const nodes = await three(order.url, ['--voting-period-ms', periodMs]);
    for (const [index, by] of agents.entries()) await insist(nodes, register(by), index);
    await expectTogether(nodes);
    const proposal = propose(ada, { parent_hash: '0'.repeat(64), transactions: [] });
    const told = [await insist(nodes, proposal, 1)];
    expect(told[0]!.status).toBe(201);
    const block_hash = blockHash(proposal, ada, 'town');
    const votes = voters.map((by, index) =>
      insist(nodes, vote(by, { block_hash, decision: 'approve' }), index),
    );
    told.push(...(await Promise.all(votes)));
    for (const { url } of nodes) {
      const shown = () => readJson(`${url}/api/v1/blocks/${block_hash}`);
      await expect.poll(shown).toMatchObject({ status });
    }
    await expectKept(nodes, told);
  });

  test('each quota of an agent applies across all nodes, including a new one', async () => {
    const order = await etcd();
    const nodes = await three(order.url, ['--limits', 'spec']);
    expect((await insist(nodes, register(ada), 0)).status).toBe(201);
    await expectTogether(nodes);
    const statuses: number[] = [];
    for (let turn = 0; turn < 45; turn += 1) {
      statuses.push((await insist(nodes, update(ada), turn)).status);
    }
    const done = statuses.filter((status) => status === 200).length;
    // Sends requests one at a time, including requests that two other nodes have not applied yet.
    expect(done).toBeGreaterThanOrEqual(30);
    expect(done).toBeLessThanOrEqual(32);
    expect(statuses.slice(-12)).toEqual(Array.from({ length: 12 }, () => 429));
    const n4 = await nodeProcess({
      cluster: order.url,
      name: 'n4',
      folder: temporaryFolder(),
      args: ['--limits', 'spec'],
    });
    expect((await insist([n4], update(ada), 0)).status).toBe(429);
    await expectTogether([...nodes, n4]);
  });

  test('a new node catches up; a second process with the same name stops the first', async () => {
    const order = await etcd();
    const folder = temporaryFolder();
    const start = (name: string, at = name) =>
      nodeProcess({ cluster: order.url, name, folder: join(folder, at) });
    const n1 = await start('n1');
    for (const by of agents) expect((await insist([n1], register(by), 0)).status).toBe(201);
    const n2 = await start('n2');
    await expectTogether([n1, n2]);
    const again = await start('n2', 'another');
    expect((await insist([again], update(ada), 0)).status).toBe(200);
    await insist([n1], update(ada), 0);
    const ended = n2.ended();
    void insist([n2, n1], update(agents[1]!), 0);
    expect(await ended).toBe(13);
    expect(n2.stderr()).toMatch(/node name taken .*: n2/);
    await expectTogether([n1, again]);
  });

  test('a request above the size limit of etcd reaches all nodes', async () => {
    const order = await etcd();
    const nodes = await three(order.url);
    for (const [index, by] of agents.entries()) await insist(nodes, register(by), index);
    const file = Buffer.alloc(1024 * 1024, 7);
    Buffer.from('89504e470d0a1a0a', 'hex').copy(file);
    expect((await insist(nodes, meme(ada, { file }), 0)).status).toBe(201);
    const transactions = Array.from({ length: 400 }, (_, index) =>
      transaction(ada, 'town', `${index} `.padEnd(4_096, 'x')),
    );
    const large = propose(ada, { parent_hash: '0'.repeat(64), transactions });
    expect(large.body.length).toBeGreaterThan(1_700_000);
    const told = [await insist(nodes, large, 1)];
    expect(told[0]!.status).toBe(201);
    await expectTogether(nodes);
    const hash = blockHash(large, ada, 'town');
    for (const { url } of nodes) {
      expect(await readJson(`${url}/api/v1/blocks/${hash}`)).toMatchObject({ transactions: 400 });
      const [event] = (await readJson(`${url}/api/v1/events?topics=memes&limit=1`)).events;
      const content = await fetch(`${url}/api/v1/social/memes/${event.data.meme_id}/content`);
      expect(Buffer.from(await content.arrayBuffer()).equals(file)).toBe(true);
    }
    await expectKept(nodes, told);
  });

  test('a node that lags too far stops with advice, and starts on a copy', async () => {
    const order = await etcd();
    const folder = temporaryFolder();
    const start = (name: string) =>
      nodeProcess({ cluster: order.url, name, folder: join(folder, name) });
    const n1 = await start('n1');
    const n2 = await start('n2');
    for (const by of agents) await insist([n1, n2], register(by), 0);
    await expectTogether([n1, n2]);
    const etcdOrder = new EtcdOrder({ endpoints: order.endpoints, networkId: 'town' });
    onTestFinished(() => etcdOrder.close());
    await etcdOrder.trim(await etcdOrder.head());
    await expect(start('n3')).rejects.toThrow(/ended with 13: .*--peer-listen/s);
    await n2.signal('SIGTERM');
    await insist([n1], update(ada), 0);
    rmSync(join(folder, 'n3'), { recursive: true });
    cpSync(join(folder, 'n2'), join(folder, 'n3'), { recursive: true });
    const n3 = await start('n3');
    await n2.restart();
    await insist([n3], update(ada), 0);
    await expectTogether([n1, n2, n3]);
    const where = ['--cluster', order.url, '--network-id', 'town'];
    const { code, stdout } = await folkmoot(['cluster', 'status', ...where]);
    const { nodes, parted, etcd: members } = JSON.parse(stdout);
    expect([code, parted]).toEqual([0, []]);
    expect(nodes).toMatchObject(
      [n1, n2, n3].map(({ name, url }) => ({ node: name, alive: true, url })),
    );
    expect(members).toMatchObject([{ leader: true }]);
    // A running node stops when it is forgotten.
    expect((await folkmoot(['cluster', 'forget', 'n3', ...where])).code).toBe(0);
    expect(await n3.ended()).toBe(13);
    const again = await folkmoot(['cluster', 'forget', 'n3', ...where]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/unknown node: n3/)]);
  });

  test('refuses to start: no etcd, another parameter, conflicting options', async () => {
    const folder = temporaryFolder();
    const serve = (...args: string[]) =>
      folkmoot(['serve', '--data', folder, '--port', '0', ...args]);
    const whole = ['--node', 'n1', '--network-id', 'town'];
    const unreachable = await serve('--cluster', 'etcd://127.0.0.1:9', ...whole);
    expect([unreachable.code, unreachable.stderr]).toEqual([
      1,
      expect.stringMatching(/^folkmoot: .*127\.0\.0\.1:9/m),
    ]);
    const wrong = await serve('--cluster', 'http://127.0.0.1', ...whole);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/http:\/\/127\.0\.0\.1/)]);
    const short = join(folder, 'short.secret');
    writeFileSync(short, 'short', { mode: 0o600 });
    const peerOf = (file: string) => ['--peer-listen', '127.0.0.1:1', '--peer-secret', file];
    const cases: [string[], RegExp][] = [
      [['--node', 'n1'], /--node requires --cluster/],
      [['--cluster', 'etcd://127.0.0.1:9'], /--cluster requires --node/],
      [['--cluster', 'etcd://127.0.0.1:9', '--node', 'n1'], /--cluster requires --network-id/],
      [['--peer-listen', '127.0.0.1:1'], /--peer-listen requires --cluster/],
      [
        ['--cluster', 'etcd://h', ...whole, '--peer-listen', '0.0.0.0:1'],
        /0\.0\.0\.0 is a wildcard address/,
      ],
      [
        ['--cluster', 'etcd://h', ...whole, '--peer-listen', '127.0.0.1:1'],
        /requires --peer-secret/,
      ],
      [['--cluster', 'etcd://h', ...whole, ...peerOf(short)], /5 characters/],
      [['--cluster', 'etcd://h', ...whole, ...peerOf(folder)], /--peer-secret .*EISDIR/],
      [['--cluster', 'etcd://h', ...whole, '--clock', 'held'], /--clock held .* --cluster/],
      [
        ['--cluster', 'etcd://h', ...whole, '--archive-after', '5000'],
        /--archive-after .* --cluster/,
      ],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await serve(...args);
      expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    }
    const order = await etcd();
    await nodeProcess({ cluster: order.url, name: 'n1', folder: join(folder, 'n1') });
    const other = await serve('--cluster', order.url, ...whole, '--voting-period-ms', '1234');
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch(/voting_period_ms .*30000.*1234/);
  });
});
