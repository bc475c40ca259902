/**
 * Verification on worker threads, in batches. The pool settles every call exactly once, even
 * if a thread dies, and holds a bounded number of signatures.
 */

import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { countSize, limits } from '../protocol/limits.js';
import { verifyFastest } from './inline.js';
import {
  assertJob,
  createDirectVerifier,
  publicKeyBytes,
  signatureBytes,
  type Verifier,
  VerifierBusy,
  type VerifierStats,
  type VerifyJob,
} from './verifier.js';

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

  /** Batches of a failed call may still run after the call is settled. */
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

  /** Marks a request as settled; returns false if it was settled before. */
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

/*
 * What waits in front of the pool's threads: two first-in-first-out lines, so that a request with
 * many signatures does not hold up single votes. It knows nothing of threads.
 */

/** One call of `verify`, until its promise is settled. */
interface VerifyRequest {
  readonly jobs: readonly VerifyJob[];
  readonly verdicts: boolean[];
  /** How many of `jobs` have been handed out in batches. */
  taken: number;
  /** How many verdicts are still to come; the promise is settled at 0. */
  missing: number;
  /** True until the request is settled. */
  open: boolean;
  resolve(verdicts: boolean[]): void;
  reject(reason: Error): void;
}

/** Consecutive jobs of one request within a batch. */
interface BatchPart {
  readonly request: VerifyRequest;
  readonly from: number;
  readonly to: number;
}

class VerifyQueue {
  readonly #small: VerifyRequest[] = [];
  readonly #bulk: VerifyRequest[] = [];
  #waiting = 0;

  /** Signatures not yet handed out in a batch. */
  get waiting(): number {
    return this.#waiting;
  }

  add(request: VerifyRequest): void {
    const line = request.jobs.length > limits.verifyBulk ? this.#bulk : this.#small;
    line.push(request);
    this.#waiting += request.jobs.length;
  }

  /**
   * The next batch, of at most `size` jobs. Bulk requests get a quarter of it when small ones wait,
   * and `limits.verifyBulk` at most even when none do, for a vote that comes next waits it out.
   */
  take(size: number): BatchPart[] {
    const batch: BatchPart[] = [];
    // The quarter is kept free, so that a steady stream of votes cannot starve a bulk request.
    const kept = this.#bulk.length === 0 ? 0 : Math.min(limits.verifyBulk, Math.ceil(size / 4));
    const taken = this.#takeFrom(this.#small, size - kept, batch);
    this.#takeFrom(this.#bulk, Math.min(limits.verifyBulk, size - taken), batch);
    return batch;
  }

  /** Forgets what is left of a request that failed. */
  drop(request: VerifyRequest): void {
    const line = request.jobs.length > limits.verifyBulk ? this.#bulk : this.#small;
    const index = line.indexOf(request);
    if (index === -1) return;
    line.splice(index, 1);
    this.#waiting -= request.jobs.length - request.taken;
  }

  #takeFrom(line: VerifyRequest[], size: number, batch: BatchPart[]): number {
    let room = size;
    let finished = 0;
    for (const request of line) {
      if (room === 0) break;
      const from = request.taken;
      const to = Math.min(request.jobs.length, from + room);
      batch.push({ request, from, to });
      request.taken = to;
      room -= to - from;
      if (to === request.jobs.length) finished += 1;
    }
    // One splice a batch: shift() a request would be quadratic in a long line.
    line.splice(0, finished);
    this.#waiting -= size - room;
    return size - room;
  }
}

/*
 * Batches as one buffer, so that a batch crosses the thread boundary as one transfer.
 * Layout: count, then each message's length (32-bit, in the machine's order, for it never leaves
 * the process), then for each job its key, signature and message.
 */

/** A copy of the jobs in a buffer of its own, which may be transferred. */
function packJobs(jobs: readonly VerifyJob[]): ArrayBuffer {
  const headerBytes = 4 * (1 + jobs.length);
  let totalBytes = headerBytes + jobs.length * (publicKeyBytes + signatureBytes);
  for (const job of jobs) totalBytes += job.message.length;
  const buffer = new ArrayBuffer(totalBytes);
  const header = new Uint32Array(buffer, 0, 1 + jobs.length);
  const bytes = new Uint8Array(buffer);
  header[0] = jobs.length;
  let offset = headerBytes;
  jobs.forEach((job, index) => {
    header[1 + index] = job.message.length;
    bytes.set(job.publicKey, offset);
    bytes.set(job.signature, offset + publicKeyBytes);
    bytes.set(job.message, offset + publicKeyBytes + signatureBytes);
    offset += publicKeyBytes + signatureBytes + job.message.length;
  });
  return buffer;
}

