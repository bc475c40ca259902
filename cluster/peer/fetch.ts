/**
 * Fetches a snapshot from a peer into a file, whole or not at all, and catches a node up that is
 * too far behind the order to follow it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../engine/protocol/limits.js';
import { freeBytes, lockFolder, receivedName, replaceData } from '../../engine/store/folder.js';
import type { EtcdTls } from '../etcd/wire.js';
import type { LaggingNode } from '../network.js';
import { ClockOffsets, Members } from '../node/members.js';
import { type Card, type Order, OrderError } from '../order/order.js';
import {
  bounds,
  headers,
  isEqualProof,
  longestMs,
  PeerError,
  parseDescription,
  proveRequest,
  proveResponse,
  type SnapshotDescription,
} from './proof.js';
import { runInSubprocess } from './subprocess.js';

interface FetchOptions {
  /** The peer's address, as its card has it. */
  from: string;
  /** Where the bytes go: a new file. */
  file: string;
  secret: string;
  tls?: EtcdTls | undefined;
  network: string;
  /** This node's name. */
  node: string;
  signal: AbortSignal;
  /** Before the first byte is taken: throws where it is not wanted. */
  accept(description: SnapshotDescription): void;
  /** Now and then: bytes so far, and of how many. */
  progress(bytes: number, of: number): void;
}

/** @throws {PeerError} */
export async function fetchSnapshot(options: FetchOptions): Promise<SnapshotDescription> {
  const { secret, signal, accept } = options;
  const nonce = randomUUID();
  // What takes longer than it may is ended, as is what is not wanted any more.
  const ending = new AbortController();
  const end = () => ending.abort();
  signal.addEventListener('abort', end);
  let late: NodeJS.Timeout | undefined;
  try {
    const answer = await asked(options, nonce, ending.signal);
    if (answer.statusCode !== 200) throw await refusalOf(answer);
    const header = String(answer.headers[headers.snapshot]);
    if (!isEqualProof(proveResponse(secret, nonce, header), answer.headers[headers.proof])) {
      const what = 'whoever answers does not know the secret of the nodes';
      throw new PeerError('UNPROVEN', `${what}; nothing of it is taken`);
    }
    const description = parseDescription(header);
    accept(description);
    late = setTimeout(end, longestMs(description.bytes));
    await written(answer, description, options);
    return description;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PeerError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC') throw new PeerError('NO_ROOM', 'the disk is full', { cause: error });
    const why = ending.signal.aborted ? 'it is too slow' : (error as Error).message;
    throw new PeerError('UNREACHABLE', why, { cause: error });
  } finally {
    signal.removeEventListener('abort', end);
    clearTimeout(late);
    ending.abort();
  }
}

/** Resolves with the head of the answer, for which the peer may keep us waiting, awake. */
function asked(
  { from, secret, tls, network, node }: FetchOptions,
  nonce: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const asking = { network, to: from, node, at: Date.now(), nonce };
  const { cert } = tls ?? {};
  const secure = from.startsWith('https:');
  if (secure !== (cert !== undefined)) {
    const [is, other] = cert ? ['encrypts', 'does not'] : ['does not encrypt', 'does'];
    const text = `this node ${is} what peers send, and that one ${other}`;
    throw new PeerError('REFUSED', `${text}; expected: --cluster-cert at all nodes, or at none`);
  }
  return new Promise((resolve, reject) => {
    const options = {
      signal,
      agent: false as const,
      timeout: bounds.silenceMs,
      maxHeaderSize: bounds.headBytes,
      headers: {
        [headers.asking]: Buffer.from(JSON.stringify(asking)).toString('base64url'),
        [headers.proof]: proveRequest(secret, asking),
      },
    };
    const url = new URL('/snapshot', from);
    const sent: ClientRequest = secure
      ? httpsRequest(url, { ...options, ...tls, minVersion: 'TLSv1.2' })
      : httpRequest(url, options);
    sent.once('timeout', () => sent.destroy(new Error(`silent for ${bounds.silenceMs} ms`)));
    sent.once('error', reject);
    sent.once('response', resolve);
    sent.end();
  });
}

/** What the peer says of why not: a word of ours, and nothing else of what it sends. */
async function refusalOf(answer: IncomingMessage): Promise<PeerError> {
  let text = '';
  for await (const chunk of answer) {
    text += chunk;
    if (text.length > bounds.refusalBytes) break;
  }
  const [, reason = ''] = /"reason":"([A-Z_]{1,32})"/.exec(text) ?? [];
  const because = reason ? ` ${reason}${advice[reason] ?? ''}` : '';
  return new PeerError('REFUSED', `it answers ${answer.statusCode}${because}`);
}

const advice: Record<string, string> = {
  SECRET: ': expected the same --peer-secret at all nodes',
  CLOCK: ': set the clock of one of them',
  ADDRESS: ': it was not reached where it says that it is',
};

async function written(
  answer: IncomingMessage,
  { bytes, sha256 }: SnapshotDescription,
  { file, progress }: FetchOptions,
): Promise<void> {
  const hash = createHash('sha256');
  let taken = 0;
  let toldAt = performance.now();
  async function* counted() {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      taken += chunk.length;
      if (taken > bytes)
        throw new PeerError('UNSOUND', `more than the ${bytes} bytes it described`);
      hash.update(chunk);
      if (performance.now() - toldAt > bounds.progressMs) {
        toldAt = performance.now();
        progress(taken, bytes);
      }
      yield chunk;
    }
  }
  try {
    await pipeline(counted, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    throw new PeerError('CUT', `it ended after ${taken} of ${bytes} bytes`, { cause: error });
  }
  if (taken < bytes) throw new PeerError('CUT', `it ended after ${taken} of ${bytes} bytes`);
  if (hash.digest('hex') === sha256) return;
  throw new PeerError('UNSOUND', 'its bytes are not those that it described');
}

/*
 * How a node gets what the order does not keep any more: the data of another node, whole, in the
 * place of its own. It asks one after the other until one has what holds, and goes on trying.
 */

interface CatchUpOptions {
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
export async function catchUp(behind: LaggingNode, options: CatchUpOptions): Promise<void> {
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
  { position: own }: LaggingNode,
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
  behind: LaggingNode,
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
  behind: LaggingNode,
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
  { folder, position, founding }: LaggingNode,
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
      if (snapshot.version <= position.order.version) {
        const ends = `it ends at batch ${snapshot.version}`;
        throw new PeerError('NOT_AHEAD', `${ends}, and this node has ${position.order.version}`);
      }
      const room = freeBytes(folder) - limits.freeSpaceBytes;
      if (bytes > room) throw new PeerError('NO_ROOM', `it has ${bytes} bytes, room is ${room}`);
      tell(`taking a snapshot of node ${node}: batch ${snapshot.version}, ${bytes} bytes`);
    },
    progress: (bytes, of) => tell(`the snapshot of node ${node}: ${percent(bytes, of)} are here`),
  });
  let toldAt = performance.now();
  await runInSubprocess(
    {
      ...{ do: 'check', folder: received, network, log: founding.log, epoch: founding.epoch },
      version: described.version,
      own: { who: 'this node', seq: position.seq, digest: position.digest },
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
