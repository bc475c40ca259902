/**
 * Takes a snapshot from a peer: asks for it, checks it as it arrives, and installs it. The network
 * and the disk are ports, so that the same code runs in a simulated cluster.
 */
import { createHash } from 'node:crypto';
import type { HostClock } from '../../engine/store/host-clock.js';
import type { LaggingNode } from '../network.js';
import type { Card } from '../order/order.js';
import type { ExpectedSnapshot } from './check.js';
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

/** Response of a peer. */
export interface PeerAnswer {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  body: AsyncIterable<Uint8Array>;
}

/** Network of a node that takes a snapshot, and the place for the bytes. */
export interface ReceivePorts {
  host: HostClock;
  /** Returns a random id. */
  newId(): string;
  /** Sends a request to a peer's address. Resolves with the head of the response. */
  ask(to: string, sent: Readonly<Record<string, string>>, signal: AbortSignal): Promise<PeerAnswer>;
  /** Writes the bytes to a new file. */
  save(bytes: AsyncIterable<Uint8Array>): Promise<void>;
}

/** Disk of a node that takes a snapshot. */
export interface TakePorts extends ReceivePorts {
  /** Bytes of free space that a snapshot may use. */
  free(): number;
  /** Checks the saved bytes. @throws {PeerError} */
  check(
    expected: ExpectedSnapshot,
    signal: AbortSignal,
    onProgress: (entries: number, of: number) => void,
  ): Promise<unknown>;
  /** Replaces the data of this node with the saved bytes, completely or not at all. */
  install(): void;
  /** Deletes the saved bytes. */
  clear(): void;
}

export interface TakeOptions extends TakePorts {
  /** From `checkedSecret`. */
  secret: string;
  node: string;
  tell(line: string): void;
}

/**
 * Replaces this node's data with a peer's snapshot, either completely or not at all.
 * @throws {PeerError}
 */
export async function takeSnapshot(
  { node, peer }: Card,
  cards: readonly Card[],
  { position, founding }: LaggingNode,
  options: TakeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { host, tell } = options;
  const { log, epoch, genesis } = founding;
  const network = genesis.network_id;
  options.clear();
  const { version } = await receiveSnapshot({
    ...{ ...options, from: peer, network, signal },
    accept({ bytes, ...snapshot }) {
      if (snapshot.network !== network || snapshot.log !== log) {
        const found = `${snapshot.network}, ${snapshot.log}`;
        throw new PeerError('OTHER_NETWORK', { found, expected: `${network}, ${log}` });
      }
      if (snapshot.version <= position.order.version) {
        const own = position.order.version;
        throw new PeerError('NOT_AHEAD', { version: snapshot.version, own });
      }
      const free = options.free();
      if (bytes > free) throw new PeerError('NO_SPACE', { free, bytes });
      tell(`receiving the snapshot of node ${node}: batch ${snapshot.version}, ${bytes} bytes`);
    },
    progress: (bytes, of) => tell(`snapshot of node ${node}: ${percent(bytes, of)} received`),
  });
  const own = { who: 'this node', seq: position.seq, digest: position.digest };
  const told = cards.map((card) => ({ who: card.node, seq: card.seq, digest: card.digest }));
  let toldAt = host.monotonic();
  await options.check({ network, log, epoch, version, own, told }, signal, (entries, of) => {
    if (host.monotonic() - toldAt < bounds.progressMs) return;
    toldAt = host.monotonic();
    tell(`snapshot of node ${node}: ${percent(entries, of)} of entries checked`);
  });
  options.install();
  tell(`snapshot of node ${node} installed: batch ${version}`);
}

const percent = (part: number, of: number): string =>
  `${Math.floor((100 * part) / Math.max(1, of))} %`;

export interface ReceiveOptions extends ReceivePorts {
  /** The peer's address, from its card. */
  from: string;
  secret: string;
  network: string;
  node: string;
  signal: AbortSignal;
  /** Called before the body is read. Throws to reject the snapshot. */
  accept(description: SnapshotDescription): void;
  /** Called at an interval with the bytes received and the total. */
  progress(bytes: number, of: number): void;
}

/** @throws {PeerError} */
export async function receiveSnapshot(options: ReceiveOptions): Promise<SnapshotDescription> {
  const { host, from, network, node, secret, signal, accept } = options;
  const nonce = options.newId();
  const asking = { network, to: from, node, at: host.now(), nonce };
  const sent = {
    [headers.asking]: Buffer.from(JSON.stringify(asking)).toString('base64url'),
    [headers.proof]: proveRequest(secret, asking),
  };
  // Aborted on a timeout, by the caller, and at the end.
  const ending = new AbortController();
  const end = () => ending.abort();
  signal.addEventListener('abort', end);
  let inTime: () => void = () => {};
  try {
    const answer = await options.ask(from, sent, ending.signal);
    if (answer.status !== 200) throw await refusalOf(answer);
    const header = String(answer.headers[headers.snapshot]);
    if (!isEqualProof(proveResponse(secret, nonce, header), answer.headers[headers.proof])) {
      throw new PeerError('SECRET_UNPROVEN', {});
    }
    const description = parseDescription(header);
    accept(description);
    inTime = host.after(longestMs(description.bytes), end);
    await saved(answer, description, options);
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
 * Builds the error for a peer's refusal. Uses only a well-formed reason code from the peer's text.
 */
async function refusalOf({ status, body }: PeerAnswer): Promise<PeerError> {
  let text = '';
  for await (const chunk of body) {
    text += Buffer.from(chunk);
    if (text.length > bounds.refusalBytes) break;
  }
  const [, reason = ''] = /"reason":"([A-Z_]{1,32})"/.exec(text) ?? [];
  return new PeerError(rejections[reason] ?? 'PEER_REFUSED', { status, reason });
}

const rejections: Record<string, 'SECRET_REJECTED' | 'CLOCK_REJECTED' | 'ADDRESS_REJECTED'> = {
  SECRET: 'SECRET_REJECTED',
  CLOCK: 'CLOCK_REJECTED',
  ADDRESS: 'ADDRESS_REJECTED',
};

async function saved(
  { body }: PeerAnswer,
  { bytes, sha256 }: SnapshotDescription,
  { host, save, progress }: ReceiveOptions,
): Promise<void> {
  const hash = createHash('sha256');
  let taken = 0;
  let toldAt = host.monotonic();
  async function* counted() {
    for await (const chunk of body) {
      taken += chunk.length;
      if (taken > bytes) throw new PeerError('TOO_LONG', { bytes });
      hash.update(chunk);
      if (host.monotonic() - toldAt > bounds.progressMs) {
        toldAt = host.monotonic();
        progress(taken, bytes);
      }
      yield chunk;
    }
  }
  try {
    await save(counted());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    throw new PeerError('TRUNCATED', { received: taken, bytes }, { cause: error });
  }
  if (taken < bytes) throw new PeerError('TRUNCATED', { received: taken, bytes });
  if (hash.digest('hex') === sha256) return;
  throw new PeerError('HASH_MISMATCH', {});
}
