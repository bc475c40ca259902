/**
 * Signs texts on a thread before their signatures are needed. A caller makes a signature that is
 * not ready itself, so a slow or lost thread changes no result.
 */

import { type KeyPair, sign } from './keys.js';
import { Threads } from './threads.js';
import { publicKeyBytes, signatureBytes } from './verifier.js';

/** Texts from which a batch is worth the handover to a thread. */
const LEAST = 8;
/** Texts in a batch, above which the thread cannot keep up with the caller. */
const MOST = 1_024;
/** Batches in the thread. The second one waits there, so that the thread is not idle. */
const BATCHES = 2;

/** A signature that a thread may have made. */
export interface EarlySignature {
  /** Returns the signature in hex, or null if it is not ready: then the caller signs. */
  take(): string | null;
}

export class AheadSigner {
  readonly #after: number;
  #asked = 0;
  #batch = new Batch();
  #underway = 0;
  #threads: Threads | null = null;
  #closed = false;

  /** @param after number of texts that the caller signs before the thread starts. */
  constructor(after: number) {
    this.#after = after;
  }

  /** @returns null if the thread does not sign the text. @param input ASCII. */
  add(input: string, keys: KeyPair): EarlySignature | null {
    this.#asked += 1;
    if (this.#asked <= this.#after || this.#batch.size >= MOST) return null;
    return this.#batch.add(input, keys);
  }

  /**
   * Hands the waiting texts to the thread, if they are enough.
   * @returns false if the thread can take them only after a turn of the event loop.
   */
  flush(): boolean {
    const batch = this.#batch;
    if (batch.size < LEAST || this.#closed) return true;
    if (this.#underway === BATCHES) return false;
    this.#batch = new Batch();
    void this.#run(batch);
    return true;
  }

  async #run(batch: Batch): Promise<void> {
    const program = new URL('./pool-worker.js', import.meta.url);
    this.#threads ??= new Threads({ program, most: 1 });
    this.#underway += 1;
    const value = batch.share();
    try {
      await this.#threads.run({ name: 'signBatch', message: () => ({ value, transfer: [] }) });
    } catch {
      // The texts are signed when their signatures are needed.
    }
    this.#underway -= 1;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#threads?.close();
  }
}

/*
 * A batch in shared memory: the number of texts, and their lengths (32 bits each, in native byte
 * order), a state per text, the signatures, and then each secret key and text. The thread writes
 * states and signatures, and its caller reads a signature in the same turn.
 */

const secretKeyBytes = 64;

/** States of a text. The caller and the thread may sign the same text, with the same result. */
const WAITS = 0;
const TAKEN = 1;
const SIGNED = 2;

function viewsOf(shared: SharedArrayBuffer, count: number) {
  const statesAt = 4 * (1 + count);
  const signaturesAt = statesAt + count;
  return {
    lengths: new Uint32Array(shared, 4, count),
    states: new Uint8Array(shared, statesAt, count),
    signatures: Buffer.from(shared, signaturesAt, count * signatureBytes),
    textsAt: signaturesAt + count * signatureBytes,
  };
}

class Batch {
  /** The input is empty if the caller has signed the text. */
  #texts: { input: string; keys: KeyPair }[] = [];
  #views: ReturnType<typeof viewsOf> | null = null;

  /** Number of texts that are not shared yet. */
  get size(): number {
    return this.#texts.length;
  }

  add(input: string, keys: KeyPair): EarlySignature {
    const index = this.#texts.length;
    this.#texts.push({ input, keys });
    return { take: () => this.#take(index) };
  }

  /** Copies the texts and keys into shared memory. */
  share(): SharedArrayBuffer {
    const texts = this.#texts;
    const count = texts.length;
    const textBytes = texts.reduce((sum, { input }) => sum + secretKeyBytes + input.length, 0);
    const headBytes = 4 * (1 + count) + count * (1 + signatureBytes);
    const shared = new SharedArrayBuffer(headBytes + textBytes);
    new Uint32Array(shared, 0, 1)[0] = count;
    const views = viewsOf(shared, count);
    const bytes = Buffer.from(shared);
    let offset = headBytes;
    for (const [index, { input, keys }] of texts.entries()) {
      views.lengths[index] = input.length;
      views.states[index] = input === '' ? TAKEN : WAITS;
      bytes.set(keys.secretKey, offset);
      offset += secretKeyBytes;
      offset += bytes.write(input, offset, 'latin1');
    }
    this.#texts = [];
    this.#views = views;
    return shared;
  }

  #take(index: number): string | null {
    const views = this.#views;
    if (!views) {
      this.#texts[index]!.input = '';
      return null;
    }
    if (Atomics.load(views.states, index) === SIGNED) {
      const start = index * signatureBytes;
      return views.signatures.toString('hex', start, start + signatureBytes);
    }
    Atomics.store(views.states, index, TAKEN);
    return null;
  }
}

/** Signs the texts of a shared batch that the caller has not taken. Runs in a thread. */
export function signBatch(shared: SharedArrayBuffer): void {
  const count = new Uint32Array(shared, 0, 1)[0]!;
  const { lengths, states, signatures, textsAt } = viewsOf(shared, count);
  let offset = textsAt;
  const take = (length: number) => {
    const view = new Uint8Array(shared, offset, length);
    offset += length;
    return view;
  };
  for (let index = 0; index < count; index += 1) {
    const secretKey = take(secretKeyBytes);
    const message = take(lengths[index]!);
    if (Atomics.load(states, index) !== WAITS) continue;
    const publicKey = secretKey.subarray(secretKeyBytes - publicKeyBytes);
    const signature = sign(message, { secretKey, publicKey, publicKeyHex: '' });
    signatures.set(signature, index * signatureBytes);
    Atomics.store(states, index, SIGNED);
  }
}
