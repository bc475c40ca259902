/** Temporary faults in three nodes and three etcd members. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestEtcd } from '../etcd.js';
import type { NodeProcess } from './processes.js';

interface Around {
  nodes: readonly NodeProcess[];
  order: TestEtcd;
  /** Draws a whole number below `most`. */
  below(most: number): number;
  /** Resolves after this number of further writes. */
  more(count: number): Promise<void>;
}

/**
 * Faults that kill or stop processes. All faults except one leave a quorum. Each resolves at its
 * end. The swarm of simulated clusters cuts links.
 */
export const faults: Record<string, (around: Around) => Promise<void>> = {
  async 'a node is killed'({ nodes, below, more }) {
    const node = nodes[below(3)]!;
    await node.signal('SIGKILL');
    await more(5 + below(20));
    await node.restart();
  },
  async "etcd's leader is killed"({ order, below, more }) {
    const leader = await order.leader();
    await leader.signal('SIGKILL');
    await more(5 + below(20));
    leader.restart();
  },
  async 'two nodes are killed'({ nodes, below, more }) {
    const stays = below(3);
    const killed = nodes.filter((_, at) => at !== stays);
    for (const node of killed) await node.signal('SIGKILL');
    await more(5);
    for (const node of killed) await node.restart();
  },
  async 'a node is stopped'({ nodes, below }) {
    const node = nodes[below(3)]!;
    await node.signal('SIGSTOP');
    await sleep(1_000 + below(5_000));
    await node.signal('SIGCONT');
  },
  async "etcd's leader is stopped"({ order, below }) {
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
