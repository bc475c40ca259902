/**
 * Verification on worker threads, in batches. It must answer every call exactly once, whatever
 * happens to a thread, and holds a bounded number of signatures.
 */
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { limits } from '../../protocol/limits.js';
import { countSize } from '../../protocol/sizes.js';
import { assertJob } from '../job.js';
import { type Verifier, VerifierBusy, type VerifierStats, type VerifyJob } from '../verifier.js';
import { packJobs } from './packing.js';
import { type BatchPart, VerifyQueue, type VerifyRequest } from './queue.js';
import { VerifyThreads } from './threads.js';

/**
 * Fewer jobs than this are not split between threads, for handing over costs about as much as
 * checking one. Measured with 16 callers: 40,000/s, and 22,000/s where this is 16.
 */
const smallestShare = 8;

/** As many jobs are handed out before all requests of a turn have been read. */
const worthwhile = 64;

export interface PoolVerifier extends Verifier {
  /** The threads of now, for supervision; one that dies is replaced. */
  readonly threads: readonly Worker[];
}

/**
 * @param options.threads worker threads, 2 by default (1 on a machine with one core).
 * Jobs must not be changed until their call is settled: they are copied when a batch is formed.
 */
export function createPoolVerifier(options: { threads?: number } = {}): PoolVerifier {
  const threads = options.threads ?? Math.min(2, availableParallelism());
  if (!Number.isInteger(threads) || threads < 1) {
    throw new RangeError(`threads: expected an integer of 1 or more, got ${threads}`);
  }
  return new Pool(threads);
}

class Pool implements PoolVerifier {
  readonly name = 'pool';
  readonly stats: VerifierStats = { verified: 0, rejected: 0, batches: 0, batchSizes: [] };
  readonly #queue = new VerifyQueue();
  /** Calls that are not settled. */
  #open = 0;
  readonly #threads: VerifyThreads;
  #freeSlots: number;
  #pumpPlanned = false;
  #closed: Promise<void> | null = null;
  #drained: (() => void) | null = null;

  constructor(threads: number) {
    this.#threads = new VerifyThreads(threads);
    this.#freeSlots = this.#threads.slots;
  }

  get threads(): readonly Worker[] {
    return this.#threads.workers;
  }

  verify(jobs: readonly VerifyJob[]): Promise<boolean[]> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) throw new Error('verifier pool is closed');
      for (const job of jobs) assertJob(job);
      if (jobs.length === 0) return resolve([]);
      const { waiting } = this.#queue;
      if (waiting + jobs.length > limits.verifyQueue) {
        throw new VerifierBusy(waiting, limits.verifyQueue);
      }
      const verdicts = new Array<boolean>(jobs.length);
      const missing = jobs.length;
      this.#queue.add({ jobs, verdicts, taken: 0, missing, open: true, resolve, reject });
      this.#open += 1;
      this.#planPump();
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#drain().then(() => this.#threads.destroy());
    return this.#closed;
  }

  /** Batches of a call that failed may still be out when nobody waits for them any more. */
  #isIdle(): boolean {
    return this.#open === 0 && this.#freeSlots === this.#threads.slots;
  }

  async #drain(): Promise<void> {
    if (this.#isIdle()) return;
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
  }

  /**
   * When this turn of the event loop has read all that came, rather than at once: requests of many
   * connections then share a batch, where a microtask would run after each of them. When enough
   * wait, nothing is gained by waiting for more: the threads would be idle meanwhile.
   */
  #planPump(): void {
    if (this.#freeSlots === 0) return;
    if (this.#queue.waiting >= worthwhile) this.#pump();
    else if (!this.#pumpPlanned) {
      this.#pumpPlanned = true;
      setImmediate(() => {
        this.#pumpPlanned = false;
        this.#pump();
      });
    }
  }

  #pump(): void {
    while (this.#freeSlots > 0 && this.#queue.waiting > 0) {
      const share = Math.ceil(this.#queue.waiting / this.#freeSlots);
      const size = Math.min(limits.verifyBatch, Math.max(smallestShare, share));
      this.#freeSlots -= 1;
      void this.#run(this.#queue.take(size));
    }
  }

  async #run(batch: readonly BatchPart[]): Promise<void> {
    try {
      this.#resolve(batch, await this.#attempt(batch));
    } catch (reason) {
      this.#fail(batch, reason);
    }
    this.#freeSlots += 1;
    this.#pump();
    if (this.#isIdle()) this.#drained?.();
  }

  /** Packs anew each time: the buffer of a batch whose thread died is gone with it. */
  async #attempt(batch: readonly BatchPart[]): Promise<Uint8Array> {
    const jobs: VerifyJob[] = [];
    for (const { request, from, to } of batch) {
      for (let index = from; index < to; index += 1) jobs.push(request.jobs[index]!);
    }
    for (let retries = 0; ; retries++) {
      try {
        const verdicts = await this.#threads.run(packJobs(jobs));
        if (verdicts.length === jobs.length) return verdicts;
        throw new Error(`${jobs.length} verdicts expected, got ${verdicts.length}`);
      } catch (reason) {
        if (retries === limits.verifyRetries) throw reason;
      }
    }
  }

  #resolve(batch: readonly BatchPart[], verdicts: Uint8Array): void {
    this.stats.batches += 1;
    countSize(this.stats.batchSizes, verdicts.length);
    let next = 0;
    for (const { request, from, to } of batch) {
      for (let index = from; index < to; index++, next++) {
        const valid = verdicts[next] === 1;
        request.verdicts[index] = valid;
        if (valid) this.stats.verified += 1;
        else this.stats.rejected += 1;
      }
      request.missing -= to - from;
      if (request.missing === 0 && this.#settles(request)) request.resolve(request.verdicts);
    }
  }

  /** Whether somebody still waits for it, and from now on nobody does. */
  #settles(request: VerifyRequest): boolean {
    const { open } = request;
    if (open) this.#open -= 1;
    request.open = false;
    return open;
  }

  #fail(batch: readonly BatchPart[], cause: unknown): void {
    const attempts = 1 + limits.verifyRetries;
    for (const { request } of batch) {
      this.#queue.drop(request);
      this.#settles(request);
      request.reject(
        new Error(`${request.jobs.length} signatures not verified: ${attempts} attempts failed`, {
          cause,
        }),
      );
    }
  }
}
