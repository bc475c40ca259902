/**
 * `folkmoot serve --cluster`: a cluster node, with requests ordered by etcd. With `--peer-listen`,
 * nodes send snapshots to each other.
 */
import { createServer } from 'node:http';
import { InvalidArgumentError, Option } from 'commander';
import type { Logger } from 'pino';
import type { ClusterNetwork, ClusterOptions, LaggingNode } from '../../../cluster/network.js';
import type { EtcdOrder } from '../../../cluster/order/etcd.js';
import type { PeerServer } from '../../../cluster/peer/server.js';
import type { Refusal } from '../../../engine/protocol/schema/reason.js';
import { parseSecret } from '../../options/client.js';
import { SecretOption, type SecretSource } from '../../options/config.js';
import { type ClusterFlags, clusterOptions, openOrder, readTlsFlags } from '../../options/etcd.js';
import { shortName, typed } from '../../options/options.js';
import { listenError, UsageError } from '../../output/exit.js';
import { packageVersion } from '../../output/provenance.js';

export interface NodeFlags extends ClusterFlags, PeerFlags {
  node?: string;
  verifyAll?: boolean;
}

/** Options of `serve` that this module uses. */
interface ServeNodeFlags extends NodeFlags {
  host: string;
  port: number;
  networkId?: string;
  scenario?: string;
  control?: boolean;
  archiveAfter?: number;
  clock: 'wall' | 'held';
}

export const nodeOptions = (): Option[] => [
  ...clusterOptions(),
  new Option('--peer-listen <host:port>', 'address for snapshot transfers between nodes').argParser(
    addressOf,
  ),
  new SecretOption('--peer-secret <file>', 'file with the secret shared by all nodes'),
  new Option('--node <name>', 'unique node name in the cluster').argParser(shortName),
  new Option('--verify-all', 'also verify requests admitted by other nodes'),
];

export const nodeHelp = `
--cluster runs several nodes of one network. etcd orders all requests, and each
node applies them to its data folder. Responses and event numbers are the same
on all nodes. An acknowledged request survives the loss of a node. With
--peer-listen and --peer-secret, a new or lagging node catches up from a
snapshot of another node. The secret file has 32 or more characters and is the
same on all nodes. See docs/cluster.md.`;

const ofNodes = [
  ...(['node', 'verifyAll', 'clusterCa', 'clusterCert', 'clusterKey'] as const),
  ...(['peerListen', 'peerSecret'] as const),
];

/** @throws {UsageError} for incompatible options. */
export function assertNodeOptions(flags: ServeNodeFlags): void {
  if (flags.cluster === undefined) {
    const stray = ofNodes.find((name) => flags[name]);
    if (stray) {
      throw new UsageError('OPTION_REQUIRES', { option: dashed(stray), required: '--cluster' });
    }
    return;
  }
  if (flags.node === undefined) {
    const required = '--node, a unique name';
    throw new UsageError('OPTION_REQUIRES', { option: '--cluster', required });
  }
  if (flags.networkId === undefined) {
    const required = '--network-id, the same on all nodes';
    throw new UsageError('OPTION_REQUIRES', { option: '--cluster', required });
  }
  assertPeerOptions(flags);
  const not = [
    ...(['scenario', 'control', 'archiveAfter'] as const).filter((name) => flags[name]).map(dashed),
    ...(flags.clock === 'held' ? ['--clock held'] : []),
  ];
  if (not.length === 0) return;
  const advice = 'use it with a network of one process';
  throw new UsageError('OPTION_CONFLICT', { option: not[0]!, other: '--cluster', advice });
}

