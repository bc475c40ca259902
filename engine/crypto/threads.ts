/**
 * Worker threads that start on demand. Each thread is a piscina pool of its own, so that this
 * module can start, observe and replace it alone. A task whose thread dies, hangs or gives a wrong
 * answer runs again on another thread, and settles once.
 */
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { limits } from '../protocol/limits.js';
import type { ThreadCounts } from './verifier.js';

/** All cores but two: one for the calling thread, one for garbage collection, disk and others. */
const defaultThreads = (): number => Math.max(1, availableParallelism() - 2);

/** @throws {RangeError} for a number of threads outside the bounds. */
export function assertThreads(threads: number): void {
  const { mostThreads } = limits;
  if (Number.isInteger(threads) && threads >= 1 && threads <= mostThreads) return;
  throw new RangeError(`threads: expected an integer from 1 to ${mostThreads}, got ${threads}`);
}

/**
 * Tasks per thread. The second task waits in the thread's port, so that the thread is not idle
 * while the calling thread is busy. In measurements, 1 was about 3% slower and 3 gained nothing.
 */
const tasksPerThread = 2;

/** Checks without an answer after which a thread counts as hung, and their number per limit. */
const silentChecks = 3;
const checksPerLimit = 2;

export interface ThreadsOptions {
  /** Module of the threads, which exports a function for each name of a task. */
  program: URL;
  /** Most threads. The first one starts at once. Default: all cores but two. */
  most?: number | undefined;
  workerData?: unknown;
  /** Time without an answer after which a thread counts as hung, in ms. */
  patienceMs?: number | undefined;
  /** Called when a thread can take a task. @param wasFull true if no thread could before. */
  onFree?: (wasFull: boolean) => void;
}

export interface ThreadTask {
  /** Name of the function. */
  name: string;
  /** Creates the argument and lists what is transferred. A lost thread loses its argument. */
  message(): { value: unknown; transfer: ArrayBuffer[] };
  /** Returns false for an answer that the function never gives. */
  accepts?(answer: unknown): boolean;
  /** Work of the task, relative to the work of starting a thread. Default: 0. */
  work?: number;
}

interface Pending {
  readonly task: ThreadTask;
  attempts: number;
  resolve(answer: unknown): void;
  reject(reason: unknown): void;
}

export class Threads {
  readonly #options: ThreadsOptions;
  readonly #most: number;
  readonly #lanes: Lane[] = [];
  /** Tasks that no thread has taken. */
  readonly #waiting: Pending[] = [];
  readonly #watch: NodeJS.Timeout;
  /** Work that has waited while all threads were full, in units of the work of starting one. */
  #backlog = 0;
  #closed = false;

  /** @throws {RangeError} for a number of threads outside the bounds. */
  constructor(options: ThreadsOptions) {
    this.#options = options;
    this.#most = options.most ?? defaultThreads();
    assertThreads(this.#most);
    this.#start();
    const { patienceMs = limits.threadPatienceMs } = options;
    this.#watch = setInterval(() => this.#findHung(), patienceMs / checksPerLimit).unref();
  }

  get workers(): readonly Worker[] {
    return this.#lanes.flatMap((lane) => lane.workers);
  }

  get counts(): ThreadCounts {
    const busy = this.#lanes.filter(({ tasks }) => tasks > 0).length;
    return { running: this.#lanes.length, limit: this.#most, busy };
  }

  /** Number of tasks that threads can take now. */
  get free(): number {
    let free = -this.#waiting.length;
    for (const { tasks } of this.#usable()) free += tasksPerThread - tasks;
    return Math.max(0, free);
  }

  get idle(): number {
    return this.#usable().filter(({ tasks }) => tasks === 0).length;
  }

  /** Runs a task, at once or when a thread is free. Rejects if all attempts fail. */
  run(task: ThreadTask): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new Error('threads are closed');
      this.#waiting.push({ task, attempts: 0, resolve, reject });
      this.#distribute();
      if (task.work !== undefined && this.#waiting.length > 0) this.addBacklog(task.work);
    });
  }

  /**
   * Records work that waits while all threads are full. Starts a further thread once the work is
   * that of starting it. One thread starts at a time.
   */
  addBacklog(work: number): void {
    if (this.#closed || this.#lanes.length >= this.#most) return;
    if (this.#lanes.some(({ loaded }) => !loaded)) return;
    this.#backlog += work;
    if (this.#backlog < 1) return;
    this.#backlog = 0;
    this.#start();
  }

  /** Rejects all tasks, and ends the threads. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('threads are closed'));
    await Promise.all(this.#lanes.splice(0).map((lane) => lane.end()));
  }

  #start(): void {
    const onLoaded = () => this.#freed(false);
    const lane = new Lane(this.#options, () => {
      if (lane.workers.length === 0) this.#drop(lane);
      else lane.awaitLoading(onLoaded);
    });
    this.#lanes.push(lane);
    lane.awaitLoading(onLoaded);
  }

  /** Returns the loaded threads; all threads while none has loaded. Starts one if there is none. */
  #usable(): readonly Lane[] {
    if (this.#lanes.length === 0 && !this.#closed) this.#start();
    const loaded = this.#lanes.filter((lane) => lane.loaded);
    return loaded.length > 0 ? loaded : this.#lanes;
  }

  #distribute(): void {
    while (this.#waiting.length > 0) {
      let chosen: Lane | null = null;
      for (const lane of this.#usable()) {
        if (lane.tasks < (chosen?.tasks ?? tasksPerThread)) chosen = lane;
      }
      if (chosen === null) return;
      void this.#runOn(chosen, this.#waiting.shift()!);
    }
  }

  async #runOn(lane: Lane, pending: Pending): Promise<void> {
    lane.tasks += 1;
    let fault: unknown;
    try {
      const answer = await lane.run(pending.task);
      lane.silence = 0;
      if (this.#lanes.includes(lane) && (pending.task.accepts?.(answer) ?? true)) {
        pending.resolve(answer);
      } else {
        fault = new Error('a thread gave a wrong answer');
        this.#drop(lane);
      }
    } catch (reason) {
      fault = reason;
      if (lane.workers.length === 0) this.#drop(lane);
    }
    const wasFull = this.free === 0;
    lane.tasks -= 1;
    if (fault !== undefined) this.#runAgain(pending, fault);
    this.#freed(wasFull);
  }

  #runAgain(pending: Pending, fault: unknown): void {
    pending.attempts += 1;
    if (this.#closed || pending.attempts > limits.threadRetries) pending.reject(fault);
    else this.#waiting.unshift(pending);
  }

  #freed(wasFull: boolean): void {
    if (this.#closed) return;
    this.#distribute();
    this.#options.onFree?.(wasFull);
  }

  /** Ends a thread that cannot be used any more. Its tasks are rejected, and run again. */
  #drop(lane: Lane): void {
    const index = this.#lanes.indexOf(lane);
    if (index < 0) return;
    this.#lanes.splice(index, 1);
    void lane.end();
  }

  #findHung(): void {
    for (const lane of this.#lanes) {
      const isWaiting = lane.tasks > 0 || !lane.loaded;
      lane.silence = isWaiting ? lane.silence + 1 : 0;
      if (lane.silence < silentChecks) continue;
      // If this thread was blocked, the answer may be in the port: read that first.
      setImmediate(() => {
        if (lane.silence >= silentChecks) this.#drop(lane);
        this.#freed(false);
      });
    }
  }
}

