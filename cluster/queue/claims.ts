/**
 * The side of a queue that does the tasks: it claims a task under a lease and stores the result
 * only if the claim is still its own and no result is there yet. A task may be done twice. Also the
 * keys of a queue in etcd and how often a write is tried.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdClient } from '../etcd/client.js';
import type { Lease } from '../etcd/lease.js';
import type { Condition, KeyValue, Operation, OperationResult, Range } from '../etcd/values.js';
import { EtcdError } from '../etcd/wire.js';

/** More than a host offers at a time. */
const MOST_TASKS = 10_000;
/** How long what was free is taken to be so still. */
const FRESH_MS = 100;

export interface Claim {
  task: string;
  body: Buffer;
  /** When the claim was made: by that it is known as this one. */
  revision: number;
}

/** `late`: the claim was another's by then, who was told what came of it here. */
export type StoreResult = 'stored' | 'late' | 'gone';

export class QueueClaims {
  readonly #client: EtcdClient;
  readonly #keys: QueueKeys;
  readonly #worker: string;
  readonly #signal: AbortSignal;
  readonly #head: { revision: number; lease: string };
  /** What was free when it was looked at. */
  #free: string[] = [];
  /** When that was; of what has been claimed from since, never. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param head of the queue, as it was found: another one of that name is another queue.
   * @param worker a name that no other process has.
   * @param signal ends what waits for etcd.
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

  /** Says who is here, for as long as the lease lasts. */
  async register(lease: Lease, about: string): Promise<void> {
    await this.#ask(() => this.#client.put(this.#keys.workers + this.#worker, about, lease.id));
  }

  /** Leaves nothing of this worker behind, and of a queue that is gone nothing of anybody. */
  async leave(): Promise<void> {
    const { workers, claims } = this.#keys;
    const [all, theirs] = [workers, claims].map((prefix) => ({ delete: { prefix } }));
    const left = this.#client.transact({
      if: [this.#isHere()],
      do: [{ delete: workers + this.#worker }],
      otherwise: [all!, theirs!],
    });
    // Else the end of the leases does it.
    await left.catch(() => {});
  }

  async isThere(): Promise<boolean> {
    const head = await this.#ask(() => this.#client.get(this.#keys.head));
    return head?.createRevision === this.#head.revision;
  }

  /**
   * Claims some tasks, in one transaction.
   * @returns at most so many; none when nothing is free now.
   */
  async claim(lease: Lease, most = 1): Promise<Claim[]> {
    // What was free a while ago others may have: of several each must be.
    const isFresh = performance.now() - this.#lookedAt < FRESH_MS;
    if (!isFresh && (most > 1 || this.#free.length === 0)) await this.#look();
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    for (let count = most; this.#free.length > 0; count = 1) {
      const some = this.#free.slice(0, count);
      const claimed = await this.#claim(some, lease);
      // One that another was quicker to claim keeps the others from being claimed with it.
      if (claimed.length > 0 || count === 1) this.#free = this.#free.slice(some.length);
      if (claimed.length > 0) return claimed;
    }
    return [];
  }

  /** Stores some results, in one transaction where each of them can be; and looks what is free. */
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
    // Stored by this very call, when it was asked for the first time; or the same by another.
    if (there?.value.equals(Buffer.from(text))) return 'stored';
    return this.#tellAgain(task, text);
  }

  /** @param name `sha256` of a file of the queue. */
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

  /** Tasks that nobody has claimed or done; each worker begins at another one. */
  #see(found: readonly OperationResult[]): void {
    const under = this.#lookedIn();
    const [offered = [], ...taken] = found.map((one, at) =>
      (one as Range).values.map(({ key }) => key.slice(under[at]!.length)),
    );
    const busy = new Set(taken.flat());
    const free = offered.filter((name) => isTaskName(name) && !busy.has(name));
    const begin = Number.parseInt(this.#worker.slice(0, 8), 16) % Math.max(1, free.length);
    this.#free = [...free.slice(begin), ...free.slice(0, begin)];
    this.#lookedAt = performance.now();
  }

  /** All of them, or those that this very call has claimed when it was asked for the first time. */
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

  /** The claim is still its own, and nothing is stored. */
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

  /** It is still the same queue. */
  #isHere(): Condition {
    return { key: this.#keys.head, is: '=', createRevision: this.#head.revision };
  }

  #ask<T>(ask: () => Promise<T>): Promise<T> {
    return persist(this.#signal, ask);
  }
}

/*
 * Where a queue lies in an etcd. All of it but claims and workers hangs on the lease of its host:
 * when the host has gone, however it went, nothing is left.
 */

const ROOT = 'folkmoot/queue/';

/** Of one value: etcd refuses requests of more than 1.5 MiB. */
export const LARGEST_BYTES = 1_048_576;

export const HEADS = `${ROOT}head/`;
/** Every key of every queue. */
export const ALL = ROOT;

export interface QueueKeys {
  head: string;
  /** A task each, which a claim, a result and what was done again have the name of. */
  tasks: string;
  claims: string;
  results: string;
  /** Results of who had lost the claim, by task and worker. */
  again: string;
  workers: string;
  /** In pieces, by sha256 and number. */
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

/** Names of tasks, in their order as text. */
export const taskName = (number: number): string => String(number).padStart(9, '0');
const isTaskName = (name: string): boolean => /^\d{9}$/.test(name);

const PAUSE_MS = { first: 100, most: 2_000 } as const;

/** Nobody wants it any more. */
export class QueueEnded extends Error {
  override name = 'QueueEnded';
}

/**
 * @throws {QueueEnded} when `signal` aborts.
 * @throws {EtcdError} of any kind but `unavailable`.
 */
export async function persist<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  let pauseMs: number = PAUSE_MS.first;
  for (;;) {
    if (signal.aborted) throw new QueueEnded('it has ended');
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EtcdError) || error.kind !== 'unavailable') throw error;
    }
    await pause(pauseMs, undefined, { signal }).catch(() => {});
    pauseMs = Math.min(PAUSE_MS.most, 2 * pauseMs);
  }
}
