/**
 * `folkmoot serve --cluster`: one node of a network that several keep, ordered by etcd. With
 * `--peer-listen` it has a port for the other nodes, and gets a snapshot of one of them.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Logger } from 'pino';
import type { ClusterNetwork, ClusterOptions, LaggingNode } from '../../../cluster/network.js';
import type { EtcdOrder } from '../../../cluster/order/etcd.js';
import type { PeerServer } from '../../../cluster/peer/server.js';
import { readSecret } from '../../options/client.js';
import {
  addClusterOptions,
  type ClusterFlags,
  openOrder,
  readTlsFlags,
} from '../../options/etcd.js';
import { ListenError, UsageError } from '../../output/exit.js';
import { packageVersion } from '../../output/provenance.js';

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

interface OpenedNode {
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
  const { ClusterNetwork } = await import('../../../cluster/network.js');
  const order = await openOrder(flags, flags.networkId!, (line) => log.error(line));
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

interface PeerFlags extends ClusterFlags {
  peerListen?: Address;
  peerSecret?: string;
}

interface Address {
  host: string;
  port: number;
}

function addPeerOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--peer-listen <host:port>',
        'where other nodes of the cluster get a snapshot of this one, and it of them',
      )
        .env('FOLKMOOT_PEER_LISTEN')
        .argParser(addressOf),
    )
    .addOption(
      new Option('--peer-secret <file>', 'what all these nodes know, and nobody else').env(
        'FOLKMOOT_PEER_SECRET',
      ),
    );
}

/** The others are told this address: one that means "all of this machine" is none to them. */
function addressOf(text: string): Address {
  const [, bracketed, plain, digits] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([^:/\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  const expected = 'expected host:port, a name or address of this machine that other nodes reach';
  if (host === undefined || port > 65_535) throw new InvalidArgumentError(expected);
  if (host === '0.0.0.0' || /^[0:]+$/.test(host)) {
    throw new InvalidArgumentError(`${host} is told to the other nodes; ${expected}`);
  }
  return { host, port };
}

/** @throws {UsageError} where one comes without the other. */
function checkPeerOptions({ peerListen, peerSecret }: PeerFlags): void {
  if ((peerListen === undefined) === (peerSecret === undefined)) return;
  const [is, missing] = peerListen
    ? ['--peer-listen', '--peer-secret FILE, the same at all nodes: openssl rand -hex 32 > FILE']
    : ['--peer-secret', '--peer-listen HOST:PORT'];
  throw new UsageError(`${is} needs ${missing}`);
}

/** What of the other options of `serve` matters here. */
interface PeerAround extends PeerFlags {
  host: string;
  port: number;
  node?: string;
  networkId?: string;
  verifyAll?: boolean;
}

interface Peers {
  server: PeerServer;
  /** Resolves when the folder has what another node had. */
  catchUp(behind: LaggingNode): Promise<void>;
}

/**
 * Listens, with nothing to give yet; null without `--peer-listen`.
 * @param signal gives up what it waits for.
 * @throws {UsageError} for a secret that is none.
 * @throws {ListenError}
 */
async function peersOf(
  flags: PeerAround,
  order: EtcdOrder,
  log: Logger,
  signal: AbortSignal,
): Promise<Peers | null> {
  const { peerListen, peerSecret, node, networkId, verifyAll } = flags;
  if (peerListen === undefined) return null;
  const { catchUp } = await import('../../../cluster/peer/fetch.js');
  const { PeerServer } = await import('../../../cluster/peer/server.js');
  const tls = await readTlsFlags(flags);
  const secret = await secretIn(peerSecret!);
  const tell = (line: string) => log.info(line);
  const common = { secret, tls, tell };
  const server = await PeerServer.listen({ ...peerListen, ...common, network: networkId! }).catch(
    (error: Error) => Promise.reject(new ListenError(`--peer-listen: ${error.message}`)),
  );
  if (!tls?.cert) {
    log.warn(`${server.url}: what peers get here is not encrypted (--cluster-cert, --cluster-key)`);
  }
  return {
    server,
    async catchUp(behind) {
      const { startStartupServer } = await import('./startup-server.js');
      const door = await startStartupServer(flags.host, flags.port);
      try {
        await catchUp(behind, {
          ...{ ...common, order, node: node!, verifyAll: verifyAll === true, signal },
          version: packageVersion(),
          waiting: (why) => door.because(why),
        });
      } finally {
        await door.close();
      }
    },
  };
}

async function secretIn(file: string): Promise<string> {
  const { checkedSecret } = await import('../../../cluster/peer/proof.js');
  const text = readSecret(file, '--peer-secret');
  try {
    return checkedSecret(text);
  } catch (error) {
    throw new UsageError(`--peer-secret ${file}: ${(error as Error).message}`);
  }
}
