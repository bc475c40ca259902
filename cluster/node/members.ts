/** The nodes of a network, by the cards that they send; and this one's own, about once a second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Card, type Order, OrderError, type Position } from '../order/order.js';
import { bounds } from './bounds.js';
import type { ClockOffsets } from './clocks.js';

interface MembersOptions {
  order: Pick<Order, 'announce' | 'cards' | 'watchCards'>;
  node: string;
  offsets: ClockOffsets;
  /** This node's card as of now. */
  card(): Card;
  /** The last batch that this node has applied. */
  applied(): number;
  /** A quorum knew that the order ends there, after this node had applied `applied`. */
  ends(head: Position, applied: number): void;
  /** A quorum has answered, though it has no room for a card. */
  heard(): void;
  /** Cards cannot be sent or read any more. */
  failed(error: Error): void;
}

export class Members {
  readonly #options: MembersOptions;
  /** When each of the others was last heard of. */
  readonly #heardAt = new Map<string, number>();
  readonly #closing = new AbortController();
  #greeted: () => void = () => {};

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  /** Begins to tell and to listen; where there are others it waits for one of them, or a while. */
  async greet(): Promise<void> {
    const { order, node } = this.#options;
    const known = await order.cards();
    const first = new Promise<void>((resolve) => {
      this.#greeted = resolve;
    });
    void this.#listen();
    void this.#tell();
    if (known.some((card) => card.node !== node)) {
      await Promise.race([first, sleep(bounds.greetingMs)]);
    }
  }

  /** Of those other nodes that were heard of a moment ago. */
  alive(): string[] {
    const oldest = performance.now() - bounds.aliveMs;
    return [...this.#heardAt].flatMap(([name, at]) => (at > oldest ? [name] : []));
  }

  close(): void {
    this.#closing.abort();
  }

  async #tell(): Promise<void> {
    const { order, card, applied, ends } = this.#options;
    await this.#onAndOn(async () => {
      const before = applied();
      ends(await order.announce(card()), before);
    });
  }

  async #listen(): Promise<void> {
    const { order, node, offsets } = this.#options;
    await this.#onAndOn(() =>
      order.watchCards((card) => {
        if (card.node === node) return;
        offsets.heard(card.node, card.wall);
        this.#heardAt.set(card.node, performance.now());
        this.#greeted();
      }, this.#closing.signal),
    );
  }

  /** Again and again, also where it cannot be done for a while: others notice that. */
  async #onAndOn(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await work();
      } catch (error) {
        if (signal.aborted) return;
        const passing = error instanceof OrderError && passingCodes.has(error.code);
        if (!passing) return this.#options.failed(error as Error);
        if (error.code === 'FULL') this.#options.heard();
      }
      await sleep(bounds.cardMs, undefined, { signal }).catch(() => {});
    }
  }
}

const passingCodes = new Set<string>(['UNAVAILABLE', 'FULL']);
