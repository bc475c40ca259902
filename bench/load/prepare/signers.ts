/** The threads that sign, by piscina: so that the generator's own thread never does. */
import { availableParallelism } from 'node:os';
import type { Piscina } from 'piscina';
import { startPool } from '../../../engine/internal.js';
import type { Linked, LinkTask, SignTask, TransactionTask, WorkerSetting } from './tasks.js';

/** More threads than this sign faster than any one thread can send. */
const THREADS = 4;
/** Signatures in one task: some 10 ms of work, so that what is urgent need not wait for long. */
export const signShare = 256;
export const signatureBytes = 64;

export class Signers {
  readonly #pool: Piscina;
  readonly #end: () => Promise<void>;

  constructor(setting: WorkerSetting) {
    const threads = Math.min(THREADS, availableParallelism());
    const { pool, end } = startPool({
      filename: new URL('./worker.js', import.meta.url).href,
      minThreads: threads,
      maxThreads: threads,
      workerData: setting,
    });
    this.#pool = pool;
    this.#end = end;
  }

  async publicKeys(ordinals: readonly number[]): Promise<string[]> {
    const parts = sharesOf(ordinals, signShare).map((part) => this.#run('publicKeys', part));
    return ((await Promise.all(parts)) as string[][]).flat();
  }

  /** The signatures, 64 bytes each, in the order of `ordinals`; `inputs` is one text or as many. */
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

  links(task: LinkTask): Promise<Linked[]> {
    return this.#run('links', task) as Promise<Linked[]>;
  }

  /** What is still being signed is given up: its promises reject. */
  close(): Promise<void> {
    return this.#end();
  }

  #run(name: string, task: unknown): Promise<unknown> {
    return this.#pool.run(task, { name });
  }
}

function sharesOf<T>(all: readonly T[], size: number): T[][] {
  const shares: T[][] = [];
  for (let at = 0; at < all.length; at += size) shares.push(all.slice(at, at + size));
  return shares;
}
