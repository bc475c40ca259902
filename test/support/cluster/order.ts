/** An in-memory order, and a connection per node that can lose all traffic. */
import {
  type Batch,
  type Card,
  decodeBatch,
  encodeBatch,
  type Founding,
  type Order,
  OrderError,
  type OrderedBatch,
  type OrderHealth,
  type Position,
} from '../../../dist/cluster/order/order.js';

/** Stores batches as bytes, as an order on other machines does. */
export class MemoryOrder {
  founding: Founding | null = null;
  readonly batches: Buffer[] = [];
  readonly names = new Map<string, string>();
  readonly cards = new Map<string, Card>();
  readonly #waiting = new Set<() => void>();

  batch(version: number): OrderedBatch {
    const bytes = this.batches[version - 1]!;
    return { ...decodeBatch(bytes), position: { version, revision: version * 3 } };
  }

  get head(): Position {
    return { version: this.batches.length, revision: this.batches.length * 3 };
  }

  join(node: string, incarnation: string): void {
    this.names.set(node, `${incarnation}:0`);
  }

  append(batch: Batch): void {
    const { node, incarnation, k } = batch;
    const last = this.names.get(node);
    if (last === `${incarnation}:${k}`) return;
    if (last !== `${incarnation}:${k - 1}`) throw fenced(node);
    this.names.set(node, `${incarnation}:${k}`);
    this.batches.push(encodeBatch(batch));
    this.news();
  }

  tell(card: Card): void {
    const { node, incarnation } = card;
    if (!this.names.get(node)?.startsWith(`${incarnation}:`)) throw fenced(node);
    this.cards.set(card.node, card);
    this.news();
  }

  news(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume();
  }

  /** Resolves at the next change or abort. */
  change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const resume = () => {
        signal.removeEventListener('abort', resume);
        resolve();
      };
      this.#waiting.add(resume);
      signal.addEventListener('abort', resume);
    });
  }
}

const fenced = (node: string) => new OrderError('NODE_NAME_TAKEN', { node });

const lost = () => new OrderError('ETCD_UNAVAILABLE', { message: 'connection lost' });

/** A node's connection to the order. */
export class Door implements Order {
  readonly #order: MemoryOrder;
  /** True to lose all traffic. */
  shut = false;
  constructor(order: MemoryOrder) {
    this.#order = order;
  }

  async found(mine: Founding): Promise<Founding> {
    this.#order.founding ??= structuredClone(mine);
    return structuredClone(this.#order.founding);
  }

  async join(node: string, incarnation: string): Promise<void> {
    this.#order.join(node, incarnation);
  }

  async head(): Promise<Position> {
    return this.#order.head;
  }

  async append(batch: Batch): Promise<void> {
    await this.#pass();
    this.#order.append(batch);
    await this.#pass();
  }

  async follow(
    from: Position,
    take: (batch: OrderedBatch) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    let next = from.version + 1;
    while (!signal.aborted) {
      if (next > this.#order.batches.length || this.shut) {
        await this.#order.change(signal);
        continue;
      }
      await take(this.#order.batch(next));
      next += 1;
    }
  }

  async trim(): Promise<void> {}

  async isAppended(): Promise<boolean> {
    return true;
  }

  async announce(card: Card): Promise<Position> {
    await this.#pass();
    this.#order.tell(card);
    const { head } = this.#order;
    // Further batches may arrive meanwhile.
    await this.#pass();
    return head;
  }

  async health(): Promise<OrderHealth> {
    return { members: 1, answering: this.shut ? 0 : 1, leader: !this.shut };
  }

  async cards(): Promise<Card[]> {
    return [...this.#order.cards.values()];
  }

  async watchCards(tell: (card: Card) => void, signal: AbortSignal): Promise<void> {
    const seen = new Map<string, Card>();
    while (!signal.aborted) {
      for (const [node, card] of this.#order.cards) {
        if (!this.shut && seen.get(node) !== card) tell(card);
        seen.set(node, card);
      }
      await this.#order.change(signal);
    }
  }

  async #pass(): Promise<void> {
    if (this.shut) throw lost();
  }
}
