/**
 * Three nodes over an etcd of three members, under load, while processes of both are killed and
 * stopped, drawn by a seed. All that was acknowledged is in every log, once; a subscriber that is
 * at another node each second misses nothing.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { expectKept, load } from '../support/cluster/history.js';
import { hopper } from '../support/cluster/hopper.js';
import {
  expectTogether,
  insist,
  type NodeProcess,
  nodeProcess,
  positionOf,
} from '../support/cluster/processes.js';
import { counts } from '../support/counts.js';
import { etcd, hasEtcd, type TestEtcd } from '../support/etcd.js';
import { temporaryFolder } from '../support/fixture.js';
import { drawnFrom, seed } from '../support/seeded.js';
import { agentOf, register } from '../support/service/signer.js';

const agents = ['ada', 'bob', 'eve', 'kim', 'lee', 'max'].map(agentOf);
const [ada] = agents as [(typeof agents)[0]];

interface Around {
  nodes: readonly NodeProcess[];
  order: TestEtcd;
  below(most: number): number;
  /** Resolves when so many more were told. */
  more(count: number): Promise<void>;
}

/** What goes wrong, and is over when it resolves. At least as many of each are well as decide. */
const faults: Record<string, (around: Around) => Promise<void>> = {
  async 'a node is killed'({ nodes, below, more }) {
    const node = nodes[below(3)]!;
    await node.signal('SIGKILL');
    await more(5 + below(20));
    await node.restart();
  },
  async 'two nodes are killed'({ nodes, below, more }) {
    const stays = below(3);
    const killed = nodes.filter((_, at) => at !== stays);
    for (const node of killed) await node.signal('SIGKILL');
    await more(5);
    for (const node of killed) await node.restart();
  },
  async 'a node stands still'({ nodes, below }) {
    const node = nodes[below(3)]!;
    await node.signal('SIGSTOP');
    await sleep(1_000 + below(5_000));
    await node.signal('SIGCONT');
  },
  async "etcd's leader is killed"({ order, below, more }) {
    const leader = await order.leader();
    await leader.signal('SIGKILL');
    await more(5 + below(20));
    leader.restart();
  },
  async "etcd's leader stands still"({ order, below }) {
    const leader = await order.leader();
    await leader.signal('SIGSTOP');
    await sleep(1_000 + below(5_000));
    await leader.signal('SIGCONT');
  },
  async 'etcd has no quorum'({ order, below }) {
    const [one, two] = order.members;
    await one!.signal('SIGKILL');
    await two!.signal('SIGKILL');
    await sleep(500 + below(4_000));
    one!.restart();
    two!.restart();
  },
};

test.skipIf(!hasEtcd)('faults: nodes and members of etcd die and stand still', async () => {
  const below = drawnFrom(seed);
  const order = await etcd({ members: 3 });
  const folder = temporaryFolder();
  const start = (name: string) =>
    nodeProcess({ cluster: order.url, name, folder: join(folder, name) });
  const nodes = [await start('n1'), await start('n2'), await start('n3')];
  const told = [];
  for (const [index, by] of agents.entries()) told.push(await insist(nodes, register(by), index));
  const { epoch } = (await positionOf(nodes[0]!))!;
  const hops = hopper(nodes, ada, epoch);
  const running = load(nodes, agents);
  const names = Object.keys(faults);
  const drawn: string[] = [];
  for (let done = 0; done < counts.clusterFaults; done += 1) {
    // Each of them once, before any comes again.
    const name = done < names.length ? names[done]! : names[below(names.length)]!;
    drawn.push(name);
    const more = (count: number) => running.more(count);
    await faults[name]!({ nodes, order, below, more });
    await running.more(15);
  }
  told.push(...(await running.stop()));
  const context = `FOLKMOOT_TEST_SEED=${seed}: ${drawn.join(', ')}`;
  expect(
    told.filter(({ status }) => status >= 300),
    context,
  ).toEqual([]);
  expect(told.filter(({ sent }) => sent > 1).length, context).toBeGreaterThan(0);
  const { event_seq } = await expectTogether(nodes);
  await expect
    .poll(() => hops.seqs.at(-1) ?? 0, { timeout: 120_000 })
    .toBeGreaterThanOrEqual(event_seq);
  await hops.stop();
  expect(hops.seqs, context).toEqual(hops.seqs.map((_, index) => index + 1));
  expect(hops.hops).toBeGreaterThan(3);
  await expectKept(nodes, told);
});
