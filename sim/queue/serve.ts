/**
 * Worker that finds queues, claims runs under a lease, runs them in separate processes, and stores
 * the results. Any etcd client can create a queue, so the worker validates everything in the queue
 * and runs its scripts only with the operator's permission.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EtcdClient, Lease } from '../../cluster/etcd/client.js';
import { EtcdError } from '../../cluster/etcd/wire.js';
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
  findFilesProblem,
  formatOutcome,
  jobReader,
  parseHead,
  type QueueHead,
  writeFile,
} from './messages.js';

interface ServeOptions {
  made: Provenance;
  jobs: number;
  /** Time for which a claim outlives a crashed worker. */
  leaseSeconds: number;
  /** True if a queue's scripts may run here. */
  scripts: boolean;
  /** Idle time after which the worker exits. */
  idleMs?: number;
  /** Stops the worker and releases its runs. */
  signal: AbortSignal;
  say: (line: string) => void;
}

const PAUSE_MS = { least: 50, most: 1_000 } as const;
/** Time spent on an empty queue before looking at other queues. Keeps the processes warm. */
const LINGER_MS = 2_000;
/** Interval for checking that the queue still exists. */
const LOOK_MS = 2_000;

/** @returns number of results stored. */
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

interface Served {
  claims: QueueClaims;
  results: Results;
  read: (body: Buffer) => Job | string;
  signal: AbortSignal;
  /** Claimed runs that have not started. */
  ahead: Claim[];
}

/** Returns the job, or its problem. Checks of a hostile scenario can throw. */
function readSafely(read: Served['read'], body: Buffer): Job | string {
  try {
    return read(body);
  } catch (error) {
    return (error as Error).message;
  }
}

class Worker {
  readonly #name = randomBytes(8).toString('hex');
  /** Ids of refused queues that were reported. */
  readonly #refused = new Set<string>();
  /** Ids of queues whose titles were printed. */
  readonly #begun = new Set<string>();
  #lease: Lease | null = null;
  stored = 0;

  constructor(
    private readonly client: EtcdClient,
    private readonly options: ServeOptions,
  ) {}

