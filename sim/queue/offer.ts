/**
 * Runs that workers elsewhere do: offered in a queue, a little ahead of them, and taken back as
 * they are done. The queue is nothing but a way to the workers: what is done is kept by who asked,
 * and when etcd has let go of the queue, what is not done is offered in another one.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdClient } from '../../cluster/etcd/client.js';
import { EtcdError } from '../../cluster/etcd/wire.js';
import { parseJsonOrUndefined } from '../../cluster/order/order.js';
import { QueueEnded, taskName } from '../../cluster/queue/claims.js';
import { QueueHost } from '../../cluster/queue/host.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import type { Provenance } from '../../report/folder.js';
import { type Job, type JobRunner, type JobRunnerOptions, jobDefaults } from '../run/jobs.js';
import {
  formatHead,
  formatJob,
  type NamedFiles,
  parseOutcome,
  QueueError,
  readFiles,
} from './messages.js';

/** Who the runs are offered to, and how they are told of. */
export interface OfferOptions {
  title: string;
  made: Provenance;
  /** Scripts and data that the scenarios name; left out, they name none. */
  files?: NamedFiles;
  /** Lines about workers, and about what does not belong in a queue. */
  say: (line: string) => void;
}

/** Runs that are offered for each one that workers do at a time, and how many in any case. */
const AHEAD = { each: 24, least: 48, most: 4_096, bytes: 16 * 1_048_576 } as const;
/** How often results are looked for: what is offered ahead lasts longer, and each time costs. */
const PAUSE_MS = 200;
/** How often workers and second results are. */
const LOOK_MS = 1_000;
/** Whose second results are compared: the last so many. */
const REMEMBERED = 4_096;
/** How often what is no result may be stored for a run. */
const STRIKES = 3;

