/**
 * Host side of a queue, which offers tasks, collects results and deletes finished tasks. The host
 * polls etcd instead of watching, so lost or repeated events do not matter. Every operation can be
 * repeated.
 */
import { randomBytes } from 'node:crypto';
import { type EtcdClient, Lease } from '../etcd/client.js';
import type { KeyValue, Operation, OperationResult, Range } from '../etcd/values.js';
import { EtcdError } from '../etcd/wire.js';
import { ALL, createQueueKeys, HEADS, LARGEST_BYTES, persist, type QueueKeys } from './claims.js';

/** Lifetime of a queue after its host dies, in seconds. */
const LEASE_S = 30;
/**
 * Operations per transaction, of which etcd allows 128. A task takes one operation to offer and
 * three to delete.
 */
const OPERATIONS_AT_ONCE = 120;
/** Results per read. Even at maximum size, they stay below the client's response limit. */
const RESULTS_AT_ONCE = 48;
const MOST_WORKERS = 10_000;
const COMPACT_EVERY = 20_000;

export interface HostUpdate {
  /** Bodies of new tasks, by name. */
  offered?: ReadonlyMap<string, string>;
  /** Tasks to delete, whose results are stored elsewhere. */
  done?: readonly string[];
}

export interface NamedValue {
  name: string;
  value: Buffer;
}

export class QueueHost {
  readonly id: string;
  readonly #client: EtcdClient;
  readonly #lease: Lease;
  readonly #keys: QueueKeys;
  /** Aborts when the lease is lost or may be lost, or when the caller aborts. */
  readonly #ended: AbortSignal;
  #compactedAt = 0;

  /**
   * Opens a queue, which workers see after `announce`. Retries while etcd is unavailable.
   * @param signal ends retries; calls then reject with `QueueEnded`, as after a lost lease.
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

  /** @param head settings for all tasks. */
  announce(head: string): Promise<void> {
    return this.#put(this.#keys.head, head);
  }

  /**
   * Applies an update and reads results, in one transaction unless the update is large.
   * @returns stored results that were not deleted, up to a limit, by task name.
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

  async carry(sha256: string, bytes: Buffer): Promise<void> {
    for (let at = 0; at === 0 || at * LARGEST_BYTES < bytes.length; at += 1) {
      const piece = bytes.subarray(at * LARGEST_BYTES, (at + 1) * LARGEST_BYTES);
      await this.#put(`${this.#keys.files}${sha256}/${String(at).padStart(4, '0')}`, piece);
    }
  }

  /** Lists repeated results: `task/worker`. */
  again(): Promise<NamedValue[]> {
    return this.#named(this.#keys.again);
  }

  workers(): Promise<NamedValue[]> {
    return this.#named(this.#keys.workers, MOST_WORKERS);
  }

  /** Discards an invalid result, which frees its task. */
  async reject(task: string): Promise<void> {
    const { claims, results } = this.#keys;
    await this.#transact([{ delete: results + task }, { delete: claims + task }]);
  }

  /** Deletes a repeated result after its comparison. */
  async forget(again: string): Promise<void> {
    await persist(this.#ended, () => this.#client.delete(this.#keys.again + again));
  }

  /** Deletes the queue. If etcd is unavailable, the queue expires with its lease. */
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
   * Compacts etcd, but only if it holds nothing except queues, because the history of other data is
   * not ours to delete.
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
        // A different client has already compacted.
        if (!(error instanceof EtcdError && error.kind === 'compacted')) throw error;
      });
    });
  }
}

const named = (values: readonly KeyValue[], under: string): NamedValue[] =>
  values.map(({ key, value }) => ({ name: key.slice(under.length), value }));

/**
 * Lists all queues, oldest first, without the values of their heads, which together may exceed the
 * client's response limit.
 */
export async function listQueues(client: EtcdClient): Promise<(KeyValue & { id: string })[]> {
  const { values } = await client.range({ prefix: HEADS }, { limit: 1_000, keysOnly: true });
  const found = values.map((head) => ({ ...head, id: head.key.slice(HEADS.length) }));
  return found.sort((a, b) => a.createRevision - b.createRevision);
}
