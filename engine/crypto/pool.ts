/**
 * Verifier on worker threads, in batches. Settles each call exactly once, even if a thread dies.
 * The queue holds a bounded number of signatures.
 */

import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { countSize, Durations, limits } from '../protocol/limits.js';
import { createInlineVerifier, sodium, verifyFastest } from './keys.js';
import { createReferenceVerifier } from './reference.js';
import {
  assertJob,
  createDirectVerifier,
  createOffVerifier,
  newStats,
  publicKeyBytes,
  signatureBytes,
  type Verifier,
  VerifierBusy,
  type VerifierStats,
  type VerifyJob,
} from './verifier.js';

/**
 * Minimum size of a batch while more jobs wait. A handover to a thread costs about as much as one
 * verification. Measured with 16 callers: 40,000/s for a value of 8, and 22,000/s for 16.
 */
const smallestShare = 8;

/** Queue length at which a batch starts before the turn ends. */
const worthwhile = 64;

export interface PoolVerifier extends Verifier {
  /** Current threads. The pool replaces a thread that dies. */
  readonly threads: readonly Worker[];
}

/**
 * Creates a pool. Callers must not change jobs until the call is settled, because jobs are copied
 * only when their batch is formed.
 * @param options.threads worker threads. Default: 2, or 1 on a machine with one core.
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
  readonly stats = newStats();
  readonly #queue = new VerifyQueue(this.stats.waits);
  /** Number of unsettled calls. */
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
      const since = performance.now();
      this.#queue.add({ jobs, verdicts, since, taken: 0, missing, open: true, resolve, reject });
      this.#open += 1;
      this.#planPump();
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#drain().then(() => this.#threads.destroy());
    return this.#closed;
  }

  /**
   * Checks for free slots too, because batches from a failed call can run after the call is
   * settled.
   */
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
   * Schedules the next batches for the end of this event-loop turn, so that requests from many
   * connections share a batch. A microtask would run after each request. If the queue already
   * contains enough jobs, starts at once, so that the threads are not idle.
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

  /** Packs the jobs again for each attempt, because the buffer is lost with a thread that dies. */
  async #attempt(batch: readonly BatchPart[]): Promise<Uint8Array> {
    const jobs: VerifyJob[] = [];
    for (const { request, from, to } of batch) {
      for (let index = from; index < to; index += 1) jobs.push(request.jobs[index]!);
    }
    for (let retries = 0; ; retries++) {
      try {
        const verdicts = await this.#threads.run(packJobs(jobs));
        if (verdicts.length === jobs.length) return verdicts;
        throw new Error(`expected ${jobs.length} verdicts, got ${verdicts.length}`);
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

  /** Marks a request as settled. Returns false if it was already settled. */
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

/* Two FIFO queues, so that a request with many signatures does not delay individual votes. */

/** A pending call of `verify`. */
interface VerifyRequest {
  readonly jobs: readonly VerifyJob[];
  readonly verdicts: boolean[];
  /** Time of the call, on the monotonic clock. */
  readonly since: number;
  /** Number of jobs already in batches. */
  taken: number;
  /** Number of missing verdicts. The promise resolves at 0. */
  missing: number;
  /** True until the request is settled. */
  open: boolean;
  resolve(verdicts: boolean[]): void;
  reject(reason: Error): void;
}

/** Consecutive jobs from one request in a batch. */
interface BatchPart {
  readonly request: VerifyRequest;
  readonly from: number;
  readonly to: number;
}

class VerifyQueue {
  readonly #small: VerifyRequest[] = [];
  readonly #bulk: VerifyRequest[] = [];
  readonly #waits: Durations;
  #waiting = 0;

  constructor(waits: Durations) {
    this.#waits = waits;
  }

  /** Number of jobs that are not in a batch yet. */
  get waiting(): number {
    return this.#waiting;
  }

  add(request: VerifyRequest): void {
    const line = request.jobs.length > limits.verifyBulk ? this.#bulk : this.#small;
    line.push(request);
    this.#waiting += request.jobs.length;
  }

  /**
   * Takes the next batch of at most `size` jobs. While small requests wait, bulk requests get a
   * quarter of the batch. Bulk jobs never exceed `limits.verifyBulk`, since the next vote has to
   * wait for the batch.
   */
  take(size: number): BatchPart[] {
    const batch: BatchPart[] = [];
    // The quarter is reserved, so that a steady stream of votes cannot starve a bulk request.
    const kept = this.#bulk.length === 0 ? 0 : Math.min(limits.verifyBulk, Math.ceil(size / 4));
    const taken = this.#takeFrom(this.#small, size - kept, batch);
    this.#takeFrom(this.#bulk, Math.min(limits.verifyBulk, size - taken), batch);
    return batch;
  }

  /** Removes a failed request's remaining jobs. */
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
    const now = performance.now();
    for (const request of line) {
      if (room === 0) break;
      const from = request.taken;
      if (from === 0) this.#waits.add(now - request.since);
      const to = Math.min(request.jobs.length, from + room);
      batch.push({ request, from, to });
      request.taken = to;
      room -= to - from;
      if (to === request.jobs.length) finished += 1;
    }
    // One splice per batch, because one shift() per request would be quadratic in a long queue.
    line.splice(0, finished);
    this.#waiting -= size - room;
    return size - room;
  }
}

/*
 * Encodes a batch as one buffer, which is transferred to the thread without a copy. Layout: count
 * and message lengths (32 bits each, in native byte order), then each job's key, signature and
 * message.
 */

/** Copies jobs into a transferable buffer. */
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

/** Decodes a buffer from `packJobs`. The jobs are views into the buffer. */
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
 * The pool's worker threads (piscina). Each batch resolves to verdicts, or is rejected if its
 * thread dies.
 */

/**
 * Batches per thread. The second batch waits in the thread's port, so that the thread is not idle
 * while the calling thread is busy. In measurements, 1 was about 3% slower and 3 gained nothing.
 */
const tasksPerThread = 2;

class VerifyThreads {
  /** Maximum number of concurrent batches. */
  readonly slots: number;
  readonly #count: number;
  #end: () => Promise<void> = async () => {};
  #piscina: Piscina<ArrayBuffer, Uint8Array>;

  constructor(count: number) {
    this.slots = count * tasksPerThread;
    this.#count = count;
    this.#piscina = this.#start();
  }

  get workers(): readonly Worker[] {
    return this.#piscina.threads;
  }

  /** Transfers `packed` to a thread. Returns one byte per job, 1 for valid. */
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
      // If the threads die, all batches can return to the queue at once.
      maxQueue: this.slots,
      // The pool measures waiting times itself.
      recordTiming: false,
    });
    this.#end = end;
    // A thread that fails while idle holds no batch, and piscina replaces the thread.
    pool.on('error', () => {});
    // piscina emits the event before it starts a replacement, hence the microtask.
    pool.on('workerDestroy', () => queueMicrotask(() => this.#revive(pool)));
    return pool;
  }

  /**
   * piscina 5.3 stops replacing threads after one has died while starting, so its queue can be left
   * without a thread. A new piscina then replaces the old one, and destroying the old one rejects
   * its queue. If the queue is empty, waits for the next batch, so that threads that cannot start
   * are not restarted forever.
   */
  #revive(piscina: Piscina<ArrayBuffer, Uint8Array>): void {
    if (piscina !== this.#piscina || piscina.threads.length > 0 || piscina.queueSize === 0) return;
    this.#piscina = this.#start();
    void piscina.destroy();
  }
}

