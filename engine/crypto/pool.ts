/**
 * Verifier on worker threads, in batches. Settles each call exactly once, even if a thread dies.
 * The queue holds a bounded number of signatures.
 */

import type { Worker } from 'node:worker_threads';
import { countSize, Durations, limits } from '../protocol/limits.js';
import { createInlineVerifier, sodium, verifyFastest } from './keys.js';
import { createReferenceVerifier } from './reference.js';
import { assertThreads, Threads } from './threads.js';
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

/**
 * Parts into which waiting votes are cut. The network applies requests one by one, so more and
 * smaller batches would only cost the calling thread more.
 */
const mostParts = 4;

/** Minimum size of a batch of bulk jobs, which are split over all threads. */
const smallestBulk = 32;

/** Queue length at which a batch starts before the turn ends. */
const worthwhile = 64;

/** Verifications that take as long as starting a thread. */
const startingCost = 1_000;

export interface PoolVerifier extends Verifier {
  /** Current threads. The pool replaces a thread that dies. */
  readonly threads: readonly Worker[];
}

/** Options of {@link createPoolVerifier}. */
interface PoolOptions {
  /** Most worker threads. Default: all cores but two. */
  threads?: number | undefined;
  /** Module that exports `verifyPacked`, and the limit after which a thread counts as hung. */
  program?: URL;
  patienceMs?: number;
}

/**
 * Creates a pool. Callers must not change jobs until the call is settled, because jobs are copied
 * only when their batch is formed.
 * @throws {RangeError} for a number of threads outside the bounds.
 */
export const createPoolVerifier = (options: PoolOptions = {}): PoolVerifier => new Pool(options);

class Pool implements PoolVerifier {
  readonly name = 'pool';
  readonly stats: VerifierStats;
  readonly #queue: VerifyQueue;
  /** Number of unsettled calls. */
  #open = 0;
  /** Number of batches in threads. */
  #batches = 0;
  readonly #threads: Threads;
  #pumpPlanned = false;
  #closed: Promise<void> | null = null;
  #drained: (() => void) | null = null;

  constructor({ threads: most, patienceMs, program }: PoolOptions) {
    const threads = new Threads({
      program: program ?? new URL('./pool-worker.js', import.meta.url),
      ...{ most, patienceMs },
      onFree: (wasFull) => this.#pump(wasFull),
    });
    this.#threads = threads;
    this.stats = Object.defineProperty(newStats(), 'threads', {
      enumerable: true,
      get: () => threads.counts,
    });
    this.#queue = new VerifyQueue(this.stats.waits);
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
    this.#closed ??= this.#drain().then(() => this.#threads.close());
    return this.#closed;
  }

  /** Checks for batches too, because those of a failed call can run after the call is settled. */
  #isIdle(): boolean {
    return this.#open === 0 && this.#batches === 0;
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
    if (this.#queue.waiting >= worthwhile) this.#pump(false);
    else if (!this.#pumpPlanned) {
      this.#pumpPlanned = true;
      setImmediate(() => {
        this.#pumpPlanned = false;
        this.#pump(false);
      });
    }
  }

  /** @param waited true if no thread was free before: the jobs of the first batch have waited. */
  #pump(waited: boolean): void {
    for (let isFirst = true; this.#queue.waiting > 0; isFirst = false) {
      const { free } = this.#threads;
      if (free === 0) break;
      const batch = this.#nextBatch(this.#threads.idle || free);
      if (waited && isFirst) this.#threads.addBacklog(countJobs(batch) / startingCost);
      void this.#run(batch);
    }
    if (this.#isIdle()) this.#drained?.();
  }

