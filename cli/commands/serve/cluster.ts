/** `folkmoot serve --cluster`: one node of a network that several keep, ordered by etcd. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Logger } from 'pino';
import type { ClusterNetwork, ClusterOptions } from '../../../cluster/index.js';
import { addClusterOptions, type ClusterFlags, orderOf } from '../../options/cluster.js';
import { UsageError } from '../../output/exit.js';
import { packageVersion } from '../../output/version.js';
import { addPeerOptions, checkPeerOptions, type PeerFlags, peersOf } from './peers.js';

export interface NodeFlags extends ClusterFlags, PeerFlags {
  node?: string;
  verifyAll?: boolean;
}

/** What of the other options of `serve` matters here. */
interface Around extends NodeFlags {
  host: string;
  port: number;
  networkId?: string;
  scenario?: string;
  control?: boolean;
  archiveAfter?: number;
  clock: 'wall' | 'held';
}

export function addNodeOptions(command: Command): Command {
  return addPeerOptions(addClusterOptions(command))
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
one that dies loses nothing that anybody was told. With --peer-listen and --peer-secret (a file with
the same 32 or more characters at every node) one that was away too long, or is new, gets what it
has not had from another node, by itself. See docs/cluster.md.`;

const ofNodes = [
  ...(['node', 'verifyAll', 'clusterCa', 'clusterCert', 'clusterKey'] as const),
  ...(['peerListen', 'peerSecret'] as const),
];

/** @throws {UsageError} where options do not go together. */
export function checkNodeOptions(flags: Around): void {
  if (flags.cluster === undefined) {
    const stray = ofNodes.find((name) => flags[name] !== undefined);
    if (stray) throw new UsageError(`${dashed(stray)} is for a node of a --cluster`);
    return;
  }
  if (flags.node === undefined) throw new UsageError('--cluster needs --node, a name of its own');
  if (flags.networkId === undefined) {
    throw new UsageError('--cluster needs --network-id, the same on all nodes');
  }
  checkPeerOptions(flags);
  const not = [
    ...(['scenario', 'control', 'archiveAfter'] as const).filter((name) => flags[name]).map(dashed),
    ...(flags.clock === 'held' ? ['--clock held'] : []),
  ];
  if (not.length === 0) return;
  throw new UsageError(`${not[0]} is for a network of one process, not for a --cluster`);
}

const dashed = (name: string) => `--${name.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`)}`;

export interface OpenedNode {
  network: ClusterNetwork;
  close(): Promise<void>;
}

/** A node, whose connections end with it; null where `stopped` came before it was there. */
export async function openNode(
  flags: Around,
  options: Omit<ClusterOptions, 'order' | 'node' | 'catchUp'>,
  log: Logger,
  stopped: AbortSignal,
): Promise<OpenedNode | null> {
  const { ClusterNetwork } = await import('../../../cluster/index.js');
  const order = await orderOf(flags, flags.networkId!, (line) => log.error(line));
  const closers = [async () => order.close()];
  const close = async () => {
    for (const one of closers) await one();
  };
  try {
    const peers = await peersOf(flags, order, log, stopped);
    if (peers) closers.unshift(() => peers.server.close());
    const network = await ClusterNetwork.open({
      ...options,
      order,
      node: flags.node!,
      verifyAll: flags.verifyAll === true,
      version: packageVersion(),
      warn: (line) => log.warn(line),
      ...(peers ? { catchUp: peers.catchUp } : {}),
    });
    closers.unshift(() => network.close());
    peers?.server.give(options.path!);
    if (peers) network.peersAt(peers.server.url);
    return { network, close };
  } catch (error) {
    await close();
    if (stopped.aborted) return null;
    throw error;
  }
}
