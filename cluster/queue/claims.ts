/**
 * The side of a queue that does the tasks: claims one under a lease, and stores what came of it
 * only if the claim is still its own and nothing is there yet. Whatever it does may be done twice.
 */
import type { EtcdClient, HeldLease, KeyValue, Range } from '../etcd/index.js';
import { isTaskName, keysOf, type QueueKeys } from './keys.js';
import { persist } from './persist.js';

/** More than a host offers at a time. */
const MOST_TASKS = 10_000;

export interface Claim {
  task: string;
  body: Buffer;
  /** When the claim was made: by that it is known as this one. */
  revision: number;
}

/** `late`: the claim was another's by then, who was told what came of it here. */
export type Stored = 'stored' | 'late' | 'gone';

export class QueueClaims {
  readonly #client: EtcdClient;
  readonly #keys: QueueKeys;
  readonly #worker: string;
  readonly #signal: AbortSignal;
  readonly #head: { revision: number; lease: string };
  #free: string[] = [];

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
    this.#keys = keysOf(id);
    this.#worker = worker;
    this.#signal = signal;
    this.#head = { revision: createRevision, lease };
  }

  /** Says who is here, for as long as the lease lasts. */
  async register(lease: HeldLease, about: string): Promise<void> {
    await this.#ask(() => this.#client.put(this.#keys.workers + this.#worker, about, lease.id));
  }

  /** Leaves nothing of this worker behind, and of a queue that is gone nothing of anybody. */
  async leave(): Promise<void> {
    const { head, workers, claims } = this.#keys;
    const [all, theirs] = [workers, claims].map((prefix) => ({ delete: { prefix } }));
    const left = this.#client.transact({
      if: [{ key: head, is: '=', createRevision: this.#head.revision }],
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

  /** Null when nothing is free now. */
  async claim(lease: HeldLease): Promise<Claim | null> {
    if (this.#free.length === 0) this.#free = await this.#look();
    for (let task = this.#free.shift(); task !== undefined; task = this.#free.shift()) {
      const claimed = await this.#claim(task, lease);
      if (claimed) return claimed;
    }
    return null;
  }

  async store({ task, revision }: Claim, text: string): Promise<Stored> {
    const { claims, results, head } = this.#keys;
    const { succeeded, results: found } = await this.#ask(() =>
      this.#client.transact({
        if: [
          { key: claims + task, is: '=', createRevision: revision },
          { key: results + task, is: '=', version: 0 },
          { key: head, is: '=', createRevision: this.#head.revision },
        ],
        do: [{ put: results + task, value: text, lease: this.#head.lease }],
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

  async #tellAgain(task: string, text: string): Promise<Stored> {
    const { again, head } = this.#keys;
    const put = { put: `${again}${task}/${this.#worker}`, value: text, lease: this.#head.lease };
    const { succeeded } = await this.#ask(() =>
      this.#client.transact({
        if: [{ key: head, is: '=', createRevision: this.#head.revision }],
        do: [put],
      }),
    );
    return succeeded ? 'late' : 'gone';
  }

  /** Tasks that nobody has claimed or done; each worker begins at another one. */
  async #look(): Promise<string[]> {
    const { tasks, claims, results } = this.#keys;
    const [offered, ...taken] = await Promise.all([
      this.#names(tasks),
      this.#names(claims),
      this.#names(results),
    ]);
    const busy = new Set(taken.flat());
    const free = offered.filter((name) => isTaskName(name) && !busy.has(name));
    const begin = Number.parseInt(this.#worker.slice(0, 8), 16) % Math.max(1, free.length);
    return [...free.slice(begin), ...free.slice(0, begin)];
  }

  async #names(under: string): Promise<string[]> {
    const how = { limit: MOST_TASKS, keysOnly: true };
    const { values } = await this.#ask(() => this.#client.range({ prefix: under }, how));
    return values.map(({ key }) => key.slice(under.length));
  }

  async #claim(task: string, lease: HeldLease): Promise<Claim | null> {
    const { tasks, claims, results, head } = this.#keys;
    const {
      succeeded,
      revision,
      results: found,
    } = await this.#ask(() =>
      this.#client.transact({
        if: [
          { key: tasks + task, is: '>', version: 0 },
          { key: claims + task, is: '=', version: 0 },
          { key: results + task, is: '=', version: 0 },
          { key: head, is: '=', createRevision: this.#head.revision },
        ],
        do: [{ put: claims + task, value: this.#worker, lease: lease.id }, { get: tasks + task }],
        otherwise: [{ get: claims + task }, { get: tasks + task }],
      }),
    );
    const [claimed, body] = found.map((one) => (one as Range | null)?.values[0]);
    if (!body) return null;
    if (succeeded) return { task, body: body.value, revision };
    // Claimed by this very call, when it was asked for the first time.
    const own = claimed?.value.toString() === this.#worker && claimed.lease === lease.id;
    return own ? { task, body: body.value, revision: claimed.createRevision } : null;
  }

  #ask<T>(ask: () => Promise<T>): Promise<T> {
    return persist(this.#signal, ask);
  }
}
