/**
 * Real etcd processes (Debian package etcd-server) for a test: one or three members on loopback,
 * with data in a temporary folder. The processes are killed at the end of the test.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EtcdClient, type EtcdOptions } from '../../dist/cluster/etcd/client.js';
import { freePort, temporaryFolder } from './fixture.js';

const etcdProgram = process.env.ETCD_PATH ?? '/usr/bin/etcd';
/** False to skip tests that need etcd. Install etcd with `apt-get install etcd-server`. */
export const hasEtcd = existsSync(etcdProgram);

interface EtcdMember {
  name: string;
  /** Endpoint for nodes and clients. */
  endpoint: string;
  pid(): number;
  /** Sends a signal. With SIGKILL, waits until the process has ended. */
  signal(signal: NodeJS.Signals): Promise<void>;
  /** Restarts the member with its data. */
  restart(): void;
}

export interface TestEtcd {
  /** Value for `--queue` and `--cluster`. */
  url: string;
  /** Endpoints for clients. */
  endpoints: string[];
  members: EtcdMember[];
  /** Returns the current leader. */
  leader(): Promise<EtcdMember>;
}

export interface EtcdSetup {
  members?: 1 | 3;
  /** PEM files. Clients must present a certificate from the same CA. */
  tls?: { ca: string; cert: string; key: string };
  /** Arguments for every member. */
  args?: readonly string[];
  /** Folder in which the data is stored (default: that of the system). */
  parent?: string;
}

/** Starts an etcd and waits until it accepts writes. */
export async function etcd({
  members: count = 1,
  tls,
  args = [],
  parent,
}: EtcdSetup = {}): Promise<TestEtcd> {
  const folder = temporaryFolder(parent);
  const scheme = tls ? 'https' : 'http';
  const ports = await freePorts(2 * count);
  const planned = Array.from({ length: count }, (_, index) => ({
    name: `m${index + 1}`,
    endpoint: `127.0.0.1:${ports[2 * index]}`,
    peer: `http://127.0.0.1:${ports[2 * index + 1]}`,
  }));
  const all = planned.map(({ name, peer }) => `${name}=${peer}`).join(',');
  const secured = tls
    ? ['--cert-file', tls.cert, '--key-file', tls.key, '--trusted-ca-file', tls.ca]
    : [];
  const members = planned.map(({ name, endpoint, peer }) => {
    const own = [
      ...['--name', name, '--data-dir', join(folder, name), '--logger', 'zap'],
      ...['--log-level', 'error', '--log-outputs', 'stderr'],
      ...['--listen-client-urls', `${scheme}://${endpoint}`],
      ...['--advertise-client-urls', `${scheme}://${endpoint}`],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', all, '--initial-cluster-state', 'new'],
      ...(tls ? [...secured, '--client-cert-auth'] : []),
    ];
    return memberOf({ name, endpoint }, [...own, ...args]);
  });
  const endpoints = members.map(({ endpoint }) => endpoint);
  const url = `etcd://${endpoints.join(',')}`;
  const made = { url, endpoints, members };
  if (!tls) await ready(endpoints);
  return { ...made, leader: () => leaderOf(members) };
}

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

function memberOf(
  names: Pick<EtcdMember, 'name' | 'endpoint'>,
  args: readonly string[],
): EtcdMember {
  let child: ChildProcess;
  let ended: Promise<unknown>;
  const start = () => {
    child = spawn(etcdProgram, args, { stdio: 'ignore', env: { PATH: process.env.PATH } });
    const own = child;
    ended = new Promise((resolve) => own.once('exit', resolve));
  };
  start();
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    ...names,
    pid: () => child.pid!,
    async signal(signal) {
      child.kill(signal);
      if (signal === 'SIGKILL') await ended;
    },
    restart: start,
  };
}

/** Opens a client that closes at the end of the test. */
export function etcdClient(
  { endpoints }: Pick<TestEtcd, 'endpoints'>,
  more: Partial<EtcdOptions> = {},
): EtcdClient {
  const client = new EtcdClient({ endpoints, ...more });
  onTestFinished(() => client.close());
  return client;
}

/** Defragments a one-member etcd and clears its space alarm. */
export async function makeRoom({ members }: TestEtcd, client: EtcdClient): Promise<void> {
  const url = `http://${members[0]!.endpoint}/v3/maintenance/defragment`;
  const { status } = await fetch(url, { method: 'POST', body: '{}' });
  expect(status).toBe(200);
  for (const alarm of await client.alarms()) await client.disarm(alarm);
}

/** Waits until every member follows a leader. */
export async function ready(endpoints: readonly string[], tls?: EtcdOptions['tls']): Promise<void> {
  const client = new EtcdClient({ endpoints, ...(tls ? { tls } : {}) });
  const led = async () => {
    return (await client.status()).every((one) => one.problem === null && one.leader !== '0');
  };
  try {
    await expect.poll(led).toBe(true);
    // A new cluster's first leader may not accept writes yet.
    await expect.poll(() => client.range('ready').then(() => true, String)).toBe(true);
  } finally {
    client.close();
  }
}

async function leaderOf(members: readonly EtcdMember[]): Promise<EtcdMember> {
  const client = new EtcdClient({ endpoints: members.map(({ endpoint }) => endpoint) });
  try {
    for (;;) {
      for (const status of await client.status()) {
        if (status.problem !== null || status.leader !== status.memberId) continue;
        return members.find(({ endpoint }) => endpoint === status.endpoint)!;
      }
    }
  } finally {
    client.close();
  }
}
