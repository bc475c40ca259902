/**
 * Worker side of a queue. A worker claims a task under a lease, and stores the result only if the
 * worker still holds the claim and no result is stored yet. A task may be executed twice. This
 * module also contains the queue's keys in etcd, and retries calls.
 */

import { hostClock, sleep } from '../../engine/store/host-clock.js';
import type { EtcdClient, Lease } from '../etcd/client.js';
import type { Condition, KeyValue, Operation, OperationResult, Range } from '../etcd/values.js';
import { EtcdError } from '../etcd/wire.js';

/** Limit on listed tasks, above the number that a host offers at a time. */
const MOST_TASKS = 10_000;
/** Time for which a list of free tasks is used. */
const FRESH_MS = 100;

export interface Claim {
  task: string;
  body: Buffer;
  /** Revision at which the claim was made, which identifies the claim. */
  revision: number;
}

/**
 * `late`: the worker no longer holds the claim, or a different result is stored; the result was
 * stored for comparison. `gone`: the queue has ended.
 */
export type StoreResult = 'stored' | 'late' | 'gone';

export class QueueClaims {
  readonly #client: EtcdClient;
  readonly #keys: QueueKeys;
  readonly #worker: string;
  readonly #signal: AbortSignal;
  readonly #head: { revision: number; lease: string };
  #free: string[] = [];
  /** Time of the last list of free tasks; -Infinity once tasks have been claimed from it. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param head of the queue. A later head with the same id belongs to a different queue.
   * @param worker unique name of the process.
   * @param signal ends retries.
   */
  constructor(
    client: EtcdClient,
    { id, createRevision, lease }: KeyValue & { id: string },
    worker: string,
    signal: AbortSignal,
  ) {
    this.#client = client;
    this.#keys = createQueueKeys(id);
    this.#worker = worker;
    this.#signal = signal;
    this.#head = { revision: createRevision, lease };
  }

  /** Registers the worker for as long as the lease lasts. */
  async register(lease: Lease, about: string): Promise<void> {
    await this.#ask(() => this.#client.put(this.#keys.workers + this.#worker, about, lease.id));
  }

  /** Deletes this worker's keys. If the queue is gone, deletes all workers' keys. */
  async leave(): Promise<void> {
    const { workers, claims } = this.#keys;
    const [all, theirs] = [workers, claims].map((prefix) => ({ delete: { prefix } }));
    const left = this.#client.transact({
      if: [this.#isHere()],
      do: [{ delete: workers + this.#worker }],
      otherwise: [all!, theirs!],
    });
    // If the call fails, the leases expire.
    await left.catch(() => {});
  }

  async isThere(): Promise<boolean> {
    const head = await this.#ask(() => this.#client.get(this.#keys.head));
    return head?.createRevision === this.#head.revision;
  }

  /**
   * Claims free tasks in one transaction.
   * @returns at most `most` claims; an empty list if no task is free.
   */
  async claim(lease: Lease, most = 1): Promise<Claim[]> {
    // A batch is claimed as a whole, so a task taken meanwhile would make the claim fail.
    const isFresh = this.#client.clock.monotonic() - this.#lookedAt < FRESH_MS;
    if (!isFresh && (most > 1 || this.#free.length === 0)) await this.#look();
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    for (let count = most; this.#free.length > 0; count = 1) {
      const some = this.#free.slice(0, count);
      const claimed = await this.#claim(some, lease);
      // A task taken by a different worker makes the batch fail. The tasks are then claimed one by
      // one.
      if (claimed.length > 0 || count === 1) this.#free = this.#free.slice(some.length);
      if (claimed.length > 0) return claimed;
    }
    return [];
  }

  /** Stores results, in one transaction if all can be stored, and lists the free tasks. */
  async storeAll(done: readonly { claim: Claim; text: string }[]): Promise<StoreResult[]> {
    if (done.length > 1) {
      const { succeeded, results } = await this.#ask(() =>
        this.#client.transact({
          if: [...done.flatMap(({ claim }) => this.#storable(claim)), this.#isHere()],
          do: [...done.map(({ claim, text }) => this.#result(claim, text)), ...this.#looks()],
        }),
      );
      if (succeeded) {
        this.#see(results.slice(done.length));
        return done.map(() => 'stored');
      }
    }
    const each: StoreResult[] = [];
    for (const { claim, text } of done) each.push(await this.store(claim, text));
    return each;
  }

  async store(claim: Claim, text: string): Promise<StoreResult> {
    const { task } = claim;
    const { results } = this.#keys;
    const { succeeded, results: found } = await this.#ask(() =>
      this.#client.transact({
        if: [...this.#storable(claim), this.#isHere()],
        do: [this.#result(claim, text)],
        otherwise: [{ get: results + task }],
      }),
    );
    if (succeeded) return 'stored';
    const there = (found[0] as Range).values[0];
    // An earlier attempt of this call, or a different worker, has stored an equal result.
    if (there?.value.equals(Buffer.from(text))) return 'stored';
    return this.#tellAgain(task, text);
  }

  /** @param name SHA-256 of a file in the queue. */
  async file(name: string): Promise<Buffer> {
    const under = `${this.#keys.files}${name}/`;
    const pieces = await this.#ask(() => this.#client.range({ prefix: under }, { limit: 48 }));
    return Buffer.concat(pieces.values.map(({ value }) => value));
  }

  async #tellAgain(task: string, text: string): Promise<StoreResult> {
    const put = {
      put: `${this.#keys.again}${task}/${this.#worker}`,
      value: text,
      lease: this.#head.lease,
    };
    const { succeeded } = await this.#ask(() =>
      this.#client.transact({ if: [this.#isHere()], do: [put] }),
    );
    return succeeded ? 'late' : 'gone';
  }

  async #look(): Promise<void> {
    const { results } = await this.#ask(() => this.#client.transact({ do: this.#looks() }));
    this.#see(results);
  }

