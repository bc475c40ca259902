/**
 * Cases that use etcd on this machine, and the etcd processes. `cluster` compares three nodes and
 * three etcd members with one server without a cluster and with the engine in this process, on the
 * same signed votes, and then kills the etcd leader. `queue` compares a sweep whose runs two
 * workers take from a queue with the same sweep run as two jobs.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EtcdClient } from '../../cluster/etcd/client.js';
import { composeStatus, type Signatory } from '../../engine/protocol/compose.js';
import { agentId } from '../../engine/protocol/signing.js';
import { defineCase, type Round, type Row } from '../case.js';
import { type MeasuredRate, postRate } from '../clients/clients.js';
import { countRounds, NETWORK_ID, postedBlocks, signatories } from '../fixtures/chain.js';
import { withFolder } from '../fixtures/network.js';
import { median } from '../raw/raw.js';
import {
  endedSeconds,
  type FolkmootServer,
  folkmootArguments,
  type Spent,
  soFarSeconds,
  spendOn,
  withFolkmoot,
} from '../servers/processes.js';
import { signed } from './tiers.js';

interface ClusterOptions {
  agents: number;
  /** Blocks before the measurement, because a new server is still compiling. */
  warmUp: number;
  blocks: number;
  /** Votes posted one at a time. */
  singly: number;
}

const CONNECTIONS = 512;