/** One thread: a piscina pool that replaces its thread if the thread dies after loading. */
class Lane {
  tasks = 0;
  /** Checks since the last answer. */
  silence = 0;
  loaded = false;
  readonly #pool: Piscina | null = null;
  #fault: unknown;
  /** The last thread, and its loading. */
  #last: { thread: Worker; loading: Promise<void> } | null = null;

  /** @param onDeath called after the thread has died, and after it was replaced. */
  constructor({ program, workerData }: ThreadsOptions, onDeath: () => void) {
    const { Piscina } = load();
    try {
      this.#pool = new Piscina({
        ...{ filename: program.href, workerData },
        ...{ minThreads: 1, maxThreads: 1, concurrentTasksPerWorker: tasksPerThread },
        ...{ maxQueue: tasksPerThread, recordTiming: false },
        resourceLimits: { maxYoungGenerationSizeMb: youngMb },
      });
    } catch (error) {
      // The system refuses more threads. Tasks of this lane fail, and are counted as attempts.
      this.#fault = error;
      return;
    }
    // A thread that fails while idle has no task, and piscina replaces the thread.
    this.#pool.on('error', () => {});
    // piscina emits the event before it starts a replacement, hence the microtask. It starts none
    // if the thread died while loading, and then keeps the tasks.
    this.#pool.on('workerDestroy', () => queueMicrotask(onDeath));
  }

  get workers(): readonly Worker[] {
    return this.#pool?.threads ?? [];
  }

  awaitLoading(done: () => void): void {
    this.loaded = false;
    void this.#loading()?.then(() => {
      this.loaded = true;
      this.silence = 0;
      done();
    });
  }

  /** Waits until the thread has loaded. Returns undefined if the lane has no thread. */
  #loading(): Promise<void> | undefined {
    const [thread] = this.workers;
    if (thread && thread !== this.#last?.thread) this.#last = { thread, loading: loaded(thread) };
    return thread && this.#last?.loading;
  }

  /**
   * Ends the thread. First waits until it has loaded, because in Node 20, terminating a thread
   * while it loads a module can crash the process (v8::Module::IsGraphAsync).
   */
  async end(): Promise<void> {
    const patience = new Promise((resolve) => setTimeout(resolve, LOADING_MS).unref());
    await Promise.race([this.#loading(), patience]);
    await this.#pool?.destroy();
  }

  async run({ name, message }: ThreadTask): Promise<unknown> {
    if (this.#pool === null) throw this.#fault;
    const { value, transfer } = message();
    return this.#pool.run(value, { name, transferList: transfer });
  }
}

/** Size in MiB of V8's young generation in a thread, instead of that of the process. */
const youngMb = 16;

/** Loads piscina on demand, since most commands start no threads. */
const load = () => createRequire(import.meta.url)('piscina') as typeof import('piscina');

/** Time limit for a thread to load. After the limit, the thread is terminated anyway. */
const LOADING_MS = 5_000;

/** Resolves when a thread has loaded (indicated by its first message) or has ended. */
const loaded = (thread: Worker) =>
  new Promise<void>((resolve) => {
    for (const event of ['message', 'exit', 'error']) thread.once(event, () => resolve());
  });
