/**
 * How a node gets what the order does not keep any more: the data of another node, whole, in the
 * place of its own. It asks one after the other until one has what holds, and goes on trying.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeBytes, limits, lockFolder, receivedName, replaceData } from '../../engine/internal.js';
import type { EtcdTls } from '../etcd/index.js';
import type { Behind } from '../network.js';
import { ClockOffsets } from '../node/clocks.js';
import { Members } from '../node/members.js';
import { type Card, type Order, OrderError } from '../order/order.js';
import { doneApart } from './apart.js';
import { bounds } from './bounds.js';
import { PeerError } from './error.js';
import { fetchSnapshot } from './fetch.js';

export interface CatchUpOptions {
  order: Order;
  /** This node's name. */
  node: string;
  /** As `checkedSecret` gives it. */
  secret: string;
  tls?: EtcdTls | undefined;
  /** Every signature of a snapshot is verified, too. */
  verifyAll: boolean;
  /** Of this program, for its card. */
  version: string;
  /** Gives up. */
  signal: AbortSignal;
  /** What whoever runs the node should know. */
  tell(line: string): void;
  /** Why it is not done yet; each time that it has tried all. */
  waiting(why: string): void;
}

/**
 * Resolves when the folder's data goes further than it did; until then it is as it was.
 * @throws {OrderError} `FENCED` where another process takes this node's name.
 * @throws {StoreError} where the own folder cannot be used.
 */
export async function catchUp(behind: Behind, options: CatchUpOptions): Promise<void> {
  const { folder } = behind;
  const release = lockFolder(folder);
  const ending = new AbortController();
  const end = () => ending.abort(options.signal.reason);
  options.signal.addEventListener('abort', end);
  if (options.signal.aborted) end();
  const members = await announced(behind, options, (error) => ending.abort(error));
  try {
    await untilTaken(behind, options, ending.signal);
  } finally {
    members.close();
    options.signal.removeEventListener('abort', end);
    rmSync(join(folder, receivedName), { recursive: true, force: true });
    release();
  }
}

/** As long as its card says where it is, the others keep the batches from there. */
async function announced(
  { own }: Behind,
  { order, node, version }: CatchUpOptions,
  failed: (error: Error) => void,
): Promise<Members> {
  const incarnation = randomUUID();
  const { seq, event_seq, digest } = own;
  const position = { version: own.order.version, revision: own.order.revision };
  const began = Date.now();
  const members = new Members({
    order,
    node,
    offsets: new ClockOffsets(Date.now),
    card: (): Card => ({
      ...{ node, incarnation, began, wall: Date.now(), position, seq, event_seq, digest },
      ...{ url: '', peer: '', version },
    }),
    applied: () => own.order.version,
    ends: () => {},
    heard: () => {},
    failed,
  });
  try {
    await order.join(node, incarnation);
    await members.greet();
  } catch (error) {
    // It is told of when it is asked who there is.
    if (!(error instanceof OrderError) || error.code !== 'UNAVAILABLE') throw error;
  }
  return members;
}

async function untilTaken(
  behind: Behind,
  options: CatchUpOptions,
  signal: AbortSignal,
): Promise<void> {
  let last = '';
  for (;;) {
    const why = await tryAll(behind, options, signal);
    if (why === null) return;
    const text = `the order does not keep what this node needs, and no peer gives it: ${why}`;
    if (text !== last) options.tell(text);
    last = text;
    options.waiting(text);
    await sleep(bounds.retryMs, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
}

/** Null when it is done, or why nobody gives a snapshot that holds. */
async function tryAll(
  behind: Behind,
  options: CatchUpOptions,
  signal: AbortSignal,
): Promise<string | null> {
  const cards = await options.order.cards().catch((error: unknown) => {
    if (error instanceof OrderError && error.code === 'UNAVAILABLE') return error.message;
    throw error;
  });
  if (typeof cards === 'string') return cards;
  const peers = cards.filter(({ node, peer }) => node !== options.node && peer);
  if (peers.length === 0) return 'no other node has a peer port (--peer-listen)';
  peers.sort((a, b) => b.position.version - a.position.version);
  const reasons: string[] = [];
  for (const peer of peers) {
    try {
      await take(peer, cards, behind, options, signal);
      return null;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PeerError)) throw error;
      reasons.push(`${peer.node} at ${peer.peer}: ${error.code}, ${error.message}`);
    }
  }
  return reasons.join('; ');
}

/** @throws {PeerError} */
async function take(
  { node, peer }: Card,
  cards: readonly Card[],
  { folder, own, founding }: Behind,
  options: CatchUpOptions,
  signal: AbortSignal,
): Promise<void> {
  const { tell, secret, tls } = options;
  const network = founding.genesis.network_id;
  const received = join(folder, receivedName);
  const file = join(received, 'data.mdb');
  rmSync(received, { recursive: true, force: true });
  mkdirSync(received, { mode: 0o700 });
  const described = await fetchSnapshot({
    ...{ from: peer, file, secret, tls, network, node: options.node, signal },
    accept({ bytes, ...snapshot }) {
      if (snapshot.network !== network || snapshot.log !== founding.log) {
        const is = `network ${snapshot.network}, order ${snapshot.log}`;
        throw new PeerError('OTHER_NETWORK', `it is of ${is}, not ${network}, ${founding.log}`);
      }
      if (snapshot.version <= own.order.version) {
        const ends = `it ends at batch ${snapshot.version}`;
        throw new PeerError('NOT_AHEAD', `${ends}, and this node has ${own.order.version}`);
      }
      const room = freeBytes(folder) - limits.freeSpaceBytes;
      if (bytes > room) throw new PeerError('NO_ROOM', `it has ${bytes} bytes, room is ${room}`);
      tell(`taking a snapshot of node ${node}: batch ${snapshot.version}, ${bytes} bytes`);
    },
    progress: (bytes, of) => tell(`the snapshot of node ${node}: ${percent(bytes, of)} are here`),
  });
  let toldAt = performance.now();
  await doneApart(
    {
      ...{ do: 'check', folder: received, network, log: founding.log, epoch: founding.epoch },
      version: described.version,
      own: { who: 'this node', seq: own.seq, digest: own.digest },
      told: cards.map(({ node: who, seq, digest }) => ({ who, seq, digest })),
      signatures: options.verifyAll,
    },
    signal,
    (entries, of) => {
      if (performance.now() - toldAt < bounds.progressMs) return;
      toldAt = performance.now();
      tell(`the snapshot of node ${node}: ${percent(entries, of)} of its entries are checked`);
    },
  );
  replaceData(folder, file);
  tell(`the snapshot of node ${node} is in place: batch ${described.version}`);
}

const percent = (part: number, of: number): string =>
  `${Math.floor((100 * part) / Math.max(1, of))} %`;
