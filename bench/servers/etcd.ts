/** An etcd of some members on this machine, where Debian's package etcd-server is installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdClient } from '../../cluster/etcd/index.js';
import { withFolder } from '../fixtures/network.js';

const program = process.env.ETCD_PATH ?? '/usr/bin/etcd';
export const hasEtcd = existsSync(program);

export interface EtcdServer {
  /** For `--cluster` and `--queue`. */
  url: string;
  /** CPU time of all members so far. */
  cpuSeconds(): Promise<number>;
  /** Ends the member that leads, at once. */
  killLeader(): Promise<void>;
}

/** For the work of a case, gone afterwards. */
export function withEtcd<T>(work: (etcd: EtcdServer) => Promise<T>, count: 1 | 3 = 3): Promise<T> {
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
      const child = spawn(program, args, { stdio: 'ignore' });
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
      // It answers when it has a leader.
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
