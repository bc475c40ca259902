/** Temporary faults in three nodes and three etcd members. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdMember, TestEtcd } from '../etcd.js';
import type { Host, Network } from '../hosts/hosts.js';
import type { NodeProcess } from './processes.js';

export interface Around {
  nodes: readonly NodeProcess[];
  order: TestEtcd;
  /** Draws a whole number below `most`. */
  below(most: number): number;
  /** Resolves after this number of further writes. */
  more(count: number): Promise<void>;
}

/** Resolves at the end of the fault. */
export type Fault<A> = (around: A) => Promise<void>;

/** Faults that kill or stop processes. All faults except one leave a quorum. */
export const ofProcesses: Record<string, Fault<Around>> = {
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

export interface Linked extends Around {
  network: Network;
}

type Placed = { host: Host };

/** Drops packets from some hosts to others for a limited time. */
async function lost(around: Linked, from: readonly Placed[], to: readonly Placed[]): Promise<void> {
  for (const one of from) for (const other of to) around.network.lose(one.host, other.host);
  await passing(around);
}

async function passing({ network, below, more }: Linked): Promise<void> {
  await more(5);
  await sleep(1_000 + below(5_000));
  network.mend();
}

const others = (order: TestEtcd, one: EtcdMember) =>
  order.members.filter((member) => member !== one);

/** Network partitions. An etcd quorum stays connected and reachable from a node. */
export const betweenHosts: Record<string, Fault<Linked>> = {
  async 'a node is cut off from etcd'(around) {
    const { nodes, order, below, network } = around;
    const node = nodes[below(3)]!;
    for (const { host } of order.members) network.lose(host, node.host);
    await lost(around, [node], order.members);
  },
  async 'a node can send to etcd, but receives nothing'(around) {
    await lost(around, around.order.members, [around.nodes[around.below(3)]!]);
  },
  async "etcd's leader is cut off from the others"(around) {
    const leader = await around.order.leader();
    const rest = others(around.order, leader);
    for (const { host } of rest) around.network.lose(host, leader.host);
    await lost(around, [leader], rest);
  },
  async "etcd's leader can send, but receives nothing"(around) {
    const leader = await around.order.leader();
    await lost(around, others(around.order, leader), [leader]);
  },
  async 'a node and a member are partitioned'(around) {
    const { order, below } = around;
    await leftAlone(around, order.members[below(3)]!);
  },
  // Other nodes may be watching this member, and do not learn that it has lost leadership.
  async "a node and etcd's leader are partitioned"(around) {
    await leftAlone(around, await around.order.leader());
  },
};

async function leftAlone(around: Linked, member: EtcdMember): Promise<void> {
  const { nodes, order, below, network } = around;
  const node = nodes[below(3)]!;
  const rest = [...nodes.filter((one) => one !== node), ...others(order, member)];
  for (const { host } of rest) {
    network.lose(host, node.host);
    network.lose(host, member.host);
  }
  await lost(around, [node, member], rest);
}
