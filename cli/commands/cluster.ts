/** `folkmoot cluster`: the nodes that keep one network, as etcd knows them. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import type { EtcdOrder } from '../../cluster/order/etcd.js';
import type { Card } from '../../cluster/order/order.js';
import { addClusterOptions, type ClusterFlags, openOrder } from '../options/etcd.js';
import { exitCodes, RefusedError, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson } from '../output/output.js';

interface Flags extends ClusterFlags {
  networkId?: string;
}

export function clusterCommand(): Command {
  const cluster = new Command('cluster')
    .description('look at the nodes that keep one network together')
    .addHelpText(
      'after',
      '\nExample:\n  $ folkmoot cluster status --cluster etcd://127.0.0.1 --network-id town',
    );
  withNetwork(cluster.command('status'))
    .description('every node: whether it lives, how far it is, its digest; and the members of etcd')
    .addHelpText(
      'after',
      `
Prints one JSON object, after two seconds: a node is alive that has told of itself meanwhile.
\`bad_cards\` lists values in etcd that are not the card of a node, which all nodes skip: a node
that is alive replaces its own, and \`cluster forget\` deletes any other. Exit codes:
0 done, 1 etcd does not answer or has no such network, 2 usage, 12 nodes have parted.

Example:
  $ folkmoot cluster status --cluster etcd://127.0.0.1 --network-id town`,
    )
    .action((flags: Flags) => over(flags, status));
  withNetwork(cluster.command('forget'))
    .argument('<node>', 'its name')
    .description('keep no batches for a node that will not come back')
    .addHelpText(
      'after',
      `
Etcd keeps batches until every node has them; for one that is gone, it would keep all. A process of
this name that still runs ends. It also deletes what \`cluster status\` lists as a bad card.

Example:
  $ folkmoot cluster forget n3 --cluster etcd://127.0.0.1 --network-id town`,
    )
    .action((node: string, flags: Flags) => over(flags, (order) => forget(order, node)));
  return cluster;
}

const withNetwork = (command: Command) =>
  addClusterOptions(command).option('--network-id <id>', 'name of the network');

async function over(flags: Flags, work: (order: EtcdOrder) => Promise<number>): Promise<void> {
  const { cluster, networkId } = flags;
  if (cluster === undefined) throw new UsageError('--cluster says where etcd is: etcd://host:port');
  if (networkId === undefined) throw new UsageError('--network-id names the network');
  const order = await openOrder(flags, networkId);
  try {
    setExitCode(await work(order));
  } finally {
    order.close();
  }
}

/** A node tells of itself each second. */
const LOOK_MS = 2_500;

async function status(order: EtcdOrder): Promise<number> {
  const first = await order.allCards();
  if (first.cards.length + first.bad.length === 0) {
    throw new RefusedError('etcd knows no nodes of that network');
  }
  const before = new Map(first.cards.map((card) => [card.node, card.wall]));
  await sleep(LOOK_MS);
  const [head, { cards, bad }, members] = await Promise.all([
    order.head(),
    order.allCards(),
    order.client.status(),
  ]);
  const parted = partedAmong(cards);
  printJson({
    batches: head.version,
    nodes: cards.map((card) => ({
      node: card.node,
      alive: before.get(card.node) !== card.wall,
      url: card.url,
      peer: card.peer,
      batch: card.position.version,
      behind: head.version - card.position.version,
      entry: card.seq,
      event: card.event_seq,
      digest: card.digest,
      version: card.version,
      told_at: new Date(card.wall).toISOString(),
    })),
    bad_cards: bad,
    parted,
    etcd: members.map((member) =>
      member.problem === null
        ? {
            endpoint: member.endpoint,
            version: member.version,
            leader: member.leader === member.memberId,
            database_bytes: member.databaseBytes,
          }
        : { endpoint: member.endpoint, problem: member.problem },
    ),
  });
  return parted.length > 0 ? exitCodes.differs : exitCodes.done;
}

/** Nodes that are at the same entry with different digests, by pairs. */
function partedAmong(cards: readonly Card[]): [string, string][] {
  return cards.flatMap((one, index) =>
    cards
      .slice(index + 1)
      .filter((other) => other.seq === one.seq && other.digest !== one.digest)
      .map((other): [string, string] => [one.node, other.node]),
  );
}

async function forget(order: EtcdOrder, node: string): Promise<number> {
  if (await order.forget(node)) return exitCodes.done;
  throw new RefusedError(`etcd knows no node ${node} of that network`);
}
