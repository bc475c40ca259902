/**
 * The side of a queue that has the tasks: offers them, takes results, and takes away what is kept.
 * It asks etcd, and is not told: what a watch might lose or tell twice does not matter. Whatever it
 * does may be done twice.
 */
import { randomBytes } from 'node:crypto';
import type { EtcdClient } from '../etcd/client.js';
import { Lease } from '../etcd/lease.js';
import type { KeyValue, Operation, OperationResult, Range } from '../etcd/values.js';
import { EtcdError } from '../etcd/wire.js';
import { ALL, createQueueKeys, HEADS, LARGEST_BYTES, persist, type QueueKeys } from './claims.js';

/** How long a queue outlives a host that has died, in seconds. */
const LEASE_S = 30;
/** Of etcd's 128 in a transaction: one to offer a task, three to take it away. */
const OPERATIONS_AT_ONCE = 120;
/** Results at once: with what they may have at most they are less than etcd answers with. */
const RESULTS_AT_ONCE = 48;
/** What they say of themselves is short. */
const MOST_WORKERS = 10_000;
/** After so many revisions what is past is taken away. */
const COMPACT_EVERY = 20_000;

/** What a host tells of its tasks at once. */
export interface HostUpdate {
  /** Bodies of new ones, by their names. */
  offered?: ReadonlyMap<string, string>;
  /** Those whose results are kept elsewhere: they are taken away. */
  done?: readonly string[];
}

/** Something that lies under a name. */
export interface NamedValue {
  name: string;
  value: Buffer;
}

export class QueueHost {
  readonly id: string;
  readonly #client: EtcdClient;
  readonly #lease: Lease;
  readonly #keys: QueueKeys;
  /** Aborted when etcd has let go of all of it, or may have, or when nobody wants it any more. */
  readonly #ended: AbortSignal;
  #compactedAt = 0;

  /**
   * Begins a queue; workers see it when `announce` is called. It waits for etcd where it must.
   * @param signal ends what waits; all then throws `Ended`, as when etcd has let go of the queue.
   */
  static async open(client: EtcdClient, signal: AbortSignal): Promise<QueueHost> {
    const lease = await persist(signal, () => Lease.grant(client, LEASE_S));
    return new QueueHost(client, lease, signal);
  }

  private constructor(client: EtcdClient, lease: Lease, signal: AbortSignal) {
    this.#client = client;
    this.#lease = lease;
    this.id = randomBytes(8).toString('hex');
    this.#keys = createQueueKeys(this.id);
    this.#ended = AbortSignal.any([lease.lost, signal]);
  }

  /** @param head what workers must know of all tasks. */
  announce(head: string): Promise<void> {
    return this.#put(this.#keys.head, head);
  }

  /**
   * Tells what there is to tell and asks what there is: one transaction, unless it is much.
   * @returns what has been stored and not been taken away, some of it, by the names of tasks.
   */
  async exchange({ offered = new Map(), done = [] }: HostUpdate): Promise<NamedValue[]> {
    const { tasks, claims, results } = this.#keys;
    const lease = this.#lease.id;
    const operations: Operation[] = [];
    let bytes = 0;
    const room = async (more: number) => {
      if (bytes + more > LARGEST_BYTES || operations.length + 3 > OPERATIONS_AT_ONCE) {
        await this.#transact(operations.splice(0));
        bytes = 0;
      }
      bytes += more;
    };
    for (const task of done) {
      await room(0);
      operations.push(...[tasks, claims, results].map((under) => ({ delete: under + task })));
    }
    for (const [task, value] of offered) {
      await room(Buffer.byteLength(value));
      operations.push({ put: tasks + task, value, lease });
    }
    const found = await this.#transact([
      ...operations,
      { get: { prefix: results }, limit: RESULTS_AT_ONCE },
    ]);
    return named((found.at(-1) as Range).values, results);
  }

  /** A file that tasks need. */
  async carry(sha256: string, bytes: Buffer): Promise<void> {
    for (let at = 0; at === 0 || at * LARGEST_BYTES < bytes.length; at += 1) {
      const piece = bytes.subarray(at * LARGEST_BYTES, (at + 1) * LARGEST_BYTES);
      await this.#put(`${this.#keys.files}${sha256}/${String(at).padStart(4, '0')}`, piece);
    }
  }

  /** What was stored by who had lost the claim: the task, and behind a slash the worker. */
  again(): Promise<NamedValue[]> {
    return this.#named(this.#keys.again);
  }

  /** Who takes part, with what they say of themselves. */
  workers(): Promise<NamedValue[]> {
    return this.#named(this.#keys.workers, MOST_WORKERS);
  }

  /** What was stored is none: the task is free again. */
  async reject(task: string): Promise<void> {
    const { claims, results } = this.#keys;
    await this.#transact([{ delete: results + task }, { delete: claims + task }]);
  }

  /** It has been looked at. */
  async forget(again: string): Promise<void> {
    await persist(this.#ended, () => this.#client.delete(this.#keys.again + again));
  }

  /** Takes all of it away; when etcd cannot be asked, the end of the lease does. */
  async close(): Promise<void> {
    await this.#lease.release();
  }

  async #put(key: string, value: string | Uint8Array): Promise<void> {
    await persist(this.#ended, () => this.#client.put(key, value, this.#lease.id));
  }

  async #transact(operations: readonly Operation[]): Promise<OperationResult[]> {
    const { revision, results } = await persist(this.#ended, () =>
      this.#client.transact({ do: operations }),
    );
    await this.#compact(revision);
    return results;
  }

  async #named(under: string, limit: number = RESULTS_AT_ONCE): Promise<NamedValue[]> {
    const found = await persist(this.#ended, () =>
      this.#client.range({ prefix: under }, { limit }),
    );
    return named(found.values, under);
  }

  /**
   * The past of an etcd that holds nothing but queues is of no use to anybody; where something else
   * lives, its past is not ours to take.
   */
  async #compact(revision: number): Promise<void> {
    if (this.#compactedAt === 0) this.#compactedAt = revision;
    if (revision - this.#compactedAt < COMPACT_EVERY) return;
    this.#compactedAt = revision;
    const counted = { limit: 1, keysOnly: true };
    await persist(this.#ended, async () => {
      const all = await this.#client.range({ prefix: '' }, counted);
      const ours = await this.#client.range({ prefix: ALL }, counted);
      if (all.count !== ours.count) return;
      await this.#client.compact(revision).catch((error: unknown) => {
        // Somebody else has done it.
        if (!(error instanceof EtcdError && error.kind === 'compacted')) throw error;
      });
    });
  }
}

const named = (values: readonly KeyValue[], under: string): NamedValue[] =>
  values.map(({ key, value }) => ({ name: key.slice(under.length), value }));

/** The queues that there are, oldest first. */
export async function listQueues(client: EtcdClient): Promise<(KeyValue & { id: string })[]> {
  const { values } = await client.range({ prefix: HEADS }, { limit: 1_000 });
  const found = values.map((head) => ({ ...head, id: head.key.slice(HEADS.length) }));
  return found.sort((a, b) => a.createRevision - b.createRevision);
}