/*
 * Starts and ends a pool of worker threads for any task. Ending the pool first waits until all
 * threads have loaded, because in Node 20, terminating a thread while it loads a module can crash
 * the process (v8::Module::IsGraphAsync).
 */

/** Time limit for a thread to load. After the limit, the thread is terminated anyway. */
const LOADING_MS = 5_000;

type PoolOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

/** Loads piscina on demand, since most commands start no threads. */
const load = () => createRequire(import.meta.url)('piscina') as typeof import('piscina');

/** Starts a pool. Call `end` to end the pool. */
export function startPool<Task, Answer>(options: PoolOptions) {
  const { Piscina } = load();
  const pool = new Piscina<Task, Answer>(options);
  return { pool, end: endOf(pool) };
}

/** Resolves when a thread has loaded (indicated by its first message) or has ended. */
const loaded = (thread: Worker) =>
  new Promise<void>((resolve) => {
    for (const event of ['message', 'exit', 'error']) thread.once(event, () => resolve());
  });

/** Must be called in the turn that creates the pool. */
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
  // piscina emits the event before it starts a replacement, hence the microtask.
  pool.on('workerDestroy', () => queueMicrotask(watch));
  return async () => {
    watch();
    const patience = new Promise((resolve) => setTimeout(resolve, LOADING_MS).unref());
    await Promise.race([Promise.all(loading), patience]);
    await pool.destroy();
  };
}