/** A `Spread` over the workers of a queue. */
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
  readonly #client: EtcdClient;
  readonly #about: OfferOptions;
  readonly #options: JobRunnerOptions<T>;
  readonly #tasks: Pulled<T>;
  readonly #open = new Map<string, Offered<T>>();
  /** The digest of each result, of the last that came. */
  readonly #done = new Map<string, { task: T; digest: string }>();
  /** Results of who had lost a claim, for runs that are not done yet. */
  readonly #early = new Map<string, string>();
  readonly #workers: Workers;
  readonly #signal: AbortSignal;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #pulling: Promise<void> | null = null;
  readonly #pulled: T[] = [];
  /** Kept, and still in the queue. */
  #kept: string[] = [];
  #exhausted = false;
  #failure: unknown = null;
  #count = 0;
  #bytes = 0;

  constructor(
    client: EtcdClient,
    about: OfferOptions,
    options: JobRunnerOptions<T>,
    tasks: Pulled<T>,
  ) {
    this.#client = client;
    this.#about = about;
    this.#options = options;
    this.#tasks = tasks;
    this.#workers = new Workers(about.say);
    this.#signal = options.signal ?? new AbortController().signal;
  }

  async run(): Promise<void> {
    const files = this.#about.files ? readFiles(this.#about.files) : [];
    while (!this.#isOver()) {
      const host = await QueueHost.open(this.#client, this.#signal).catch(ended);
      if (!host) break;
      try {
        await this.#begin(host, files);
        while (!this.#isOver()) await this.#turn(host);
        // Who was late may have been so at the end.
        if (!this.#signal.aborted) await this.#compare(host);
      } catch (error) {
        ended(error);
        if (!this.#isOver())
          this.#about.say('etcd has let go of the queue: what is not done is offered anew');
      } finally {
        await host.close();
      }
    }
    if (this.#failure) throw this.#failure;
  }

  #isOver(): boolean {
    if (this.#signal.aborted || this.#failure || this.#options.enough?.()) return true;
    return this.#exhausted && this.#open.size === 0 && this.#pulled.length === 0;
  }

  async #begin(host: QueueHost, files: ReturnType<typeof readFiles>): Promise<void> {
    for (const { sha256, body } of files) await host.carry(sha256, body);
    this.#kept = [];
    await host.exchange({
      offered: new Map([...this.#open].map(([name, { text }]) => [name, text])),
    });
    const { title, made, files: named } = this.#about;
    const { wallMs, memoryMb } = { ...jobDefaults, ...this.#options };
    const told = files.map(({ path, sha256, bytes }) => ({ path, sha256, bytes }));
    const scripts = (named?.scripts.length ?? 0) > 0;
    const limits = { wallMs, memoryMb };
    await host.announce(formatHead({ title, made, limits, scripts, files: told }));
  }

  /** Offers what there is room for, takes what is there, and takes away what is kept. */
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
    await Promise.race([pause(PAUSE_MS), ...(this.#pulling ? [this.#pulling] : [])]);
  }

  /** What is to be offered now: tasks that were asked for since there was room. */
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

  /** Asks for tasks beside all else: the next one may wait for results. */
  #pull(room: number): void {
    if (this.#pulling || this.#exhausted || room <= this.#pulled.length) return;
    const pull = async () => {
      while (this.#pulled.length < room) {
        const next = await this.#tasks.next();
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
      this.#about.say(`a result of no run of this queue is left out: ${JSON.stringify(name)}`);
      this.#kept.push(name);
      return;
    }
    const outcome = parseOutcome(value.toString('utf8'));
    if (!outcome) return this.#strike(host, name, offered);
    this.#open.delete(name);
    this.#bytes -= offered.text.length;
    await this.#options.onDone(offered.task, outcome);
    this.#kept.push(name);
    if ('result' in outcome) this.#remember(name, offered.task, sha256Hex(value));
  }

  async #strike(host: QueueHost, name: string, offered: Offered<T>): Promise<void> {
    offered.strikes += 1;
    const what = `what was stored for run ${Number(name)} is no result`;
    if (offered.strikes >= STRIKES) {
      const advice = 'something else writes to this queue; --resume goes on';
      throw new QueueError(`${what}, ${STRIKES} times: ${advice}`);
    }
    await host.reject(name);
    this.#about.say(`${what}: it is offered again`);
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

  /** Second results: of a run that was taken from a worker who went on with it all the same. */
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
    const message = 'two workers have stored two results for the run, which should be the same';
    this.#options.onDiffers?.(task, message);
  }
}

/** A failure has none: how a machine fails is its own. */
function hasResult(told: Buffer): boolean {
  const outcome = parseJsonOrUndefined(told.toString('utf8')) as
    | { result?: unknown }
    | null
    | undefined;
  return outcome?.result !== undefined;
}

/** That etcd has let go of a queue, or nobody wants it, ends it; all else is thrown. */
function ended(error: unknown): null {
  const isEnd =
    error instanceof QueueEnded || (error instanceof EtcdError && error.kind === 'no_lease');
  if (!isEnd) throw error;
  return null;
}

/** What one worker may say that it does at a time: more is no worker of ours. */
const MOST_JOBS = 256;
/** Of a worker's own words, which may be anybody's. */
const LONGEST = 300;

class Workers {
  /** Runs that all of them do at a time. */
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
      const about = parseJsonOrUndefined(value.toString('utf8')) as {
        jobs?: unknown;
        refused?: unknown;
      } | null;
      if (typeof about?.refused === 'string') this.#tellOnce(name, about.refused);
      const jobs = Number(about?.jobs);
      if (!Number.isSafeInteger(jobs) || jobs < 1 || jobs > MOST_JOBS) continue;
      workers += 1;
      this.slots += jobs;
    }
    const shown =
      workers === 0 ? 'no worker yet' : `${workers} workers, ${this.slots} runs at a time`;
    if (shown !== this.#shown) this.#say(shown);
    this.#shown = shown;
  }

  #tellOnce(name: string, refused: string): void {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    this.#say(`a worker takes no part: ${refused.slice(0, LONGEST)}`);
  }
}
