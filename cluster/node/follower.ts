/**
 * Follows the order and applies each batch once, in order. The follower skips repeated batches, and
 * at a gap restarts from the last applied position. This module also contains the cluster status,
 * which shows the nodes that are alive and their lag.
 */
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import { type HostClock, sleep } from '../../engine/store/host-clock.js';
import {
  type Card,
  type Order,
  OrderError,
  type OrderedBatch,
  type OrderHealth,
  type Position,
} from '../order/order.js';
import { bounds } from './bounds.js';

interface FollowerOptions {
  host: HostClock;
  order: Pick<Order, 'follow' | 'head'>;
  position(): Position;
  /**
   * Prepares the next batch. The returned function applies the batch in one event-loop turn. It is
   * called only if the batch is still next.
   */
  prepare(batch: OrderedBatch): Promise<() => void>;
  /** Called if the order is unreachable. The follower retries. */
  warn(message: string): void;
  failed(error: Error): void;
}

/** Thrown if batches are missing between the last applied batch and the batch that arrived. */
class Gap extends Error {}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #closing = new AbortController();
  #current = new AbortController();

  constructor(options: FollowerOptions) {
    this.#options = options;
    void this.#run();
  }

  /** Restarts the stream, at a different member if possible. */
  restart(): void {
    this.#current.abort();
  }

  close(): void {
    this.#closing.abort();
    this.#current.abort();
  }

  async #run(): Promise<void> {
    const { host, order, position, warn, failed } = this.#options;
    while (!this.#closing.signal.aborted) {
      this.#current = new AbortController();
      const { signal } = this.#current;
      try {
        await order.follow(position(), (batch) => this.#take(batch, signal), signal);
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        const passing = error instanceof OrderError && error.code === 'UNAVAILABLE';
        if (!passing && !(error instanceof Gap)) return failed(withAdvice(error as Error));
        if (passing) warn(`cannot follow the order, retrying: ${error.message}`);
      }
      if (!this.#closing.signal.aborted) await sleep(host, bounds.retryMs);
    }
  }

  async #take(batch: OrderedBatch, signal: AbortSignal): Promise<void> {
    if (!this.#isNext(batch)) return;
    const apply = await this.#options.prepare(batch);
    // During preparation, the stream may have restarted or the batch may have arrived again.
    if (!signal.aborted && this.#isNext(batch)) apply();
  }

  /** Returns false for a batch that is already applied. */
  #isNext({ position }: OrderedBatch): boolean {
    const { version } = this.#options.position();
    if (position.version > version + 1) {
      throw new Gap(`batch ${position.version} follows ${version}`);
    }
    return position.version === version + 1;
  }
}

function withAdvice(error: Error): Error {
  if (!(error instanceof OrderError) || error.code !== 'TRIMMED') return error;
  return new OrderError('TOO_FAR_BEHIND', { message: error.message }, { cause: error });
}

/** A node's state according to its last card; for this node, its current state. */
interface NodeView {
  node: string;
  alive: boolean;
  /** Start time of a node that is alive; otherwise the time of its last card. */
  since: string;
  /** Last batch that the node has stored, and the number of batches after it. */
  batch: number;
  behind: number;
  entry: number;
  /** Digest after that entry, in hex. */
  digest: string;
  /** URL for clients; empty if unknown. */
  url: string;
  version: string;
}

export interface ClusterStatus {
  /** The node that reports this status. */
  node: string;
  /** Milliseconds without contact with the order; 0 in normal operation. */
  cut_off_ms: number;
  batches: number;
  nodes: NodeView[];
  /** Null if etcd did not answer in time. */
  etcd: OrderHealth | null;
}

interface StatusReaderOptions {
  host: HostClock;
  order: Pick<Order, 'head' | 'cards' | 'health'>;
  card(): Card;
  /** Returns the other nodes that announced a card recently. */
  alive(): readonly string[];
  cutOffMs(): number;
}

export class StatusReader {
  #batches = 0;
  #cards: readonly Card[] = [];
  #health: OrderHealth | null = null;
  /** Time of the last refresh, and the refresh in progress. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<unknown> | null = null;

  constructor(private readonly options: StatusReaderOptions) {}

  /** Reads the status. If the order does not answer in time, returns the last known status. */
  async read(): Promise<ClusterStatus> {
    const { card, cutOffMs, host } = this.options;
    const late = new AbortController();
    await Promise.race([this.#refresh(), sleep(host, bounds.lookMs, late.signal)]);
    late.abort();
    const own = card();
    const others = this.#cards.filter(({ node }) => node !== own.node);
    const all = [own, ...others].sort((a, b) => (a.node < b.node ? -1 : 1));
    const kept = all.map(({ position }) => position.version);
    const batches = Math.max(this.#batches, ...kept);
    return {
      node: own.node,
      cut_off_ms: Math.trunc(cutOffMs()),
      batches,
      nodes: all.map((one) => this.#shownOf(one, own, batches)),
      etcd: this.#health,
    };
  }

  #shownOf(card: Card, own: Card, batches: number): NodeView {
    const { node, began, wall, position, seq, digest, url, version } = card;
    const alive = node === own.node || this.options.alive().includes(node);
    const batch = position.version;
    const since = formatInstant(alive ? began : wall);
    const place = { batch, behind: batches - batch, entry: seq, digest };
    return { node, alive, since, ...place, url, version };
  }

  /** Queries the order at most once per interval, shared by all callers. */
  #refresh(): Promise<unknown> {
    if (this.#looking) return this.#looking;
    if (this.options.host.monotonic() - this.#lookedAt < bounds.cardMs) return Promise.resolve();
    const { order } = this.options;
    const ask = async <T>(asked: Promise<T>, take: (answer: T) => void): Promise<void> => {
      // A failed query leaves the last known value in place.
      await asked.then(take, () => {});
    };
    this.#looking = Promise.all([
      ask(order.head(), ({ version }) => {
        this.#batches = version;
      }),
      ask(order.cards(), (cards) => {
        this.#cards = cards;
      }),
      ask(order.health(), (health) => {
        this.#health = health;
      }),
    ]).finally(() => {
      this.#lookedAt = this.options.host.monotonic();
      this.#looking = null;
    });
    return this.#looking;
  }
}
