/** Values in etcd that no node has written are skipped or repaired, and no node stops. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { composeMeme, composeRegister, createVerifier } from 'folkmoot';
import { ClusterNetwork } from '../../dist/cluster/network.js';
import { EtcdOrder } from '../../dist/cluster/order/etcd.js';
import { admit } from '../../dist/engine/admit/admit.js';
import { folkmoot } from '../support/cli.js';
import { insist, nodeProcess } from '../support/cluster/processes.js';
import { counts } from '../support/counts.js';
import { etcd, etcdClient, hasEtcd, type TestEtcd } from '../support/etcd.js';
import { signatoryOf, temporaryFolder } from '../support/fixture.js';
import { drawnFrom, seed } from '../support/seeded.js';
import { agentOf, register } from '../support/service/signer.js';

const prefix = 'folkmoot/network/town/';
const draw = drawnFrom(seed);

async function opened(name: string, { endpoints }: TestEtcd, reported: string[]) {
  const order = new EtcdOrder({ endpoints, networkId: 'town', tell: (it) => reported.push(it) });
  const verifier = createVerifier('inline');
  const fatal: Error[] = [];
  const network = await ClusterNetwork.open({
    ...{ order, node: name, verifier, memory: true, genesis: { network_id: 'town' } },
    warn: (line) => reported.push(line),
    onFatal: (error) => fatal.push(error),
  });
  onTestFinished(async () => {
    await network.close().catch(() => {});
    await verifier.close();
    order.close();
  });
  const submit = async (request: Parameters<typeof admit>[0]) => {
    const admitted = admit(request, 'town');
    if ('refusal' in admitted) throw new Error(admitted.refusal.message);
    return network.submit(await network.verification.all(admitted));
  };
  return { name, network, fatal, submit };
}
type Node = Awaited<ReturnType<typeof opened>>;

let drawn = 0;
const registration = () => {
  drawn += 1;
  const now = new Date().toISOString();
  const capabilities = ['validator', 'producer'] as const;
  return composeRegister(signatoryOf(drawn), now, {
    ...{ personality: 'lawful', name: 'Ada', capabilities },
  });
};

/** Registers an agent on each node, then waits until all nodes are at the same position. */
async function expectAlive(nodes: readonly Node[]) {
  for (const { submit, fatal, name } of nodes) {
    // The node may have to repair its own key first.
    const register = registration();
    await expect
      .poll(async () => (await submit(register)).result, { timeout: 150_000 })
      .toMatch(/accepted|duplicate/);
    expect(fatal, `${name}, FOLKMOOT_TEST_SEED=${seed}`).toEqual([]);
  }
  const places = () =>
    nodes.map(({ network }) => {
      const { seq, digest, order } = network.read.position;
      return `${seq} ${digest} ${order!.version}`;
    });
  await expect.poll(() => new Set(places()).size, { timeout: 60_000 }).toBe(1);
}

/** Pattern for a node name's holder and the number of its last batch. */
const HOLDER = /^[^:]*:\d+$/;

const bytes = (most: number) => Buffer.from(Array.from({ length: draw(most) }, () => draw(256)));

function json(depth = 0): unknown {
  const kinds = [
    () => null,
    () => draw(2) === 0,
    () => draw(2 ** 31) - 2 ** 30,
    () => draw(1_000) / 7,
    () => bytes(12).toString('latin1'),
    () => randomUUID(),
    () => Array.from({ length: draw(4) }, () => json(depth + 1)),
    () =>
      Object.fromEntries(
        Array.from({ length: draw(4) }, () => [bytes(5).toString(), json(depth + 1)]),
      ),
  ];
  return kinds[draw(depth > 3 ? 5 : kinds.length)]!();
}

/** Returns JSON with one member, at any depth, replaced. */
function otherMember(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || draw(4) === 0) return json();
  const names = Object.keys(value);
  if (names.length === 0) return json();
  const name = names[draw(names.length)]!;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[name] = otherMember(copy[name]);
  return copy;
}

