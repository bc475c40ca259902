/** Signing threads, signed requests, and a count of those that were signed in time. */
import { Threads } from '../../engine/crypto/threads.js';
import { httpInput, sha256Hex } from '../../engine/protocol/signing.js';
import type {
  LinkedBlock,
  LinkTask,
  SignTask,
  TransactionTask,
  WorkerSetting,
} from './request-texts.js';

/** Signatures per task: about 10 ms of work, so that urgent tasks do not wait long. */
export const signShare = 256;
/** Work of a task, relative to that of starting a thread. */
const TASK_WORK = 0.25;
export const signatureBytes = 64;

export class Signers {
  readonly #threads: Threads;

  /** @param most most threads. Default: all cores but two. */
  constructor(setting: WorkerSetting, most?: number) {
    const program = new URL('./signing-worker.js', import.meta.url);
    this.#threads = new Threads({ program, most, workerData: setting });
  }

  async publicKeys(ordinals: readonly number[]): Promise<string[]> {
    const parts = sharesOf(ordinals, signShare).map((part) => this.#run('publicKeys', part));
    return ((await Promise.all(parts)) as string[][]).flat();
  }

  /** Returns signatures of 64 bytes. `inputs` is one text for all ordinals, or one for each. */
  async signatures({ ordinals, inputs }: SignTask): Promise<Uint8Array> {
    const made = new Uint8Array(ordinals.length * signatureBytes);
    const parts = sharesOf(ordinals, signShare).map(async (part, index) => {
      const own =
        inputs.length === 1 ? inputs : inputs.slice(index * signShare, (index + 1) * signShare);
      const task: SignTask = { ordinals: part, inputs: own };
      const signed = (await this.#run('signatures', task)) as Uint8Array;
      made.set(signed, index * signShare * signatureBytes);
    });
    await Promise.all(parts);
    return made;
  }

  transactions(task: TransactionTask): Promise<Uint8Array> {
    return this.#run('transactions', task) as Promise<Uint8Array>;
  }

  links(task: LinkTask): Promise<LinkedBlock[]> {
    return this.#run('links', task) as Promise<LinkedBlock[]>;
  }

  /** Cancels pending tasks, whose promises reject. */
  close(): Promise<void> {
    return this.#threads.close();
  }

  #run(name: string, value: unknown): Promise<unknown> {
    return this.#threads.run({ name, message: () => ({ value, transfer: [] }), work: TASK_WORK });
  }
}

function sharesOf<T>(all: readonly T[], size: number): T[][] {
  const shares: T[][] = [];
  for (let at = 0; at < all.length; at += size) shares.push(all.slice(at, at + size));
  return shares;
}

export interface UnsignedCall {
  agent: number;
  publicKey: string;
  method: 'POST' | 'PUT';
  target: string;
  timestamp: string;
  body: string;
}

export interface SignedCall extends UnsignedCall {
  headers: Record<string, string>;
  signedAtMs: number;
}

export async function signRequests(
  signers: Signers,
  requests: readonly UnsignedCall[],
): Promise<SignedCall[]> {
  const signatures = await signEach(
    signers,
    requests.map((request) => {
      const { method, target, timestamp, body } = request;
      const input = httpInput({ method, target, timestamp, bodySha256: sha256Hex(body) });
      return { agent: request.agent, input };
    }),
  );
  const signedAtMs = performance.now();
  return requests.map((request, index) => ({
    ...request,
    signedAtMs,
    headers: {
      'content-type': 'application/json',
      'x-agent-public-key': request.publicKey,
      'x-timestamp': request.timestamp,
      'x-agent-signature': signatures[index]!,
    },
  }));
}

export async function signEach(
  signers: Signers,
  texts: readonly { agent: number; input: string }[],
): Promise<string[]> {
  const made = await signers.signatures({
    ordinals: texts.map(({ agent }) => agent),
    inputs: texts.map(({ input }) => input),
  });
  const all = Buffer.from(made.buffer, made.byteOffset, made.byteLength);
  return texts.map((_, index) => {
    return all.toString('hex', index * signatureBytes, (index + 1) * signatureBytes);
  });
}

/** Timestamps may differ by up to 300 s from server time. The rest is for a slow server. */
export const aheadMs = 200_000;
/** Age of a timestamp from which a signed message is not sent. */
export const staleMs = 250_000;

export class SignedRecord {
  readonly #keys = new Set<number>();
  #messages = 0;
  #ahead = 0;
  /** Start of the measured time. Later signatures do not count as signed ahead. */
  measuredFromMs = Number.POSITIVE_INFINITY;

  used(key: number, signedAtMs: number): void {
    this.#keys.add(key);
    this.#messages += 1;
    if (signedAtMs < this.measuredFromMs) this.#ahead += 1;
  }

  /** Counts of signed messages. Without messages, the share signed ahead is 1. */
  get signed(): { keys: number; messages: number; preparedAhead: number } {
    const messages = this.#messages;
    const preparedAhead = messages === 0 ? 1 : this.#ahead / messages;
    return { keys: this.#keys.size, messages, preparedAhead };
  }
}
