/** What a node tells of how its network is kept: of all nodes, and of whoever keeps the order. */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatInstant } from '../../engine/internal.js';
import type { Card, Order, OrderHealth } from '../order/order.js';
import { bounds } from './bounds.js';

/** One of the nodes, as its last card has it; this one as it is. */
export interface NodeShown {
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

interface OutlookOptions {
  order: Pick<Order, 'head' | 'cards' | 'health'>;
  /** This node's card as of now. */
  card(): Card;
  /** The other nodes that were heard of a moment ago. */
  alive(): readonly string[];
  cutOffMs(): number;
}

export class Outlook {
  readonly #options: OutlookOptions;
  #batches = 0;
  #cards: readonly Card[] = [];
  #health: OrderHealth | null = null;
  /** When it was looked last, and until when that is under way. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<unknown> | null = null;

  constructor(options: OutlookOptions) {
    this.#options = options;
  }

  /** Where the order does not answer in time, what was known last. */
  async shown(): Promise<ClusterStatus> {
    await Promise.race([this.#look(), sleep(bounds.lookMs, undefined, { ref: false })]);
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
  #look(): Promise<unknown> {
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