/*
 * Lazy start of the pool. Starting a thread costs as much as about a thousand verifications, so a
 * caller with few signatures should not wait for a thread.
 */

/**
 * @param after number of signatures verified in this thread. `start` is called after half of that
 *   number, so that the threads have time to load.
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
  const waits = new Durations();
  for (const { waits: part } of [a, b]) waits.merge(part);
  return {
    verified: a.verified + b.verified,
    rejected: a.rejected + b.rejected,
    batches: a.batches + b.batches,
    batchSizes: Array.from({ length: slots }, (_, index) => sum(index)),
    waits,
  };
}

/**
 * Verifier implementation: libsodium in worker threads (`pool`) or in this thread (`inline`),
 * JavaScript (`reference`, slow), or none (`off`, for simulations). The first three give identical
 * verdicts.
 */
export type VerifierKind = 'pool' | 'inline' | 'reference' | 'off';

/** Options of {@link createVerifier}. */
export interface VerifierOptions {
  /** Worker threads for `pool`. Default: 2, or 1 on a machine with one core. */
  threads?: number;
  /** Signatures that `pool` verifies in this thread before it uses workers. Default: 0. */
  threadsAfter?: number;
  /** Receives a warning line. Default: writes to standard error. */
  warn?: (line: string) => void;
}

/**
 * Creates a verifier. Close the verifier after the networks that use it. If libsodium does not
 * load, `pool` and `inline` call `warn` once and use the reference, which gives identical verdicts.
 *
 * @example
 * ```ts
 * import { createVerifier, generateKeyPair, sign } from 'folkmoot';
 *
 * const verifier = createVerifier('pool', { threads: 1 });
 * const keys = generateKeyPair();
 * const message = new TextEncoder().encode('hello');
 * const job = { publicKey: keys.publicKey, message, signature: sign(message, keys) };
 * const wrong = { ...job, message: new TextEncoder().encode('bye') };
 * console.log(await verifier.verify([job, wrong])); // [ true, false ]
 * await verifier.close();
 * ```
 */
export function createVerifier(kind: VerifierKind, options: VerifierOptions = {}): Verifier {
  const usesSodium = kind === 'pool' || kind === 'inline';
  if (usesSodium && sodium === null) {
    const warn = options.warn ?? ((line: string) => void process.stderr.write(`${line}\n`));
    warn('sodium-native failed to load; verifying signatures in JavaScript, 30 times slower');
  }
  switch (kind) {
    case 'pool': {
      const { threads, threadsAfter = 0 } = options;
      const start = () => createPoolVerifier(threads === undefined ? {} : { threads });
      return threadsAfter > 0 ? createLazyVerifier(threadsAfter, start) : start();
    }
    case 'inline':
      return createInlineVerifier();
    case 'reference':
      return createReferenceVerifier();
    case 'off':
      return createOffVerifier();
  }
}
