/**
 * The nodes of a network by the cards that they send, this node's own card, which it renews about
 * once a second, and the difference between their clocks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Card, type Order, OrderError, type Position } from '../order/order.js';
import { bounds } from './bounds.js';

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
    void this.#publishCard();
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

  async #publishCard(): Promise<void> {
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

/**
 * The network's time by this node: its wall clock, or what has passed since time last moved where
 * that is more. So a deadline comes also where all clocks are behind the end of the order.
 */
export class NodeTime {
  readonly #wall: () => number;
  #reached: number;
  #since = performance.now();

  constructor(wall: () => number, reached: number) {
    this.#wall = wall;
    this.#reached = reached;
  }

  /** Milliseconds since 1970. */
  now(): number {
    const passed = Math.trunc(performance.now() - this.#since);
    return Math.max(this.#wall(), this.#reached + passed);
  }

  /** A batch moved the network's time, or left it where it was. */
  came(time: number): void {
    if (time === this.#reached) return;
    this.#reached = time;
    this.#since = performance.now();
  }
}

/** How far this node's clock is from those of the others, by what they tell about once a second. */
export class ClockOffsets {
  readonly #wall: () => number;
  /** Of each other node: when it was heard, and our clock less its, which has the way in it. */
  readonly #heard = new Map<string, { at: number; ahead: number }[]>();
  /** What it comes to, as of when; null once more was heard. */
  #known: { at: number; ahead: number } | null = null;

  constructor(wall: () => number) {
    this.#wall = wall;
  }

  heard(node: string, wall: number): void {
    const at = performance.now();
    const kept = (this.#heard.get(node) ?? []).filter((one) => at - one.at < bounds.clockWindowMs);
    kept.push({ at, ahead: this.#wall() - wall });
    this.#heard.set(node, kept);
    this.#known = null;
  }

  /**
   * By how many milliseconds this clock is ahead of the others', negative where it is behind. It is
   * the one in the middle that counts, its own among them; of two in the middle the one farther
   * off, since nobody knows which is right.
   */
  ahead(): number {
    const now = performance.now();
    // Each request asks.
    if (!this.#known || now - this.#known.at > bounds.cardMs) {
      this.#known = { at: now, ahead: this.#aheadAt(now) };
    }
    return this.#known.ahead;
  }

  #aheadAt(now: number): number {
    const all = [0];
    for (const samples of this.#heard.values()) {
      const recent = samples.filter(({ at }) => now - at < bounds.clockWindowMs);
      // The one that was quickest on its way tells most.
      if (recent.length > 0) all.push(Math.min(...recent.map(({ ahead }) => ahead)));
    }
    all.sort((a, b) => a - b);
    const low = all[Math.floor((all.length - 1) / 2)]!;
    const high = all[Math.ceil((all.length - 1) / 2)]!;
    return Math.abs(low) > Math.abs(high) ? low : high;
  }
}

export class FailureDetector {
  #heardAt = performance.now();
  /** Since when batches are there that have not come, and after which one; null where all came. */
  #lagsSince: { since: number; version: number } | null = null;

  /** A quorum has answered. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /**
   * A quorum says that the order ends at `head`, and `applied` is applied here.
   * @returns whether what is there does not come.
   */
  compared(head: number, applied: number): boolean {
    this.heard();
    if (head <= applied) this.#lagsSince = null;
    else if (this.#lagsSince?.version !== applied) {
      this.#lagsSince = { since: performance.now(), version: applied };
    }
    return this.#lagsSince !== null && performance.now() - this.#lagsSince.since > bounds.overdueMs;
  }

  /** A batch was applied here: what is behind it comes. */
  came(): void {
    this.#lagsSince = null;
  }

  /** For how many ms nothing was heard; 0 as long as that is usual. */
  cutOffMs(): number {
    const now = performance.now();
    const since = Math.min(this.#heardAt, this.#lagsSince?.since ?? now);
    return now - since > bounds.cutOffMs ? now - since : 0;
  }
}