  async run(): Promise<void> {
    const { signal, idleMs = Number.POSITIVE_INFINITY } = this.options;
    let busyAt = performance.now();
    let pauseMs: number = PAUSE_MS.least;
    while (!signal.aborted && performance.now() - busyAt < idleMs) {
      const before = this.stored;
      for (const queue of await persist(signal, () => listQueues(this.client))) {
        if (!signal.aborted && !this.#refused.has(queue.id)) await this.#consider(queue);
      }
      const busy = this.stored > before;
      if (busy) busyAt = performance.now();
      pauseMs = busy ? PAUSE_MS.least : Math.min(PAUSE_MS.most, 2 * pauseMs);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  async close(): Promise<void> {
    await this.#lease?.release();
  }

  /**
   * Serves a queue, or refuses it. Any etcd client can create a queue, so a queue that cannot be
   * served must not stop the worker.
   */
  async #consider(queue: Found): Promise<void> {
    try {
      const why = await this.#serve(queue);
      if (why !== null) await this.#refuse(queue, why);
    } catch (error) {
      const isValue = !(error instanceof EtcdError) || error.kind === 'too_large';
      if (error instanceof QueueEnded || !isValue) throw error;
      await this.#refuse(queue, (error as Error).message);
    }
  }

  /** Ignores the queue from now on, and reports the reason to the operator and to the host. */
  async #refuse(queue: Found, why: string): Promise<void> {
    this.#refused.add(queue.id);
    this.options.say(`queue ${queue.id} refused: ${why}`);
    const claims = new QueueClaims(this.client, queue, this.#name, this.options.signal);
    const refused = `${hostname()}: ${why}`;
    await this.#withLease((lease) => claims.register(lease, JSON.stringify({ refused })));
  }

  #problemOf(head: QueueHead): string | null {
    const other = describeBuildMismatch(head, this.options.made);
    if (other !== null) return `different build: ${other}`;
    if (head.scripts && !this.options.scripts) {
      return 'it has scripts; allow them with --scripts, which gives them all your permissions';
    }
    return findFilesProblem(head.files);
  }

  /** Reads a queue's head, and serves the queue. Returns the reason if the worker refuses it. */
  async #serve(queue: Found): Promise<string | null> {
    const found = await persist(this.options.signal, () => this.client.get(queue.key));
    if (found === null) return null;
    const head = parseHead(found.value);
    if (!head) return 'unknown format; it may be of another build';
    const problem = this.#problemOf(head);
    if (problem !== null) return problem;
    if (!this.#begun.has(queue.id)) this.options.say(`queue ${queue.id}: ${head.title}`);
    this.#begun.add(queue.id);
    await this.#serveRuns(queue, head);
    return null;
  }

  /** Serves a queue's runs until the queue stays empty for a while or is deleted. */
  async #serveRuns(queue: Found, head: QueueHead): Promise<void> {
    const { jobs, signal } = this.options;
    const over = new AbortController();
    const end = () => over.abort();
    signal.addEventListener('abort', end);
    const claims = new QueueClaims(this.client, queue, this.#name, over.signal);
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

  /** Stops the runs from a queue that no longer exists. */
  async #endWhenGone(claims: QueueClaims, over: AbortController): Promise<void> {
    const { signal } = over;
    try {
      while (!signal.aborted && (await claims.isThere())) {
        await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
      }
    } catch (error) {
      if (!(error instanceof QueueEnded)) throw error;
    } finally {
      over.abort();
    }
  }

  async *#claimed(served: Served): AsyncGenerator<ClaimedJob> {
    const { claims, results, read, signal } = served;
    const { jobs } = this.options;
    const about = JSON.stringify({ jobs, host: hostname() });
    let registered: Lease | null = null;
    let since = performance.now();
    let pauseMs: number = PAUSE_MS.least;
    while (!signal.aborted) {
      await this.#withLease(async (lease) => {
        if (lease !== registered) {
          // Claims under the old lease have been released.
          served.ahead = [];
          await claims.register(lease, about);
          registered = lease;
        }
        if (served.ahead.length > 0) return;
        served.ahead = await claims.claim(lease, results.ahead(jobs));
      });
      const claim = served.ahead.shift();
      if (claim) {
        const job = readSafely(read, claim.body);
        if (typeof job === 'string') {
          const failure = {
            kind: 'scenario' as const,
            message: `invalid job in the queue: ${job}`,
          };
          await results.add({ claim, text: formatOutcome({ failure }) });
        } else yield { ...job, claim, since: performance.now() };
        since = performance.now();
        pauseMs = PAUSE_MS.least;
        continue;
      }
      if (performance.now() - since > LINGER_MS) return;
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      pauseMs = Math.min(PAUSE_MS.most, 2 * pauseMs);
    }
  }

  #told({ task }: Claim, how: StoreResult): void {
    if (how === 'late') {
      this.options.say(`result of run ${Number(task)} discarded: the lease had expired`);
    }
    if (how === 'stored') this.stored += 1;
  }

  /**
   * Makes a call that needs the lease. After a pause of the process, the lease may have expired
   * before a renewal could notice. The call is then repeated with a new lease.
   */
  async #withLease(call: (lease: Lease) => Promise<void>): Promise<void> {
    for (;;) {
      const lease = await this.#held();
      try {
        return await call(lease);
      } catch (error) {
        if (!(error instanceof EtcdError) || error.kind !== 'no_lease') throw error;
        await lease.release();
      }
    }
  }

  /** Returns the lease that holds the claims, or a new lease if that one was lost. */
  async #held(): Promise<Lease> {
    if (this.#lease && !this.#lease.lost.aborted) return this.#lease;
    const { signal, leaseSeconds } = this.options;
    this.#lease = await persist(signal, () => Lease.grant(this.client, leaseSeconds));
    return this.#lease;
  }
}

/*
 * Results from short runs are stored in batches, because a transaction costs more than one result.
 * No result waits longer than `TOGETHER.ms`.
 */

/** Longest delay before a result is stored, and largest batch. */
const TOGETHER = { ms: 500, most: 16 } as const;
/** Weight of the latest run in the moving average of run times. */
const WEIGHT = 0.2;

interface Done {
  claim: Claim;
  text: string;
}

class Results {
  readonly #claims: Pick<QueueClaims, 'storeAll'>;
  #waiting: Done[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Rejects if a batch was not stored. The next caller then gets the error. */
  #storing: Promise<void> = Promise.resolve();
  /** Average run time; infinite before the first run. */
  #runMs = Number.POSITIVE_INFINITY;

  constructor(
    claims: Pick<QueueClaims, 'storeAll'>,
    private readonly onStored: (claim: Claim, how: StoreResult) => void,
  ) {
    this.#claims = claims;
  }

  /** Returns the number of runs to claim at once. */
  ahead(jobs: number): number {
    const many = Math.floor((TOGETHER.ms * jobs) / this.#runMs);
    return Math.max(1, Math.min(TOGETHER.most, many));
  }

  took(ms: number): void {
    const before = Number.isFinite(this.#runMs) ? this.#runMs : ms;
    this.#runMs = before + WEIGHT * (ms - before);
  }

  /** Resolves when there is room for more. The result is stored soon, or by the next `flush`. */
  async add(done: Done): Promise<void> {
    const bytes = Buffer.byteLength(done.text);
    if (this.#bytes + bytes > LARGEST_BYTES || this.#waiting.length === TOGETHER.most) {
      await this.flush();
    }
    this.#waiting.push(done);
    this.#bytes += bytes;
    this.#timer ??= setTimeout(() => this.flush().catch(() => {}), TOGETHER.ms);
  }

  /** Resolves when all added results are stored. */
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
    for (const [at, how] of each.entries()) this.onStored(some[at]!.claim, how);
  }
}
