/** Takes a snapshot from a peer over HTTP, and replaces a folder's data with it. See take.ts. */
import { randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { limits } from '../../engine/protocol/limits.js';
import { freeBytes, lockFolder, receivedName, replaceData } from '../../engine/store/folder.js';
import { hostClock } from '../../engine/store/host-clock.js';
import type { EtcdTls } from '../etcd/wire.js';
import type { LaggingNode } from '../network.js';
import { type CatchUpOptions, catchUp } from './catch-up.js';
import { bounds, PeerError, type SnapshotDescription } from './proof.js';
import { runInSubprocess } from './subprocess.js';
import { type ReceiveOptions, type ReceivePorts, receiveSnapshot, type TakePorts } from './take.js';

interface FetchOptions extends Omit<ReceiveOptions, keyof ReceivePorts> {
  file: string;
  tls?: EtcdTls | undefined;
}

/** @throws {PeerError} */
export const fetchSnapshot = ({ file, tls, ...rest }: FetchOptions): Promise<SnapshotDescription> =>
  receiveSnapshot({ ...rest, ...httpPorts(file, tls) });

const httpPorts = (file: string, tls?: EtcdTls): ReceivePorts => ({
  host: hostClock,
  newId: randomUUID,
  ask: (to, sent, signal) => ask(to, sent, { tls, signal }),
  async save(bytes) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    await pipeline(bytes, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  },
});

/**
 * Sends the request. Resolves with the response head. The peer keeps the connection open while it
 * copies its data.
 */
async function ask(
  to: string,
  sent: Readonly<Record<string, string>>,
  { tls, signal }: { tls: EtcdTls | undefined; signal: AbortSignal },
) {
  const { cert } = tls ?? {};
  const secure = to.startsWith('https:');
  if (secure !== (cert !== undefined)) {
    const [own, peer] = cert ? ['uses', 'does not use'] : ['does not use', 'uses'];
    throw new PeerError('TLS_MISMATCH', { own: own!, peer: peer! });
  }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = {
      ...{ signal, headers: sent, agent: false as const },
      ...{ timeout: bounds.silenceMs, maxHeaderSize: bounds.headBytes },
    };
    const url = new URL('/snapshot', to);
    const request: ClientRequest = secure
      ? httpsRequest(url, { ...options, ...tls, minVersion: 'TLSv1.2' })
      : httpRequest(url, options);
    const silent = () => request.destroy(new Error(`no data for ${bounds.silenceMs} ms`));
    request.once('timeout', silent).once('error', reject).once('response', resolve).end();
  });
  return { status: answer.statusCode!, headers: answer.headers, body: answer };
}

interface FolderOptions extends Omit<CatchUpOptions, keyof TakePorts> {
  tls?: EtcdTls | undefined;
  /** Verifies every signature in a snapshot too. */
  verifyAll: boolean;
}

/** Catches up from the peers' servers. See `catchUp`. */
export async function catchUpFolder(behind: LaggingNode, options: FolderOptions): Promise<void> {
  const { folder } = behind;
  const received = join(folder, receivedName);
  const file = join(received, 'data.mdb');
  const release = lockFolder(folder);
  try {
    await catchUp(behind, {
      ...{ ...options, ...httpPorts(file, options.tls) },
      free: () => freeBytes(folder) - limits.freeSpaceBytes,
      check(expected, signal, onProgress) {
        const task = { expected, folder: received, signatures: options.verifyAll };
        return runInSubprocess({ do: 'check', ...task }, signal, onProgress);
      },
      install: () => replaceData(folder, file),
      clear: () => rmSync(received, { recursive: true, force: true }),
    });
  } finally {
    release();
  }
}
