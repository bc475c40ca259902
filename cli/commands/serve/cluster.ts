/** `folkmoot serve --cluster`: one node of a network that several keep, ordered by etcd. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Logger } from 'pino';
import type { ClusterNetwork, ClusterOptions } from '../../../cluster/index.js';
import { addClusterOptions, type ClusterFlags, orderOf } from '../../options/cluster.js';
import { UsageError } from '../../output/exit.js';
import { packageVersion } from '../../output/version.js';

export interface NodeFlags extends ClusterFlags {
  node?: string;
  verifyAll?: boolean;
}

/** What of the other options of `serve` matters here. */
interface Around extends NodeFlags {
  networkId?: string;
  scenario?: string;
  control?: boolean;
  archiveAfter?: number;
  clock: 'wall' | 'held';
}

export function addNodeOptions(command: Command): Command {
  return addClusterOptions(command)
    .addOption(
      new Option('--node <name>', "this node's own name in its cluster")
        .env('FOLKMOOT_NODE')
        .argParser(nodeName),
    )
    .addOption(
      new Option('--verify-all', 'verify what other nodes let in as well').env(
        'FOLKMOOT_VERIFY_ALL',
      ),
    );
}

/** Its name stands in keys of etcd. */
function nodeName(text: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError('expected 1 to 64 letters, digits, ., _ or -');
}

export const nodeHelp = `
With --cluster several processes keep one network: etcd orders what they are asked, and each applies
all of it to a folder of its own. Whichever an agent asks, answers and event numbers are the same;
one that dies loses nothing that anybody was told. See docs/cluster.md.`;

/** @throws {UsageError} where options do not go together. */
export function checkNodeOptions(flags: Around): void {
  if (flags.cluster === undefined) {
    const names = ['node', 'verifyAll', 'clusterCa', 'clusterCert', 'clusterKey'] as const;
    const stray = names.find((name) => flags[name] !== undefined);
    if (stray) throw new UsageError(`${dashed(stray)} is for a node of a --cluster`);
    return;
  }
  if (flags.node === undefined) throw new UsageError('--cluster needs --node, a name of its own');
  if (flags.networkId === undefined) {
    throw new UsageError('--cluster needs --network-id, the same on all nodes');
  }
  const not = [
    ...(['scenario', 'control', 'archiveAfter'] as const).filter((name) => flags[name]).map(dashed),
    ...(flags.clock === 'held' ? ['--clock held'] : []),
  ];
  if (not.length === 0) return;
  throw new UsageError(`${not[0]} is for a network of one process, not for a --cluster`);
}

const dashed = (name: string) => `--${name.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`)}`;

/** A node, whose connection to etcd ends with it. */
export async function openNode(
  flags: Around,
  options: Omit<ClusterOptions, 'order' | 'node'>,
  log: Logger,
): Promise<{ network: ClusterNetwork; close(): Promise<void> }> {
  const { ClusterNetwork } = await import('../../../cluster/index.js');
  const order = await orderOf(flags, flags.networkId!);
  try {
    const network = await ClusterNetwork.open({
      ...options,
      order,
      node: flags.node!,
      verifyAll: flags.verifyAll === true,
      version: packageVersion(),
      warn: (line) => log.warn(line),
    });
    const close = () => network.close().finally(() => order.close());
    return { network, close };
  } catch (error) {
    order.close();
    throw error;
  }
}