/** Returns a random value, or a mutation of a valid value. */
function unreadable(written: Buffer): Buffer {
  const at = draw(Math.max(1, written.length));
  const changed = Buffer.from(written);
  if (changed.length > 0) changed[at] = changed[at]! ^ (1 + draw(255));
  // Mutates bytes after the length of a batch head, or anywhere in a card.
  const from = written[0] === 0x7b ? 0 : 4;
  const end = from === 0 ? written.length : 4 + (written.length < 4 ? 0 : written.readUInt32BE(0));
  const member = () => {
    try {
      const text = JSON.stringify(otherMember(JSON.parse(written.subarray(from, end).toString())));
      const length = Buffer.alloc(from);
      if (from > 0) length.writeUInt32BE(Buffer.byteLength(text));
      return Buffer.concat([length, Buffer.from(text), written.subarray(end)]);
    } catch {
      return bytes(60);
    }
  };
  const reference = { sha256: 'a'.repeat(64), parts: draw(2_000) };
  const kinds = [
    () => bytes(200),
    () => Buffer.from(JSON.stringify(json())),
    () => changed,
    () => written.subarray(0, at),
    () => Buffer.concat([written, bytes(20)]),
    member,
    member,
    () => Buffer.concat([Buffer.from('ffffffff', 'hex'), Buffer.from(JSON.stringify(reference))]),
    () => Buffer.concat([Buffer.from('ffffffff', 'hex'), bytes(50)]),
  ];
  return kinds[draw(kinds.length)]!();
}

test.skipIf(!hasEtcd)(
  'cluster: no node stops when other programs write to etcd',
  async () => {
    const running = await etcd();
    const client = etcdClient(running);
    const reported: string[] = [];
    const nodes = [await opened('n1', running, reported), await opened('n2', running, reported)];
    await expectAlive(nodes);
    // Builds a batch above the size limit of an etcd value.
    const file = Buffer.alloc(1024 * 1024, 7);
    Buffer.from('89504e470d0a1a0a', 'hex').copy(file);
    const meme = composeMeme(signatoryOf(1), new Date().toISOString(), {
      ...{ caption: 'large', tags: [], file },
    });
    expect((await nodes[0]!.submit(meme)).result).toBe('accepted');
    const parts = await client.range({ prefix: `${prefix}part` }, { keysOnly: true });
    expect(parts.count).toBe(3);
    const keys = [
      ...['card/n1', 'card/n9', 'card/', 'card/a/b'],
      ...['node/n1', 'node/n9', 'founding', 'order'],
      ...parts.values.map(({ key }) => key.slice(prefix.length)),
    ];
    for (const name of keys) {
      const key = prefix + name;
      const { value: written } = (await client.get(key)) ?? { value: Buffer.from('{}') };
      for (let count = 0; count < counts.unreadableValues; count += 1) {
        // The order's value changes after each batch.
        const latest = name === 'order' ? (await client.get(key))!.value : written;
        let value = unreadable(latest);
        // A well-formed holder means that a different process takes the name, which stops the node.
        while (name.startsWith('node/') && HOLDER.test(value.toString())) {
          value = unreadable(latest);
        }
        await client.put(key, value);
        // Cards carry clocks, so a card with a different time makes a node refuse writes for a
        // minute.
        if (count % 50 === 49 && !name.startsWith('card/')) await expectAlive(nodes);
      }
      await client.put(key, bytes(40));
      await expectAlive(nodes);
    }
    expect(reported.join('\n')).toMatch(/card\/n9/);
    // A new node reads the whole order, with the parts at their batch's revision.
    const late = await opened('n3', running, reported);
    await expectAlive([...nodes, late]);
    expect(late.network.read.log.entry(1)).toEqual(nodes[0]!.network.read.log.entry(1));
  },
  1_800_000,
);

test.skipIf(!hasEtcd)('cluster: status shows a bad card, and forget deletes it', async () => {
  const running = await etcd();
  const client = etcdClient(running);
  const where = ['--cluster', running.url, '--network-id', 'town'];
  const folder = temporaryFolder();
  const start = (name: string) =>
    nodeProcess({ cluster: running.url, name, folder: join(folder, name) });
  const n1 = await start('n1');
  expect((await insist([n1], register(agentOf('ada')), 0)).status).toBe(201);
  await client.put(`${prefix}card/x`, 'x');
  const n2 = await start('n2');
  const shown = await folkmoot(['cluster', 'status', ...where]);
  expect(shown.code, shown.stderr).toBe(0);
  expect(JSON.parse(shown.stdout)).toMatchObject({
    nodes: [
      { node: 'n1', alive: true },
      { node: 'n2', alive: true },
    ],
    bad_cards: [{ node: 'x', problem: expect.any(String) }],
  });
  expect((await folkmoot(['cluster', 'forget', 'x', ...where])).code).toBe(0);
  expect(JSON.parse((await folkmoot(['cluster', 'status', ...where])).stdout).bad_cards).toEqual(
    [],
  );
  expect((await insist([n1, n2], register(agentOf('bob')), 1)).status).toBe(201);
});
