/** Gets a snapshot of one peer into a file: the whole of what it described, or nothing. */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { EtcdTls } from '../etcd/index.js';
import { bounds, longestMs } from './bounds.js';
import { described, type SnapshotDescription } from './description.js';
import { PeerError } from './error.js';
import { headers, isSame, proofOfAnswer, proofOfAsking } from './proof.js';

export interface FetchOptions {
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
    if (!isSame(proofOfAnswer(secret, nonce, header), answer.headers[headers.proof])) {
      const what = 'whoever answers does not know the secret of the nodes';
      throw new PeerError('UNPROVEN', `${what}; nothing of it is taken`);
    }
    const description = described(header);
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
        [headers.proof]: proofOfAsking(secret, asking),
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
