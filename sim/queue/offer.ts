/**
 * Offers runs to workers through a queue in etcd, slightly ahead of demand, and collects their
 * results. The queue is only transport, and the caller stores the results. If etcd loses the queue,
 * runs without a result are offered again in a new queue.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdClient } from '../../cluster/etcd/client.js';
import { EtcdError } from '../../cluster/etcd/wire.js';
import { QueueEnded, taskName } from '../../cluster/queue/claims.js';
import { QueueHost } from '../../cluster/queue/host.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import type { Provenance } from '../../report/folder.js';
import { type Job, type JobRunner, type JobRunnerOptions, toJobLimits } from '../run/jobs.js';
import {
  formatHead,
  formatJob,
  type NamedFiles,
  parseOutcome,
  parseQueued,
  queueError,
  readFiles,
} from './messages.js';

export interface OfferOptions {
  title: string;
  made: Provenance;
  /** Files used by the scenarios, if any. */
  files?: NamedFiles;
  /** Prints a line about workers or invalid entries. */
  say: (line: string) => void;
}

/** Offered runs per worker slot, and bounds on the total. */
const AHEAD = { each: 24, least: 48, most: 4_096, bytes: 16 * 1_048_576 } as const;
/** Polling interval for results. The offered runs last longer than this interval. */
const PAUSE_MS = 200;
/** Polling interval for workers and duplicate results. */
const LOOK_MS = 1_000;
/** Number of results kept for comparison with duplicates. */
const REMEMBERED = 4_096;
/** Number of invalid results for one run that end the sweep. */
const STRIKES = 3;

/** Returns a job runner that distributes jobs to the workers of a queue. */
export function runInQueue(client: EtcdClient, about: OfferOptions): JobRunner {
  return async (tasks, options) => {
    const iterator =
      Symbol.asyncIterator in tasks ? tasks[Symbol.asyncIterator]() : tasks[Symbol.iterator]();
    const offer = new Offer(client, about, options, iterator);
    await offer.run();
  };
}

interface Offered<T> {
  task: T;
  text: string;
  strikes: number;
}

type Pulled<T> = Iterator<T> | AsyncIterator<T>;

class Offer<T extends Job> {
  readonly #open = new Map<string, Offered<T>>();
  /** Digests of the latest results. */
  readonly #done = new Map<string, { task: T; digest: string }>();
  /** Late results from lost claims, for runs that have no result so far. */
  readonly #early = new Map<string, string>();
  readonly #workers: Workers;
  readonly #signal: AbortSignal;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #pulling: Promise<void> | null = null;
  readonly #pulled: T[] = [];
  /** Results that the caller has saved but that are still in the queue. */
  #kept: string[] = [];
  #exhausted = false;
  #failure: unknown = null;
  #count = 0;
  #bytes = 0;

  constructor(
    private readonly client: EtcdClient,
    private readonly about: OfferOptions,
    private readonly options: JobRunnerOptions<T>,
    private readonly tasks: Pulled<T>,
  ) {
    this.#workers = new Workers(about.say);
    this.#signal = options.signal ?? new AbortController().signal;
  }