/** The jobs of `packJobs`, as views into the buffer. */
export function unpackJobs(buffer: ArrayBuffer): VerifyJob[] {
  const count = new Uint32Array(buffer, 0, 1)[0]!;
  const lengths = new Uint32Array(buffer, 4, count);
  let offset = 4 * (1 + count);
  const take = (length: number) => {
    const view = new Uint8Array(buffer, offset, length);
    offset += length;
    return view;
  };
  return Array.from(lengths, (messageBytes) => ({
    publicKey: take(publicKeyBytes),
    signature: take(signatureBytes),
    message: take(messageBytes),
  }));
}

/*
 * The worker threads of the pool: piscina, kept alive. A packed batch handed to them is always
 * answered: by verdicts, or by a rejection when its thread died, never by silence.
 */

/**
 * Batches handed to one thread: the second waits in its port while the first is checked, so that a
 * busy calling thread does not leave it idle. Measured: 1 is about 3 % slower, 3 gains nothing.
 */
const tasksPerThread = 2;

class VerifyThreads {
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
      filename: new URL('./pool-worker.js', import.meta.url).href,
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
   * left without a thread. A new piscina takes over; destroying the old one rejects what
   * was queued there. Without a queue nothing is done, or threads that cannot start would be
   * started for ever: the next batch starts one.
   */
  #revive(piscina: Piscina<ArrayBuffer, Uint8Array>): void {
    if (piscina !== this.#piscina || piscina.threads.length > 0 || piscina.queueSize === 0) return;
    this.#piscina = this.#start();
    void piscina.destroy();
  }
}

/*
 * Starts and ends a pool of worker threads for any task. A pool is not ended before its threads
 * have loaded. In Node 20 a thread that is ended while it loads a module may end the
 * whole process by a signal (v8::Module::IsGraphAsync).
 */

/** How long a thread may take to load before it is ended all the same. */
const LOADING_MS = 5_000;

/** What piscina is asked for. */
type PoolOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

/** Loaded when threads are started: a program that starts none needs none of its modules. */
const load = () => createRequire(import.meta.url)('piscina') as typeof import('piscina');

/** The pool, and what ends it. */
export function startPool<Task, Answer>(options: PoolOptions) {
  const { Piscina } = load();
  const pool = new Piscina<Task, Answer>(options);
  return { pool, end: endOf(pool) };
}

/** A thread's first message says that it has loaded; one that has ended loads no more. */
const loaded = (thread: Worker) =>
  new Promise<void>((resolve) => {
    for (const event of ['message', 'exit', 'error']) thread.once(event, () => resolve());
  });

/** To be called in the turn in which the pool is made. */
function endOf(pool: Piscina): () => Promise<void> {
  const watched = new WeakSet<Worker>();
  const loading = new Set<Promise<unknown>>();
  const watch = () => {
    for (const thread of pool.threads) {
      if (watched.has(thread)) continue;
      watched.add(thread);
      const one: Promise<unknown> = loaded(thread).then(() => loading.delete(one));
      loading.add(one);
    }
  };
  watch();
  // The event comes before the pool has started a replacement, hence the look afterwards.
  pool.on('workerDestroy', () => queueMicrotask(watch));
  return async () => {
    watch();
    const patience = new Promise((resolve) => setTimeout(resolve, LOADING_MS).unref());
    await Promise.race([Promise.all(loading), patience]);
    await pool.destroy();
  };
}

/*
 * A pool that is started when it is worth it: a thread costs as much as some thousand signatures,
 * and to wait for it holds up whoever has only a few.
 */

/**
 * @param after how many signatures are checked in this thread; when half of them are, `start` is
 *   called, so that its threads have loaded by then.
 */
export function createLazyVerifier(after: number, start: () => Verifier): Verifier {
  const first = createDirectVerifier('pool', verifyFastest);
  let rest: Verifier | null = null;
  let asked = 0;
  let closed = false;
  return {
    name: first.name,
    get stats() {
      return rest ? sumOf(first.stats, rest.stats) : first.stats;
    },
    async verify(jobs) {
      asked += jobs.length;
      if (2 * asked > after && !closed) rest ??= start();
      return (rest && asked > after ? rest : first).verify(jobs);
    },
    async close() {
      closed = true;
      await Promise.all([first.close(), rest?.close()]);
    },
  };
}

function sumOf(a: VerifierStats, b: VerifierStats): VerifierStats {
  const slots = Math.max(a.batchSizes.length, b.batchSizes.length);
  const sum = (index: number) => (a.batchSizes[index] ?? 0) + (b.batchSizes[index] ?? 0);
  return {
    verified: a.verified + b.verified,
    rejected: a.rejected + b.rejected,
    batches: a.batches + b.batches,
    batchSizes: Array.from({ length: slots }, (_, index) => sum(index)),
  };
}
