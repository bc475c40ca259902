/**
 * A worker: looks for queues, claims runs under a lease, does them in processes of its own, and
 * stores what came of them. A queue is what somebody wrote into an etcd: it is checked before any
 * of it is used, and its programs are run only where the worker's owner said so.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdClient } from '../../cluster/etcd/client.js';
import { Lease } from '../../cluster/etcd/lease.js';
import {
  type Claim,
  LARGEST_BYTES,
  persist,
  QueueClaims,
  QueueEnded,
  type StoreResult,
} from '../../cluster/queue/claims.js';
import { listQueues } from '../../cluster/queue/host.js';
import type { Provenance } from '../../report/folder.js';
import { type Job, runJobs } from '../run/jobs.js';
import {
  describeBuildMismatch,
  formatOutcome,
  jobReader,
  parseHead,
  pathProblem,
  type QueueHead,
  writeFile,
} from './messages.js';

interface ServeOptions {
  made: Provenance;
  jobs: number;
  /** How long a claim outlives a worker that has died. */
  leaseSeconds: number;
  /** Whether programs of a queue may run here. */
  scripts: boolean;
  /** Ends the worker when it had nothing to do for so long. */
  idleMs?: number;
  /** Ends it: runs under way are given back. */
  signal: AbortSignal;
  say: (line: string) => void;
}

const PAUSE_MS = { least: 50, most: 1_000 } as const;
/** How long an empty queue is waited for before another one is looked at: processes stay warm. */
const LINGER_MS = 2_000;
/** How often a queue is looked at whose runs take long. */
const LOOK_MS = 2_000;

/** @returns how many results it stored. */
export async function serveQueues(client: EtcdClient, options: ServeOptions): Promise<number> {
  const worker = new Worker(client, options);
  try {
    await worker.run();
  } catch (error) {
    if (!(error instanceof QueueEnded)) throw error;
  } finally {
    await worker.close();
  }
  return worker.stored;
}

type Found = Awaited<ReturnType<typeof listQueues>>[number];

interface ClaimedJob extends Job {
  claim: Claim;
  since: number;
}

/** A queue that is being served. */
interface Served {
  claims: QueueClaims;
  results: Results;
  read: (body: Buffer) => Job | string;
  signal: AbortSignal;
  /** Runs that are claimed and not begun. */
  ahead: Claim[];
}

class Worker {
  readonly #client: EtcdClient;
  readonly #options: ServeOptions;
  readonly #name = randomBytes(8).toString('hex');
  /** Queues that are none, or none for this worker: that was said. */
  readonly #refused = new Set<string>();
  /** Queues whose titles were said. */
  readonly #begun = new Set<string>();
  #lease: Lease | null = null;
  stored = 0;

