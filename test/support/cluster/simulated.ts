/** A simulated etcd whose time passes while a test waits. */
import { EtcdClient, type EtcdOptions } from '../../../dist/cluster/etcd/client.js';
import { SimulatedTime } from '../../../dist/cluster/simulated/clock.js';
import { SimulatedEtcd } from '../../../dist/cluster/simulated/etcd.js';
import { drawnFrom } from '../seeded.js';

export interface Simulated {
  etcd: SimulatedEtcd;
  clock: SimulatedTime;
  /** Ends the time. */
  stop(): void;
  /** Opens a client on a host. */
  client(host?: string, more?: Partial<EtcdOptions>): EtcdClient;
}

/** Starts a simulated etcd, which stops at the end of the test. */
export function simulatedEtcd(seed: number, more: { members?: number } = {}): Simulated {
  const draw = drawnFrom(seed);
  const clock = new SimulatedTime(1_700_000_000_000);
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  const etcd = new SimulatedEtcd({ clock, random: () => draw(2 ** 32) / 2 ** 32, ...more });
  const { endpoints } = etcd;
  void clock.runUntil(Number.POSITIVE_INFINITY, () => !isStopped);
  onTestFinished(stop);
  return {
    ...{ etcd, clock, stop },
    client: (host = 'n1', options = {}) => {
      const connect = (endpoint: string) => etcd.connect(endpoint, host);
      return new EtcdClient({ endpoints, clock, connect, ...options });
    },
  };
}
