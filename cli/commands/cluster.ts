import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdOrder } from '../../cluster/order/etcd.js';
import type { Card } from '../../cluster/order/order.js';
import { type ClusterFlags, clusterOptions, openOrder } from '../options/etcd.js';
import { CliCommand } from '../options/options.js';
import { exitCodes, refusedError, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson } from '../output/output.js';

interface Flags extends ClusterFlags {
  networkId?: string;
}

export function clusterCommand(): CliCommand {
  const cluster = new CliCommand('cluster')
    .description('inspect and maintain the nodes of a cluster')
    .examples(
      'cluster status --cluster etcd://127.0.0.1 --network-id town',
      'cluster forget n3 --cluster etcd://127.0.0.1 --network-id town',
      'cluster status --network-id town | jq .nodes',
    );
  withNetwork(cluster.command('status'))
    .description('print the status of all nodes and etcd members')
    .notes(`
Prints one JSON object after two seconds. A node is alive if it updated its card
in etcd in that time. bad_cards lists invalid cards, which all nodes ignore. A
live node replaces its card, and cluster forget deletes the others. Exits with
code 12 if nodes have different digests at the same entry.`)
    .examples(
      'cluster status --cluster etcd://127.0.0.1 --network-id town',
      'cluster status --cluster etcd://10.0.0.1,10.0.0.2 --network-id town',
      'cluster status --network-id town | jq .parted',
    )
    .action((flags: Flags) => over(flags, status));
  withNetwork(cluster.command('forget'))
    .argument('<node>', 'node name')
    .description('remove a node that will not return')
    .notes(`
etcd keeps each batch of requests until every node has it. Remove a lost node so
that etcd can delete its batches. A running node of this name exits. Also
deletes a bad card of this name.`)
    .examples(
      'cluster forget n3 --cluster etcd://127.0.0.1 --network-id town',
      'cluster forget n3 --cluster etcd://10.0.0.1 --network-id town',
      'cluster forget n3 --network-id town',
    )
    .action((node: string, flags: Flags) => over(flags, (order) => forget(order, node)));
  return cluster;
}

const withNetwork = (command: CliCommand) =>
  command.addOptions(clusterOptions()).option('--network-id <id>', 'network name');

async function over(
  flags: Flags,
  work: (order: EtcdOrder, networkId: string) => Promise<number>,
): Promise<void> {
  const { cluster, networkId } = flags;
  if (cluster === undefined) {
    const example = 'the etcd endpoints, such as etcd://host:port';
    throw new UsageError('MISSING_OPTION', { option: '--cluster', example });
  }
  if (networkId === undefined) {
    throw new UsageError('MISSING_OPTION', { option: '--network-id', example: 'the network name' });
  }
  const order = await openOrder(flags, networkId);
  try {
    setExitCode(await work(order, networkId));
  } finally {
    order.close();
  }
}

/** Wait between two reads of the cards. A node updates its card every second. */
const LOOK_MS = 2_500;

async function status(order: EtcdOrder, networkId: string): Promise<number> {
  const first = await order.allCards();
  if (first.cards.length + first.bad.length === 0) {
    throw refusedError('NO_NODES', { network: networkId });
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

/** Returns the pairs of nodes with different digests at the same entry. */
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
  throw refusedError('UNKNOWN_NODE', { node });
}