  constructor(client: EtcdClient, options: ServeOptions) {
    this.#client = client;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { signal, idleMs = Number.POSITIVE_INFINITY } = this.#options;
    let busyAt = performance.now();
    let pauseMs: number = PAUSE_MS.least;
    while (!signal.aborted && performance.now() - busyAt < idleMs) {
      const before = this.stored;
      for (const queue of await persist(signal, () => listQueues(this.#client))) {
        if (!signal.aborted && !this.#refused.has(queue.id)) await this.#consider(queue);
      }
      const busy = this.stored > before;
      if (busy) busyAt = performance.now();
      pauseMs = busy ? PAUSE_MS.least : Math.min(PAUSE_MS.most, 2 * pauseMs);
      await pause(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** What it had claimed is free for others. */
  async close(): Promise<void> {
    await this.#lease?.release();
  }

  async #consider(queue: Found): Promise<void> {
    const head = parseHead(queue.value);
    const why = head ? this.#problemOf(head) : 'it is none of this build';
    if (head && why === null) {
      if (!this.#begun.has(queue.id)) this.#options.say(`queue ${queue.id}: ${head.title}`);
      this.#begun.add(queue.id);
      return this.#serve(queue, head);
    }
    this.#refused.add(queue.id);
    this.#options.say(`queue ${queue.id} is not served: ${why}`);
    const claims = new QueueClaims(this.#client, queue, this.#name, this.#options.signal);
    const refused = `${hostname()}: ${why}`;
    await claims.register(await this.#held(), JSON.stringify({ refused }));
  }

  #problemOf(head: QueueHead): string | null {
    const other = describeBuildMismatch(head, this.#options.made);
    if (other !== null) return `it is of another build: ${other}`;
    if (head.scripts && !this.#options.scripts) {
      return 'it has scripts, which are programs; --scripts runs them, with all you may do here';
    }
    return head.files.map(pathProblem).find((problem) => problem !== null) ?? null;
  }

  /** Works in a queue until it has nothing for a while, or is gone. */
  async #serve(queue: Found, head: QueueHead): Promise<void> {
    const { jobs, signal } = this.#options;
    const over = new AbortController();
    const end = () => over.abort();
    signal.addEventListener('abort', end);
    const claims = new QueueClaims(this.#client, queue, this.#name, over.signal);
    const folder = mkdtempSync(join(tmpdir(), 'folkmoot-worker-'));
    const looking = this.#endWhenGone(claims, over);
    const results = new Results(claims, (claim, how) => this.#told(claim, how));
    const read = jobReader(folder, head.scripts);
    const served: Served = { claims, results, read, signal: over.signal, ahead: [] };
    try {
      for (const file of head.files) writeFile(folder, file, await claims.file(file.sha256));
      await runJobs(this.#claimed(served), {
        ...head.limits,
        jobs,
        signal: over.signal,
        onDone: async ({ claim, since }, outcome) => {
          results.took(performance.now() - since);
          await results.add({ claim, text: formatOutcome(outcome) });
          if (served.ahead.length === 0) await results.flush();
        },
      });
      await results.flush();
    } catch (error) {
      if (!(error instanceof QueueEnded)) throw error;
    } finally {
      over.abort();
      await looking;
      await claims.leave();
      signal.removeEventListener('abort', end);
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Runs that nobody waits for any more are ended. */
  async #endWhenGone(claims: QueueClaims, over: AbortController): Promise<void> {
    const { signal } = over;
    try {
      while (!signal.aborted && (await claims.isThere())) {
        await pause(LOOK_MS, undefined, { signal }).catch(() => {});
      }
    } catch (error) {
      if (!(error instanceof QueueEnded)) throw error;
    } finally {
      over.abort();
    }
  }

  async *#claimed(served: Served): AsyncGenerator<ClaimedJob> {
    const { claims, results, read, signal } = served;
    const { jobs } = this.#options;
    const about = JSON.stringify({ jobs, host: hostname() });
    let registered: Lease | null = null;
    let since = performance.now();
    let pauseMs: number = PAUSE_MS.least;
    while (!signal.aborted) {
      const lease = await this.#held();
      if (lease !== registered) {
        // What was claimed under another one is free for others.
        served.ahead = [];
        await claims.register(lease, about);
      }
      registered = lease;
      if (served.ahead.length === 0) served.ahead = await claims.claim(lease, results.ahead(jobs));
      const claim = served.ahead.shift();
      if (claim) {
        const job = read(claim.body);
        if (typeof job === 'string') {
          const failure = { kind: 'scenario' as const, message: `what the queue offers: ${job}` };
          await results.add({ claim, text: JSON.stringify({ failure }) });
        } else yield { ...job, claim, since: performance.now() };
        since = performance.now();
        pauseMs = PAUSE_MS.least;
        continue;
      }
      if (performance.now() - since > LINGER_MS) return;
      await pause(pauseMs, undefined, { signal }).catch(() => {});
      pauseMs = Math.min(PAUSE_MS.most, 2 * pauseMs);
    }
  }

  #told({ task }: Claim, how: StoreResult): void {
    if (how === 'late') {
      this.#options.say(`run ${Number(task)} was not this worker's any more: its lease had ended`);
    }
    if (how === 'stored') this.stored += 1;
  }

  /** The lease under which claims are made; another one when that was lost. */
  async #held(): Promise<Lease> {
    if (this.#lease && !this.#lease.lost.aborted) return this.#lease;
    const { signal, leaseSeconds } = this.#options;
    this.#lease = await persist(signal, () => Lease.grant(this.#client, leaseSeconds));
    return this.#lease;
  }
}

/*
 * Results of short runs are stored some at a time, since each time costs more than one result does.
 * None waits for long.
 */

/** How long a result may wait for others, and how many go together. */
const TOGETHER = { ms: 500, most: 16 } as const;
/** How much the last run counts for what the next ones may take. */
const WEIGHT = 0.2;

interface Done {
  claim: Claim;
  text: string;
}

class Results {
  readonly #claims: Pick<QueueClaims, 'storeAll'>;
  readonly #onStored: (claim: Claim, how: StoreResult) => void;
  #waiting: Done[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Rejects when something could not be stored: whoever comes next is told. */
  #storing: Promise<void> = Promise.resolve();
  /** What a run takes; of none that is known yet, for ever. */
  #runMs = Number.POSITIVE_INFINITY;

  constructor(
    claims: Pick<QueueClaims, 'storeAll'>,
    onStored: (claim: Claim, how: StoreResult) => void,
  ) {
    this.#claims = claims;
    this.#onStored = onStored;
  }

  /** How many runs are to be claimed at once by who does so many at a time. */
  ahead(jobs: number): number {
    const many = Math.floor((TOGETHER.ms * jobs) / this.#runMs);
    return Math.max(1, Math.min(TOGETHER.most, many));
  }

  /** A run was done, which took so long. */
  took(ms: number): void {
    const before = Number.isFinite(this.#runMs) ? this.#runMs : ms;
    this.#runMs = before + WEIGHT * (ms - before);
  }

  /** Resolves when there is room for more; it is stored soon, or with the next `flush`. */
  async add(done: Done): Promise<void> {
    const bytes = Buffer.byteLength(done.text);
    if (this.#bytes + bytes > LARGEST_BYTES || this.#waiting.length === TOGETHER.most) {
      await this.flush();
    }
    this.#waiting.push(done);
    this.#bytes += bytes;
    this.#timer ??= setTimeout(() => this.flush().catch(() => {}), TOGETHER.ms);
  }

  /** Resolves when all is stored that was added. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const some = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    if (some.length > 0) this.#storing = this.#storing.then(() => this.#store(some));
    return this.#storing;
  }

  async #store(some: readonly Done[]): Promise<void> {
    const each = await this.#claims.storeAll(some);
    for (const [at, how] of each.entries()) this.#onStored(some[at]!.claim, how);
  }
}