  async run(): Promise<void> {
    const files = this.about.files ? readFiles(this.about.files) : [];
    while (!this.#isOver()) {
      const host = await QueueHost.open(this.client, this.#signal).catch(ended);
      if (!host) break;
      try {
        await this.#begin(host, files);
        while (!this.#isOver()) await this.#turn(host);
        // Late results may arrive at the end.
        if (!this.#signal.aborted) await this.#compare(host);
      } catch (error) {
        ended(error);
        if (!this.#isOver()) this.about.say('etcd lost the queue; offering unfinished runs again');
      } finally {
        await host.close();
      }
    }
    if (this.#failure) throw this.#failure;
  }

  #isOver(): boolean {
    if (this.#signal.aborted || this.#failure || this.options.enough?.()) return true;
    return this.#exhausted && this.#open.size === 0 && this.#pulled.length === 0;
  }

  async #begin(host: QueueHost, files: ReturnType<typeof readFiles>): Promise<void> {
    for (const { sha256, body } of files) await host.carry(sha256, body);
    this.#kept = [];
    await host.exchange({
      offered: new Map([...this.#open].map(([name, { text }]) => [name, text])),
    });
    const { title, made, files: named } = this.about;
    const told = files.map(({ path, sha256, bytes }) => ({ path, sha256, bytes }));
    const scripts = (named?.scripts.length ?? 0) > 0;
    const limits = toJobLimits(this.options);
    await host.announce(formatHead({ title, made, limits, scripts, files: told }));
  }

  /** Offers jobs while there is room, takes results, and deletes saved results. */
  async #turn(host: QueueHost): Promise<void> {
    if (performance.now() - this.#lookedAt > LOOK_MS) {
      this.#lookedAt = performance.now();
      await this.#workers.look(host);
      await this.#compare(host);
    }
    const told = { offered: this.#more(), done: this.#kept };
    this.#kept = [];
    for (const { name, value } of await host.exchange(told)) {
      await this.#take(host, name, value);
      if (this.#isOver()) return;
    }
    await Promise.race([sleep(PAUSE_MS), ...(this.#pulling ? [this.#pulling] : [])]);
  }

  /** Names and offers the jobs pulled since the last turn. */
  #more(): Map<string, string> {
    const ahead = AHEAD.each * this.#workers.slots;
    const room = Math.min(AHEAD.most, Math.max(AHEAD.least, ahead)) - this.#open.size;
    this.#pull(this.#bytes < AHEAD.bytes ? room : 0);
    const offered = new Map<string, string>();
    for (const task of this.#pulled.splice(0)) {
      this.#count += 1;
      const [name, text] = [taskName(this.#count), formatJob(task)];
      this.#open.set(name, { task, text, strikes: 0 });
      this.#bytes += text.length;
      offered.set(name, text);
    }
    return offered;
  }

  /** Pulls jobs in the background, because the next job may depend on results. */
  #pull(room: number): void {
    if (this.#pulling || this.#exhausted || room <= this.#pulled.length) return;
    const pull = async () => {
      while (this.#pulled.length < room) {
        const next = await this.tasks.next();
        if (next.done) {
          this.#exhausted = true;
          return;
        }
        this.#pulled.push(next.value);
      }
    };
    this.#pulling = pull().then(
      () => {
        this.#pulling = null;
      },
      (error) => {
        this.#failure = error;
        this.#pulling = null;
      },
    );
  }

  async #take(host: QueueHost, name: string, value: Buffer): Promise<void> {
    const offered = this.#open.get(name);
    if (!offered) {
      this.about.say(`ignoring a result for an unknown run: ${JSON.stringify(name)}`);
      this.#kept.push(name);
      return;
    }
    const outcome = parseOutcome(value.toString('utf8'));
    if (!outcome) return this.#strike(host, name, offered);
    this.#open.delete(name);
    this.#bytes -= offered.text.length;
    await this.options.onDone(offered.task, outcome);
    this.#kept.push(name);
    if ('result' in outcome) this.#remember(name, offered.task, sha256Hex(value));
  }

  async #strike(host: QueueHost, name: string, offered: Offered<T>): Promise<void> {
    offered.strikes += 1;
    if (offered.strikes >= STRIKES) {
      throw queueError('INVALID_RESULTS', { run: Number(name), count: STRIKES });
    }
    await host.reject(name);
    this.about.say(`invalid result for run ${Number(name)}; offering the run again`);
  }

  #remember(name: string, task: T, digest: string): void {
    this.#done.set(name, { task, digest });
    const early = this.#early.get(name);
    if (early !== undefined) this.#judge(name, early);
    this.#early.delete(name);
    if (this.#done.size <= REMEMBERED) return;
    const [oldest] = this.#done.keys();
    this.#done.delete(oldest!);
  }

  /** Compares duplicate results from workers that continued after they lost a claim. */
  async #compare(host: QueueHost): Promise<void> {
    for (const { name, value } of await host.again()) {
      const [task = ''] = name.split('/');
      const digest = hasResult(value) ? sha256Hex(value) : null;
      if (digest !== null && this.#done.has(task)) this.#judge(task, digest);
      else if (digest !== null && this.#open.has(task)) this.#early.set(task, digest);
      await host.forget(name);
    }
  }

  #judge(name: string, digest: string): void {
    const { task, digest: first } = this.#done.get(name)!;
    if (digest === first) return;
    const message = 'two workers stored different results for the same run';
    this.options.onDiffers?.(task, message);
  }
}

/** Returns true for a result. Failures are not compared, because they depend on the machine. */
function hasResult(told: Buffer): boolean {
  const outcome = parseQueued(told) as { result?: unknown } | null | undefined;
  return outcome?.result !== undefined;
}

/** Swallows the errors that end a queue. Rethrows all other errors. */
function ended(error: unknown): null {
  const isEnd =
    error instanceof QueueEnded || (error instanceof EtcdError && error.kind === 'no_lease');
  if (!isEnd) throw error;
  return null;
}

/** Largest plausible number of parallel runs in one worker. */
const MOST_JOBS = 256;
/** Length limit for text from a worker, which is untrusted. */
const LONGEST = 300;

class Workers {
  /** Total number of parallel runs across all workers. */
  slots = 0;
  readonly #say: (line: string) => void;
  readonly #told = new Set<string>();
  #shown = '';

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  async look(host: QueueHost): Promise<void> {
    let workers = 0;
    this.slots = 0;
    for (const { name, value } of await host.workers()) {
      const about = parseQueued(value) as { jobs?: unknown; refused?: unknown } | null;
      if (typeof about?.refused === 'string') this.#tellOnce(name, about.refused);
      const jobs = Number(about?.jobs);
      if (!Number.isSafeInteger(jobs) || jobs < 1 || jobs > MOST_JOBS) continue;
      workers += 1;
      this.slots += jobs;
    }
    const shown =
      workers === 0 ? 'no workers yet' : `${workers} workers, ${this.slots} parallel runs`;
    if (shown !== this.#shown) this.#say(shown);
    this.#shown = shown;
  }

  #tellOnce(name: string, refused: string): void {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    this.#say(`a worker declined the queue: ${refused.slice(0, LONGEST)}`);
  }
}