  #looks(): Operation[] {
    const how = { limit: MOST_TASKS, keysOnly: true };
    return this.#lookedIn().map((prefix) => ({ get: { prefix }, ...how }));
  }

  #lookedIn(): string[] {
    const { tasks, claims, results } = this.#keys;
    return [tasks, claims, results];
  }

  /** Lists the tasks without a claim or result. Each worker starts at a different task. */
  #see(found: readonly OperationResult[]): void {
    const under = this.#lookedIn();
    const [offered = [], ...taken] = found.map((one, at) =>
      (one as Range).values.map(({ key }) => key.slice(under[at]!.length)),
    );
    const busy = new Set(taken.flat());
    const free = offered.filter((name) => isTaskName(name) && !busy.has(name));
    const begin = Number.parseInt(this.#worker.slice(0, 8), 16) % Math.max(1, free.length);
    this.#free = [...free.slice(begin), ...free.slice(0, begin)];
    this.#lookedAt = this.#client.clock.monotonic();
  }

  /**
   * Claims all tasks or none. Returns the new claims, or claims made by an earlier attempt of this
   * call.
   */
  async #claim(names: readonly string[], lease: Lease): Promise<Claim[]> {
    const { tasks, claims, results } = this.#keys;
    const {
      succeeded,
      revision,
      results: found,
    } = await this.#ask(() =>
      this.#client.transact({
        if: [
          ...names.flatMap((task): Condition[] => [
            { key: tasks + task, is: '>', version: 0 },
            { key: claims + task, is: '=', version: 0 },
            { key: results + task, is: '=', version: 0 },
          ]),
          this.#isHere(),
        ],
        do: names.flatMap((task) => [
          { put: claims + task, value: this.#worker, lease: lease.id },
          { get: tasks + task },
        ]),
        otherwise: names.flatMap((task) => [{ get: claims + task }, { get: tasks + task }]),
      }),
    );
    const values = found.map((one) => (one as Range | null)?.values[0]);
    return names.flatMap((task, at) => {
      const [claimed, body] = values.slice(2 * at);
      if (!body) return [];
      if (succeeded) return { task, body: body.value, revision };
      const own = claimed?.value.toString() === this.#worker && claimed.lease === lease.id;
      return own ? { task, body: body.value, revision: claimed.createRevision } : [];
    });
  }

  /**
   * Returns the conditions for storing a result: the worker holds the claim, no result is stored.
   */
  #storable({ task, revision }: Claim): Condition[] {
    const { claims, results } = this.#keys;
    return [
      { key: claims + task, is: '=', createRevision: revision },
      { key: results + task, is: '=', version: 0 },
    ];
  }

  #result({ task }: Claim, text: string) {
    return { put: this.#keys.results + task, value: text, lease: this.#head.lease };
  }

  #isHere(): Condition {
    return { key: this.#keys.head, is: '=', createRevision: this.#head.revision };
  }

  #ask<T>(ask: () => Promise<T>): Promise<T> {
    return persist(this.#signal, ask);
  }
}

/*
 * A queue's keys in etcd. All keys except claims and workers are under the host's lease, so they
 * disappear when the host does.
 */

const ROOT = 'folkmoot/queue/';

/** Size limit for a value, since etcd refuses requests above 1.5 MiB. */
export const LARGEST_BYTES = 1_048_576;

export const HEADS = `${ROOT}head/`;
export const ALL = ROOT;

export interface QueueKeys {
  head: string;
  /** One key per task. Claims, results and repeated results use the same name. */
  tasks: string;
  claims: string;
  results: string;
  /** Results from workers that had lost the claim, by task and worker. */
  again: string;
  workers: string;
  /** Pieces, by SHA-256 and number. */
  files: string;
}

export function createQueueKeys(id: string): QueueKeys {
  const under = (what: string) => `${ROOT}${what}/${id}/`;
  return {
    head: `${HEADS}${id}`,
    tasks: under('task'),
    claims: under('claim'),
    results: under('result'),
    again: under('again'),
    workers: under('worker'),
    files: under('file'),
  };
}

/** Zero-padded, so that names sort in numeric order. */
export const taskName = (number: number): string => String(number).padStart(9, '0');
const isTaskName = (name: string): boolean => /^\d{9}$/.test(name);

const PAUSE_MS = { first: 100, most: 2_000 } as const;

/** Thrown if the queue has ended or its caller has aborted. */
export class QueueEnded extends Error {
  override name = 'QueueEnded';
}

/**
 * Retries a call while etcd is unavailable.
 * @throws {QueueEnded} if `signal` aborts.
 * @throws {EtcdError} with any kind except `unavailable`.
 */
export async function persist<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  let pauseMs: number = PAUSE_MS.first;
  for (;;) {
    if (signal.aborted) throw new QueueEnded('queue has ended');
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EtcdError) || error.kind !== 'unavailable') throw error;
    }
    await sleep(hostClock, pauseMs, signal);
    pauseMs = Math.min(PAUSE_MS.most, 2 * pauseMs);
  }
}
