/**
 * Fetches a snapshot from a peer, checks it, and replaces a folder's data with it, completely or
 * not at all.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { limits } from '../../engine/protocol/limits.js';
import { freeBytes, lockFolder, receivedName, replaceData } from '../../engine/store/folder.js';
import { hostClock } from '../../engine/store/host-clock.js';
import type { EtcdTls } from '../etcd/wire.js';
import type { LaggingNode } from '../network.js';
import type { Card } from '../order/order.js';
import { type CatchUpOptions, catchUp } from './catch-up.js';
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
  /** The peer's address, from its card. */
  from: string;
  file: string;
  secret: string;
  tls?: EtcdTls | undefined;
  network: string;
  node: string;
  signal: AbortSignal;
  /** Called before the body is read. Throws to reject the snapshot. */
  accept(description: SnapshotDescription): void;
  /** Called at an interval with the bytes received and the total. */
  progress(bytes: number, of: number): void;
}

/** @throws {PeerError} */
export async function fetchSnapshot(options: FetchOptions): Promise<SnapshotDescription> {
  const { secret, signal, accept } = options;
  const nonce = randomUUID();
  // Aborted on a timeout, by the caller, and at the end.
  const ending = new AbortController();
  const end = () => ending.abort();
  signal.addEventListener('abort', end);
  let inTime: () => void = () => {};
  try {
    const answer = await asked(options, nonce, ending.signal);
    if (answer.statusCode !== 200) throw await refusalOf(answer);
    const header = String(answer.headers[headers.snapshot]);
    if (!isEqualProof(proveResponse(secret, nonce, header), answer.headers[headers.proof])) {
      throw new PeerError('SECRET_UNPROVEN', {});
    }
    const description = parseDescription(header);
    accept(description);
    inTime = hostClock.after(longestMs(description.bytes), end);
    await written(answer, description, options);
    return description;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PeerError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC') throw new PeerError('DISK_FULL', {}, { cause: error });
    if (ending.signal.aborted) throw new PeerError('TRANSFER_TIMEOUT', {}, { cause: error });
    throw new PeerError('NO_RESPONSE', { reason: (error as Error).message }, { cause: error });
  } finally {
    signal.removeEventListener('abort', end);
    inTime();
    ending.abort();
  }
}

/**
 * Sends the request. Resolves with the response head. The peer keeps the connection open while it
 * copies its data.
 */
function asked(
  { from, secret, tls, network, node }: FetchOptions,
  nonce: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const asking = { network, to: from, node, at: hostClock.now(), nonce };
  const { cert } = tls ?? {};
  const secure = from.startsWith('https:');
  if (secure !== (cert !== undefined)) {
    const [own, peer] = cert ? ['uses', 'does not use'] : ['does not use', 'uses'];
    throw new PeerError('TLS_MISMATCH', { own: own!, peer: peer! });
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
    sent.once('timeout', () => sent.destroy(new Error(`no data for ${bounds.silenceMs} ms`)));
    sent.once('error', reject);
    sent.once('response', resolve);
    sent.end();
  });
}

/**
 * Builds the error for a peer's refusal. Uses only a well-formed reason code from the peer's text.
 */
async function refusalOf(answer: IncomingMessage): Promise<PeerError> {
  let text = '';
  for await (const chunk of answer) {
    text += chunk;
    if (text.length > bounds.refusalBytes) break;
  }
  const [, reason = ''] = /"reason":"([A-Z_]{1,32})"/.exec(text) ?? [];
  const values = { status: answer.statusCode!, reason };
  return new PeerError(rejections[reason] ?? 'PEER_REFUSED', values);
}

const rejections: Record<string, 'SECRET_REJECTED' | 'CLOCK_REJECTED' | 'ADDRESS_REJECTED'> = {
  SECRET: 'SECRET_REJECTED',
  CLOCK: 'CLOCK_REJECTED',
  ADDRESS: 'ADDRESS_REJECTED',
};

async function written(
  answer: IncomingMessage,
  { bytes, sha256 }: SnapshotDescription,
  { file, progress }: FetchOptions,
): Promise<void> {
  const hash = createHash('sha256');
  let taken = 0;
  let toldAt = hostClock.monotonic();
  async function* counted() {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      taken += chunk.length;
      if (taken > bytes) throw new PeerError('TOO_LONG', { bytes });
      hash.update(chunk);
      if (hostClock.monotonic() - toldAt > bounds.progressMs) {
        toldAt = hostClock.monotonic();
        progress(taken, bytes);
      }
      yield chunk;
    }
  }
  try {
    await pipeline(counted, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    throw new PeerError('TRUNCATED', { received: taken, bytes }, { cause: error });
  }
  if (taken < bytes) throw new PeerError('TRUNCATED', { received: taken, bytes });
  if (hash.digest('hex') === sha256) return;
  throw new PeerError('HASH_MISMATCH', {});
}

interface FolderOptions extends Omit<CatchUpOptions, 'host' | 'newId' | 'take'> {
  /** From `checkedSecret`. */
  secret: string;
  tls?: EtcdTls | undefined;
  /** Verifies every signature in a snapshot too. */
  verifyAll: boolean;
}

/** Catches up from the peers' servers. See `catchUp`. */
export async function catchUpFolder(behind: LaggingNode, options: FolderOptions): Promise<void> {
  const { folder } = behind;
  const release = lockFolder(folder);
  try {
    await catchUp(behind, {
      ...{ ...options, host: hostClock, newId: randomUUID },
      take: (peer, cards, signal) => take(peer, cards, behind, options, signal),
    });
  } finally {
    rmSync(join(folder, receivedName), { recursive: true, force: true });
    release();
  }
}

/** @throws {PeerError} */
async function take(
  { node, peer }: Card,
  cards: readonly Card[],
  { folder, position, founding }: LaggingNode,
  options: FolderOptions,
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
        const found = `${snapshot.network}, ${snapshot.log}`;
        const expected = `${network}, ${founding.log}`;
        throw new PeerError('OTHER_NETWORK', { found, expected });
      }
      if (snapshot.version <= position.order.version) {
        const { version } = snapshot;
        throw new PeerError('NOT_AHEAD', { version, own: position.order.version });
      }
      const free = freeBytes(folder) - limits.freeSpaceBytes;
      if (bytes > free) throw new PeerError('NO_SPACE', { free, bytes });
      tell(`receiving the snapshot of node ${node}: batch ${snapshot.version}, ${bytes} bytes`);
    },
    progress: (bytes, of) => tell(`snapshot of node ${node}: ${percent(bytes, of)} received`),
  });
  let toldAt = hostClock.monotonic();
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
      if (hostClock.monotonic() - toldAt < bounds.progressMs) return;
      toldAt = hostClock.monotonic();
      tell(`snapshot of node ${node}: ${percent(entries, of)} of entries checked`);
    },
  );
  replaceData(folder, file);
  tell(`snapshot of node ${node} installed: batch ${described.version}`);
}

const percent = (part: number, of: number): string =>
  `${Math.floor((100 * part) / Math.max(1, of))} %`;