const dashed = (name: string) => `--${name.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`)}`;

/** Opens a node. Returns null if `stopped` aborts first. */
export async function openNode(
  flags: ServeNodeFlags,
  options: Omit<ClusterOptions, 'order' | 'node' | 'catchUp'>,
  log: Logger,
  stopped: AbortSignal,
): Promise<{ network: ClusterNetwork; close(): Promise<void> } | null> {
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
  peerSecret?: SecretSource;
}

interface Address {
  host: string;
  port: number;
}

const isWildcard = (host: string) => host === '0.0.0.0' || /^[0:]+$/.test(host);

const formatAddress = ({ host, port }: Address) =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Parses an address. Refuses a wildcard address, because other nodes must be able to connect. */
const addressOf = typed(
  { type: 'string', pattern: ':\\d{1,5}$' },
  (text): Address => {
    const [, bracketed, plain, digits] =
      /^(?:\[([0-9A-Fa-f:.]+)\]|([^:/\s]+)):(\d{1,5})$/.exec(text) ?? [];
    const host = bracketed ?? plain;
    const port = Number(digits);
    const expected = 'expected HOST:PORT, reachable from the other nodes';
    if (host === undefined || port > 65_535) throw new InvalidArgumentError(expected);
    if (!isWildcard(host)) return { host, port };
    throw new InvalidArgumentError(`${host} is a wildcard address; ${expected}`);
  },
  formatAddress,
);

/** @throws {UsageError} if only one of the two options is given. */
function assertPeerOptions({ peerListen, peerSecret }: PeerFlags): void {
  if ((peerListen === undefined) === (peerSecret === undefined)) return;
  const [option, required] = peerListen
    ? ['--peer-listen', '--peer-secret FILE (create it with openssl rand -hex 32 > FILE)']
    : ['--peer-secret', '--peer-listen HOST:PORT'];
  throw new UsageError('OPTION_REQUIRES', { option, required });
}

/** Options of `serve` that this module uses. */
interface PeerAround extends PeerFlags {
  host: string;
  port: number;
  node?: string;
  networkId?: string;
  verifyAll?: boolean;
}

interface Peers {
  server: PeerServer;
  /** Resolves when the folder contains a snapshot from a different node. */
  catchUp(behind: LaggingNode): Promise<void>;
}

/**
 * Listens for other nodes. Returns null without `--peer-listen`.
 * @param signal ends the wait for a snapshot.
 * @throws {UsageError} for an invalid secret.
 * @throws {Failure}
 */
async function peersOf(
  flags: PeerAround,
  order: EtcdOrder,
  log: Logger,
  signal: AbortSignal,
): Promise<Peers | null> {
  const { peerListen, peerSecret, node, networkId, verifyAll } = flags;
  if (peerListen === undefined) return null;
  const { catchUpFolder } = await import('../../../cluster/peer/fetch.js');
  const { PeerServer } = await import('../../../cluster/peer/server.js');
  const tls = await readTlsFlags(flags);
  const { checkedSecret } = await import('../../../cluster/peer/proof.js');
  const secret = parseSecret(peerSecret!, '--peer-secret', checkedSecret);
  const tell = (line: string) => log.info(line);
  const common = { secret, tls, tell };
  const server = await PeerServer.listen({ ...peerListen, ...common, network: networkId! }).catch(
    ({ message }: Error) =>
      Promise.reject(listenError('CANNOT_LISTEN_FOR_PEERS', { reason: message })),
  );
  if (!tls?.cert) {
    log.warn(`${server.url}: snapshot transfers are not encrypted; set --cluster-cert`);
  }
  return {
    server,
    async catchUp(behind) {
      const door = await startStartupServer(flags.host, flags.port);
      try {
        await catchUpFolder(behind, {
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

const startupLimits = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAlive: false,
} as const;

/** Listens until `close`. Does not listen on port 0, because no client would know the port. */
interface StartupServer {
  /** Sets the reason that responses state. */
  because(why: string): void;
  close(): Promise<void>;
}

/**
 * Starts the server at the address of a node that is catching up. The node reports alive but not
 * ready. All other requests get CATCHING_UP, so that clients use a different node.
 *
 * @throws {Failure}
 */
async function startStartupServer(host: string, port: number): Promise<StartupServer> {
  const { refuse } = await import('../../../engine/protocol/schema/reason.js');
  let why = 'the node is catching up';
  const server = createServer(startupLimits, (request, response) => {
    const { status, body } =
      request.url === '/healthz' ? alive : notReady(refuse('NODE_STARTING', { progress: why }));
    response.writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      Connection: 'close',
      ...(status === 200 ? {} : { 'Retry-After': '1' }),
    });
    response.end(JSON.stringify(body));
  });
  if (port !== 0) {
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) =>
        reject(listenError('CANNOT_SERVE', { reason: error.message })),
      );
      server.listen(port, host, resolve);
    });
  }
  return {
    because(text) {
      why = text;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const alive = { status: 200, body: { success: true, data: { status: 'ok' } } };

const notReady = ({ status, code, reason, message }: Refusal) => ({
  status,
  body: { success: false, error: { code, message, details: { reason } } },
});
