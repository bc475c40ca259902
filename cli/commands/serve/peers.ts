/** `serve --peer-listen`: a node's port for the other nodes, and how it gets a snapshot of one. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Logger } from 'pino';
import type { Behind, EtcdOrder, PeerServer } from '../../../cluster/index.js';
import { type ClusterFlags, tlsOf } from '../../options/cluster.js';
import { readSecret } from '../../options/key-file.js';
import { ListenError, UsageError } from '../../output/exit.js';
import { packageVersion } from '../../output/version.js';

export interface PeerFlags extends ClusterFlags {
  peerListen?: Address;
  peerSecret?: string;
}

interface Address {
  host: string;
  port: number;
}

export function addPeerOptions(command: Command): Command {
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
export function checkPeerOptions({ peerListen, peerSecret }: PeerFlags): void {
  if ((peerListen === undefined) === (peerSecret === undefined)) return;
  const [is, missing] = peerListen
    ? ['--peer-listen', '--peer-secret FILE, the same at all nodes: openssl rand -hex 32 > FILE']
    : ['--peer-secret', '--peer-listen HOST:PORT'];
  throw new UsageError(`${is} needs ${missing}`);
}

/** What of the other options of `serve` matters here. */
interface Around extends PeerFlags {
  host: string;
  port: number;
  node?: string;
  networkId?: string;
  verifyAll?: boolean;
}

export interface Peers {
  server: PeerServer;
  /** Resolves when the folder has what another node had. */
  catchUp(behind: Behind): Promise<void>;
}

/**
 * Listens, with nothing to give yet; null without `--peer-listen`.
 * @param signal gives up what it waits for.
 * @throws {UsageError} for a secret that is none.
 * @throws {ListenError}
 */
export async function peersOf(
  flags: Around,
  order: EtcdOrder,
  log: Logger,
  signal: AbortSignal,
): Promise<Peers | null> {
  const { peerListen, peerSecret, node, networkId, verifyAll } = flags;
  if (peerListen === undefined) return null;
  const { catchUp, PeerServer } = await import('../../../cluster/index.js');
  const tls = await tlsOf(flags);
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
      const { waitingDoor } = await import('./waiting.js');
      const door = await waitingDoor(flags.host, flags.port);
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
  const { checkedSecret } = await import('../../../cluster/index.js');
  const text = readSecret(file, '--peer-secret');
  try {
    return checkedSecret(text);
  } catch (error) {
    throw new UsageError(`--peer-secret ${file}: ${(error as Error).message}`);
  }
}
