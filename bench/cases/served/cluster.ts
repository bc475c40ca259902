/**
 * Three nodes of a cluster and three members of etcd, all on this machine, beside one server
 * without a cluster and the engine in this process: the same signed votes. They are posted to all
 * nodes in turn, many at a time, and then one after the other; then etcd's leader is killed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { composeStatus, type Signatory } from '../../../engine/internal.js';
import { agentId } from '../../../engine/protocol/signing.js';
import { defineCase, type Round } from '../../case.js';
import { postRate, type Taken } from '../../clients/posts.js';
import { NETWORK_ID, signatories } from '../../fixtures/chain.js';
import { postedBlocks, roundsOf } from '../../fixtures/posted.js';
import type { Row } from '../../result.js';
import { hasEtcd, withEtcd } from '../../servers/etcd.js';
import { type FolkmootServer, withFolkmoot } from '../../servers/folkmoot.js';
import { signed } from '../tiers/tiers-local.js';

interface Configuration {
  agents: number;
  /** So many blocks before anything is measured: servers that have just begun still compile. */
  warmUp: number;
  blocks: number;
  /** Votes that are posted one after the other. */
  singly: number;
}

const CONNECTIONS = 512;

async function run(asked: Configuration, { r, seed }: Round): Promise<Row[]> {
  if (!hasEtcd) return [{ name: 'left out', note: 'no etcd is here: apt-get install etcd-server' }];
  const { agents, warmUp, blocks, singly } = asked;
  const posted = postedBlocks(seed, agents, warmUp + blocks + 1);
  const many = posted.slice(0, -2);
  const single = [posted.at(-2)!, posted.at(-1)!.slice(0, singly)];
  const measure = async (paying: Parameters<typeof postRate>[0]) => ({
    rate: await postRate(paying, many, { connections: CONNECTIONS, warmUp: roundsOf(warmUp) }),
    alone: await postRate(paying, single, { connections: 1, warmUp: 1 }),
  });
  const local = await signed('lmdb', agents, blocks, seed);
  const one = await withFolkmoot((server) => measure([server]), ['--network-id', NETWORK_ID]);
  const by = signatories(seed, 1, true)[0]!;
  const three = await withEtcd((etcd) =>
    withNodes(etcd.url, ['n1', 'n2', 'n3'], [], async (nodes) => ({
      ...(await measure([...nodes, { cpuSeconds: () => etcd.cpuSeconds() }])),
      failOverMs: await failOver(nodes, by, () => etcd.killLeader()),
    })),
  );
  const row = (name: string, { perSecond, cpuUs }: Taken): Row => ({
    name,
    per_s: perSecond,
    of_r: perSecond / r,
    cpu_us: cpuUs,
  });
  const ms = (name: string, value: number): Row => ({ name, value, unit: 'ms' });
  return [
    { name: 'engine+verify+store', per_s: local.rate, of_r: local.rate / r, cpu_us: local.cpu_us },
    row('one server, signed votes over HTTP', one.rate),
    row('three nodes and three members of etcd, the same', three.rate),
    {
      name: 'three nodes and three members: votes/s of engine+verify+store',
      ratio: three.rate.perSecond / local.rate,
      wanted: 0.3,
    },
    { name: 'the same for the CPU time that it takes', ratio: local.cpu_us / three.rate.cpuUs },
    ms('one vote after the other, one server: median', one.alone.medianMs),
    ms('one vote after the other, three nodes: median', three.alone.medianMs),
    {
      name: 'one vote, three nodes: median in medians of one server',
      value: three.alone.medianMs / one.alone.medianMs,
      unit: 'times',
      allowed: 2,
    },
    { ...ms("etcd's leader is killed: until a write is done", three.failOverMs), allowed: 5_000 },
  ];
}

/** Nodes of these names, one after the other. */
function withNodes<T>(
  cluster: string,
  [name, ...names]: readonly string[],
  nodes: readonly FolkmootServer[],
  work: (nodes: readonly FolkmootServer[]) => Promise<T>,
): Promise<T> {
  if (name === undefined) return work(nodes);
  const more = ['--cluster', cluster, '--node', name, '--network-id', NETWORK_ID];
  return withFolkmoot((node) => withNodes(cluster, names, [...nodes, node], work), more);
}

/** For how long nobody's writes are done when something happens; all nodes are asked. */
async function failOver(
  nodes: readonly FolkmootServer[],
  by: Signatory,
  happens: () => Promise<void>,
): Promise<number> {
  await happens();
  const from = performance.now();
  for (;;) {
    const timestamp = new Date().toISOString();
    const update = composeStatus(by, timestamp, agentId(by.publicKey), { status: 'active' });
    const done = await Promise.any(nodes.map((node) => node.send(update))).catch(() => null);
    if (done) return performance.now() - from;
    await sleep(50);
  }
}

export const clusterCase = defineCase<Configuration>({
  name: 'cluster',
  about: 'three nodes and three members of etcd on this machine, beside one server; needs etcd',
  byName: true,
  sizes: {
    small: { agents: 1_000, warmUp: 4, blocks: 8, singly: 300 },
    large: { agents: 4_000, warmUp: 8, blocks: 24, singly: 1_000 },
  },
  run,
});