  /** Takes the share of one of `parts` threads. */
  #nextBatch(parts: number): BatchPart[] {
    const { waiting, bulk } = this.#queue;
    const share = Math.ceil(waiting / Math.min(parts, mostParts));
    const size = Math.min(limits.verifyBatch, Math.max(smallestShare, share));
    const bulkShare = Math.max(smallestBulk, Math.ceil(bulk / parts));
    return this.#queue.take(size, Math.min(limits.verifyBulk, bulkShare));
  }

  async #run(batch: readonly BatchPart[]): Promise<void> {
    const count = countJobs(batch);
    this.#batches += 1;
    try {
      const verdicts = await this.#threads.run({
        name: 'verifyPacked',
        message: () => {
          const packed = packJobs(batch, count);
          return { value: packed, transfer: [packed] };
        },
        accepts: (answer) => areVerdicts(answer, count),
      });
      this.#batches -= 1;
      this.#resolve(batch, verdicts as Uint8Array);
    } catch (reason) {
      this.#batches -= 1;
      this.#fail(batch, reason);
    }
    if (this.#isIdle()) this.#drained?.();
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
    const attempts = 1 + limits.threadRetries;
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
  #waiting = 0;
  #bulkWaiting = 0;

  constructor(private readonly waits: Durations) {}

  /** Number of jobs that are not in a batch yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Number of those jobs that belong to bulk requests. */
  get bulk(): number {
    return this.#bulkWaiting;
  }

  add(request: VerifyRequest): void {
    const line = this.#lineOf(request);
    line.push(request);
    this.#count(line, request.jobs.length);
  }

  /**
   * Takes the next batch of at most `size` jobs, of which at most `bulk` belong to bulk requests,
   * since the next vote has to wait for the batch. While small requests wait, bulk requests get a
   * quarter of the batch.
   */
  take(size: number, bulk: number): BatchPart[] {
    const batch: BatchPart[] = [];
    // The quarter is reserved, so that a steady stream of votes cannot starve a bulk request.
    const kept = this.#bulk.length === 0 ? 0 : Math.min(bulk, Math.ceil(size / 4));
    const taken = this.#takeFrom(this.#small, size - kept, batch);
    this.#takeFrom(this.#bulk, Math.min(bulk, size - taken), batch);
    return batch;
  }

  /** Removes a failed request's remaining jobs. */
  drop(request: VerifyRequest): void {
    const line = this.#lineOf(request);
    const index = line.indexOf(request);
    if (index === -1) return;
    line.splice(index, 1);
    this.#count(line, request.taken - request.jobs.length);
  }

  #lineOf({ jobs }: VerifyRequest): VerifyRequest[] {
    return jobs.length > limits.verifyBulk ? this.#bulk : this.#small;
  }

  #count(line: VerifyRequest[], jobs: number): void {
    this.#waiting += jobs;
    if (line === this.#bulk) this.#bulkWaiting += jobs;
  }

  #takeFrom(line: VerifyRequest[], size: number, batch: BatchPart[]): number {
    let room = size;
    let finished = 0;
    const now = performance.now();
    for (const request of line) {
      if (room === 0) break;
      const from = request.taken;
      if (from === 0) this.waits.add(now - request.since);
      const to = Math.min(request.jobs.length, from + room);
      batch.push({ request, from, to });
      request.taken = to;
      room -= to - from;
      if (to === request.jobs.length) finished += 1;
    }
    // One splice per batch, because one shift() per request would be quadratic in a long queue.
    line.splice(0, finished);
    this.#count(line, room - size);
    return size - room;
  }
}

/*
 * Encodes a batch as one buffer, which is transferred to the thread without a copy. Layout: count
 * and message lengths (32 bits each, in native byte order), then each job's key, signature and
 * message.
 */

const countJobs = (batch: readonly BatchPart[]): number =>
  batch.reduce((sum, { from, to }) => sum + to - from, 0);

/** Copies the `count` jobs of a batch into a transferable buffer. */
function packJobs(batch: readonly BatchPart[], count: number): ArrayBuffer {
  const headerBytes = 4 * (1 + count);
  const lengths = new Uint32Array(1 + count);
  lengths[0] = count;
  let totalBytes = headerBytes + count * (publicKeyBytes + signatureBytes);
  let next = 0;
  for (const { request, from, to } of batch) {
    for (let index = from; index < to; index += 1) {
      const { length } = request.jobs[index]!.message;
      next += 1;
      lengths[next] = length;
      totalBytes += length;
    }
  }
  const bytes = new Uint8Array(totalBytes);
  bytes.set(new Uint8Array(lengths.buffer));
  let offset = headerBytes;
  for (const { request, from, to } of batch) {
    for (let index = from; index < to; index += 1) {
      const job = request.jobs[index]!;
      bytes.set(job.publicKey, offset);
      bytes.set(job.signature, offset + publicKeyBytes);
      bytes.set(job.message, offset + publicKeyBytes + signatureBytes);
      offset += publicKeyBytes + signatureBytes + job.message.length;
    }
  }
  return bytes.buffer;
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

/** Returns true for one byte per job, 1 for valid or 0 for invalid. */
const areVerdicts = (answer: unknown, count: number): boolean =>
  answer instanceof Uint8Array && answer.length === count && answer.every((byte) => byte <= 1);

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
    threads: b.threads,
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
  /**
   * Most worker threads for `pool`, from 1 to 256. Threads start on demand. Default: all cores that
   * this process may use but two, and at least 1.
   */
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
      if (threads !== undefined) assertThreads(threads);
      const start = () => createPoolVerifier({ threads });
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
