/**
 * The worker threads of the pool: piscina, kept alive. A packed batch handed to them is always
 * answered: by verdicts, or by a rejection when its thread died, never by silence.
 */
import type { Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { startPool } from './start.js';

/**
 * Batches handed to one thread: the second waits in its port while the first is checked, so that a
 * busy calling thread does not leave it idle. Measured: 1 is about 3 % slower, 3 gains nothing.
 */
const tasksPerThread = 2;

export class VerifyThreads {
  /** How many batches may be handed over at a time. */
  readonly slots: number;
  readonly #count: number;
  #end: () => Promise<void> = async () => {};
  #piscina: Piscina<ArrayBuffer, Uint8Array>;

  constructor(count: number) {
    this.slots = count * tasksPerThread;
    this.#count = count;
    this.#piscina = this.#start();
  }

  /** Those alive now. */
  get workers(): readonly Worker[] {
    return this.#piscina.threads;
  }

  /** Takes `packed` away from the caller; the verdicts are bytes, 1 for valid. */
  run(packed: ArrayBuffer): Promise<Uint8Array> {
    return this.#piscina.run(packed, { transferList: [packed] });
  }

  destroy(): Promise<void> {
    return this.#end();
  }

  #start(): Piscina<ArrayBuffer, Uint8Array> {
    const { pool, end } = startPool<ArrayBuffer, Uint8Array>({
      filename: new URL('./worker.js', import.meta.url).href,
      name: 'verifyPacked',
      minThreads: this.#count,
      maxThreads: this.#count,
      concurrentTasksPerWorker: tasksPerThread,
      // Every batch may come back at once when the threads die.
      maxQueue: this.slots,
    });
    this.#end = end;
    // A thread that fails while idle holds no batch, and piscina replaces it.
    pool.on('error', () => {});
    // The event comes before piscina has started a replacement, hence the look afterwards.
    pool.on('workerDestroy', () => queueMicrotask(() => this.#revive(pool)));
    return pool;
  }

  /**
   * piscina 5.3 replaces no thread any more once one has died while starting, so its queue may be
   * left with nobody to work on it. A new piscina takes over; destroying the old one rejects what
   * was queued there. Without a queue nothing is done, or threads that cannot start would be
   * started for ever: the next batch starts one.
   */
  #revive(piscina: Piscina<ArrayBuffer, Uint8Array>): void {
    if (piscina !== this.#piscina || piscina.threads.length > 0 || piscina.queueSize === 0) return;
    this.#piscina = this.#start();
    void piscina.destroy();
  }
}