async function measureCluster(asked: ClusterOptions, { r, seed }: Round): Promise<Row[]> {
  if (!hasEtcd) return [{ name: 'skipped', note: 'etcd not found; apt-get install etcd-server' }];
  const { agents, warmUp, blocks, singly } = asked;
  const posted = postedBlocks(seed, agents, warmUp + blocks + 1);
  const many = posted.slice(0, -2);
  const single = [posted.at(-2)!, posted.at(-1)!.slice(0, singly)];
  const measure = async (paying: Parameters<typeof postRate>[0]) => ({
    rate: await postRate(paying, many, { connections: CONNECTIONS, warmUp: countRounds(warmUp) }),
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
  const row = (name: string, { perSecond, cpuUs }: MeasuredRate): Row => ({
    name,
    per_s: perSecond,
    of_r: perSecond / r,
    cpu_us: cpuUs,
  });
  const ms = (name: string, value: number): Row => ({ name, value, unit: 'ms' });
  return [
    { name: 'engine+verify+store', per_s: local.rate, of_r: local.rate / r, cpu_us: local.cpu_us },
    row('one server, signed votes over HTTP', one.rate),
    row('the same, three nodes and three etcd members', three.rate),
    {
      name: 'three nodes and three members: votes/s, relative to engine+verify+store',
      ratio: three.rate.perSecond / local.rate,
      wanted: 0.3,
    },
    { name: 'the same per CPU time', ratio: local.cpu_us / three.rate.cpuUs },
    ms('one vote after the other, one server: median', one.alone.medianMs),
    ms('one vote after the other, three nodes: median', three.alone.medianMs),
    {
      name: 'one vote, three nodes: median, relative to one server',
      value: three.alone.medianMs / one.alone.medianMs,
      unit: 'times',
      allowed: 2,
    },
    {
      ...ms('etcd leader killed: time to the next completed write', three.failOverMs),
      allowed: 5_000,
    },
  ];
}

/** Starts nodes with these names, one at a time. */
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

/** Time without a successful write after an event. Writes are tried on all nodes. */
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

export const clusterCase = defineCase<ClusterOptions>({
  name: 'cluster',
  about: 'three nodes and three etcd members on this machine, relative to one server; needs etcd',
  byName: true,
  sizes: {
    small: { agents: 1_000, warmUp: 4, blocks: 8, singly: 300 },
    large: { agents: 4_000, warmUp: 8, blocks: 24, singly: 1_000 },
  },
  run: measureCluster,
});

const execute = promisify(execFile);

interface QueueOptions {
  agents: number;
  blocks: number;
  runs: number;
  /** Number of sweep pairs. The two sweeps in a pair run back to back. */
  pairs: number;
}

/**
 * Workers wait for sweeps, so worker startup is not measured, but the startup of the run processes
 * is.
 */
const STARTED_MS = 3_000;

async function measureQueue({ agents, blocks, runs, pairs }: QueueOptions): Promise<Row[]> {
  if (!hasEtcd) return [{ name: 'skipped', note: 'etcd not found; apt-get install etcd-server' }];
  if (endedSeconds() === null) return [{ name: 'skipped', note: 'needs CPU times of Linux' }];
  const taken = await withFolder(async (folder) => {
    const file = join(folder, 'runs.json');
    writeFileSync(file, JSON.stringify(scenario(agents, blocks, runs)));
    const each: { local: Spent; queued: Spent }[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      const out = (name: string) => ['--out', join(folder, `${name}-${pair}`)];
      const local = await spendOn(() => runSweep(file, ['--jobs', '2', ...out('local')]));
      each.push({ local, queued: await queued(file, out('queued')) });
    }
    return each;
  });
  const row = (which: 'local' | 'queued', name: string): Row => ({
    name,
    per_s: runs / median(taken.map((pair) => pair[which].seconds)),
    cpu_us: (median(taken.map((pair) => pair[which].cpuSeconds)) / runs) * 1e6,
  });
  const ratio = (of: keyof Spent) =>
    median(taken.map(({ local, queued }) => local[of] / queued[of]));
  return [
    row('local', `runs of ${agents} agents and ${blocks} blocks, sweep --jobs 2`),
    row('queued', 'the same, by a queue with two workers'),
    {
      name: 'two workers: runs per CPU time, relative to --jobs 2',
      ratio: ratio('cpuSeconds'),
      wanted: 0.9,
    },
    { name: 'the same per wall time', ratio: ratio('seconds') },
  ];
}

const scenario = (agents: number, blocks: number, runs: number) => ({
  title: 'Runs of a queue',
  population: agents,
  agents: [{ group: 'town', producers: Math.ceil(agents / 50) }],
  signatures: 'none',
  length: { blocks },
  sweep: {
    replicates: runs / 2,
    factors: [{ path: 'consensus.policy', values: ['bft', 'majority'] }],
  },
});

const runSweep = (file: string, args: readonly string[]) =>
  execute(process.execPath, [...folkmootArguments, 'sweep', file, ...args]);

/** Measures the total work with two idle workers and a one-member etcd. */
async function queued(file: string, args: readonly string[]): Promise<Spent> {
  const before = endedSeconds()!;
  const { seconds, started } = await withEtcd(async ({ url, cpuSeconds }) => {
    const workers = [0, 1].map(() => startWorker(url));
    try {
      await sleep(STARTED_MS);
      const idle = workers.map(({ pid }) => soFarSeconds(pid!)!);
      const started = idle.reduce((sum, one) => sum + one, await cpuSeconds());
      const { seconds } = await spendOn(() => runSweep(file, ['--queue', url, ...args]));
      return { seconds, started };
    } finally {
      await Promise.all(workers.map(endWorker));
    }
  }, 1);
  return { seconds, cpuSeconds: endedSeconds()! - before - started };
}

const startWorker = (url: string): ChildProcess =>
  spawn(process.execPath, [...folkmootArguments, 'worker', '--queue', url, '--jobs', '1'], {
    stdio: 'ignore',
  });

async function endWorker(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
}

export const queueCase = defineCase<QueueOptions>({
  name: 'queue',
  about: 'a sweep by two queue workers, relative to one with two jobs; needs etcd',
  byName: true,
  sizes: {
    small: { agents: 300, blocks: 10, runs: 120, pairs: 3 },
    large: { agents: 300, blocks: 20, runs: 200, pairs: 5 },
  },
  run: measureQueue,
});

const etcdProgram = process.env.ETCD_PATH ?? '/usr/bin/etcd';
const hasEtcd = existsSync(etcdProgram);

interface EtcdServer {
  /** URL for `--cluster` and `--queue`. */
  url: string;
  /** CPU time that all members have used so far. */
  cpuSeconds(): Promise<number>;
  killLeader(): Promise<void>;
}

/** Runs an etcd for the duration of `work`. */
function withEtcd<T>(work: (etcd: EtcdServer) => Promise<T>, count: 1 | 3 = 3): Promise<T> {
  return withFolder(async (folder) => {
    const ports = await freePorts(2 * count);
    const planned = Array.from({ length: count }, (_, at) => ({
      name: `m${at}`,
      endpoint: `127.0.0.1:${ports[2 * at]}`,
      peer: `http://127.0.0.1:${ports[2 * at + 1]}`,
    }));
    const all = planned.map(({ name, peer }) => `${name}=${peer}`).join(',');
    const members = planned.map(({ name, endpoint, peer }) => {
      const url = `http://${endpoint}`;
      const args = [
        ...['--name', name, '--data-dir', join(folder, name), '--log-level', 'error'],
        ...['--logger', 'zap', '--listen-client-urls', url, '--advertise-client-urls', url],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
        ...['--initial-cluster', all],
      ];
      const child = spawn(etcdProgram, args, { stdio: 'ignore' });
      const ended = once(child, 'exit');
      const end = async () => {
        child.kill('SIGKILL');
        await ended;
      };
      return { endpoint, end };
    });
    const endpoints = planned.map(({ endpoint }) => endpoint);
    const client = new EtcdClient({ endpoints });
    try {
      // etcd responds once it has elected a leader.
      while (!(await client.range('begun').catch(() => null))) await sleep(100);
      return await work({
        url: `etcd://${endpoints.join(',')}`,
        cpuSeconds: async () => {
          const each = await Promise.all(endpoints.map(cpuSecondsOf));
          return each.reduce((sum, one) => sum + one, 0);
        },
        killLeader: async () => {
          const found = await client.status();
          const leads = found.find((one) => one.problem === null && one.leader === one.memberId);
          await members.find(({ endpoint }) => endpoint === leads?.endpoint)?.end();
        },
      });
    } finally {
      client.close();
      for (const { end } of members) await end();
    }
  });
}

async function cpuSecondsOf(endpoint: string): Promise<number> {
  const text = await (await fetch(`http://${endpoint}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (.*)$/m.exec(text)![1]);
}

async function freePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(probes.map((probe) => once(probe, 'listening')));
  const ports = probes.map((probe) => (probe.address() as { port: number }).port);
  await Promise.all(probes.map((probe) => once(probe.close(), 'close')));
  return ports;
}
