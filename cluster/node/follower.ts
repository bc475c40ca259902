/**
 * Takes batches out of the order, each once and in order: it skips a repeated batch, and at a gap
 * it starts again from its own position. It also reports how far the node is behind.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
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
  order: Pick<Order, 'follow' | 'head'>;
  /** What was applied last. */
  position(): Position;
  /**
   * Readies what comes next; what it gives then applies it, in one turn, and is called only if the
   * batch is still the next one.
   */
  prepare(batch: OrderedBatch): Promise<() => void>;
  /** Why it is not heard of now; it tries again. */
  warn(message: string): void;
  /** It cannot go on. */
  failed(error: Error): void;
}

/** Batches are missing between what was applied and what came. */
class Gap extends Error {}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #closing = new AbortController();
  #current = new AbortController();

  constructor(options: FollowerOptions) {
    this.#options = options;
    void this.#run();
  }

  /** Asks anew for what comes next: by another way, where there is one. */
  restart(): void {
    this.#current.abort();
  }

  close(): void {
    this.#closing.abort();
    this.#current.abort();
  }

  async #run(): Promise<void> {
    const { order, position, warn, failed } = this.#options;
    while (!this.#closing.signal.aborted) {
      this.#current = new AbortController();
      const { signal } = this.#current;
      try {
        await order.follow(position(), (batch) => this.#take(batch, signal), signal);
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        const passing = error instanceof OrderError && error.code === 'UNAVAILABLE';
        if (!passing && !(error instanceof Gap)) return failed(asTold(error as Error));
        if (passing) warn(`the order is not heard of: ${error.message}`);
      }
      if (!this.#closing.signal.aborted) await sleep(bounds.retryMs);
    }
  }

  async #take(batch: OrderedBatch, signal: AbortSignal): Promise<void> {
    if (!this.#isNext(batch)) return;
    const apply = await this.#options.prepare(batch);
    // Meanwhile another may have come, or the same once more.
    if (!signal.aborted && this.#isNext(batch)) apply();
  }

  /** False of what was applied already. */
  #isNext({ position }: OrderedBatch): boolean {
    const { version } = this.#options.position();
    if (position.version > version + 1) {
      throw new Gap(`batch ${position.version} came after ${version}`);
    }
    return position.version === version + 1;
  }
}

/** What to do about a node that was away too long is known here only. */
function asTold(error: Error): Error {
  if (!(error instanceof OrderError) || error.code !== 'TRIMMED') return error;
  const peers = 'start it with --peer-listen, as others are, and it gets a snapshot of one';
  const advice = `${peers}; or stop another node, copy its folder, and begin this one on the copy`;
  return new OrderError('TRIMMED', `${error.message}; this node has not had it all: ${advice}`);
}

/** One of the nodes, as its last card has it; this one as it is. */
interface NodeShown {
  node: string;
  alive: boolean;
  /** Of one that is alive when it began, else when it last told of itself. */
  since: string;
  /** The last batch that its folder has, a moment after it was applied; and how many come after. */
  batch: number;
  behind: number;
  entry: number;
  /** Hex; of that entry. */
  digest: string;
  /** Where its clients find it; empty where nobody said. */
  url: string;
  version: string;
}

export interface ClusterStatus {
  /** The node that tells this. */
  node: string;
  /** For how long it has not heard of the order; 0 as long as it does. */
  cut_off_ms: number;
  /** The last batch of the order that it has heard of. */
  batches: number;
  nodes: NodeShown[];
  /** Null where they did not answer in time. */
  etcd: OrderHealth | null;
}

interface StatusReaderOptions {
  order: Pick<Order, 'head' | 'cards' | 'health'>;
  /** This node's card as of now. */
  card(): Card;
  /** The other nodes that were heard of a moment ago. */
  alive(): readonly string[];
  cutOffMs(): number;
}

export class StatusReader {
  readonly #options: StatusReaderOptions;
  #batches = 0;
  #cards: readonly Card[] = [];
  #health: OrderHealth | null = null;
  /** When it was looked last, and until when that is under way. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<unknown> | null = null;

  constructor(options: StatusReaderOptions) {
    this.#options = options;
  }

  /** Where the order does not answer in time, what was known last. */
  async read(): Promise<ClusterStatus> {
    await Promise.race([this.#refresh(), sleep(bounds.lookMs, undefined, { ref: false })]);
    const { card, cutOffMs } = this.#options;
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

  #shownOf(card: Card, own: Card, batches: number): NodeShown {
    const { node, began, wall, position, seq, digest, url, version } = card;
    const alive = node === own.node || this.#options.alive().includes(node);
    const batch = position.version;
    const since = formatInstant(alive ? began : wall);
    const place = { batch, behind: batches - batch, entry: seq, digest };
    return { node, alive, since, ...place, url, version };
  }

  /** However many ask, the order is asked once in a while. */
  #refresh(): Promise<unknown> {
    if (this.#looking) return this.#looking;
    if (performance.now() - this.#lookedAt < bounds.cardMs) return Promise.resolve();
    const { order } = this.#options;
    const ask = async <T>(asked: Promise<T>, take: (answer: T) => void): Promise<void> => {
      // What does not answer leaves what was known before.
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
      this.#lookedAt = performance.now();
      this.#looking = null;
    });
    return this.#looking;
  }
}
