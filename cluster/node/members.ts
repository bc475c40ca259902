/**
 * The network's nodes by their cards, the card that this node announces about once per second, and
 * the offsets between the nodes' clocks.
 */
import { type HostClock, sleep } from '../../engine/store/host-clock.js';
import { type Card, type Order, OrderError, type Position } from '../order/order.js';
import { bounds } from './bounds.js';

interface MembersOptions {
  host: HostClock;
  order: Pick<Order, 'announce' | 'cards' | 'watchCards'>;
  node: string;
  offsets: ClockOffsets;
  card(): Card;
  applied(): number;
  /**
   * Called with the end of the order, `head`, read from a quorum after this node had applied
   * `applied`.
   */
  ends(head: Position, applied: number): void;
  /** Called if a quorum has answered but has no space for a card. */
  heard(): void;
  /** Called if cards can no longer be announced or read. */
  failed(error: Error): void;
}

export class Members {
  readonly #heardAt = new Map<string, number>();
  readonly #closing = new AbortController();
  #greeted: () => void = () => {};

  constructor(private readonly options: MembersOptions) {}

  /**
   * Starts announcing and watching cards. If there are other nodes, waits for a card, up to a
   * timeout.
   */
  async greet(): Promise<void> {
    const { host, order, node } = this.options;
    const known = await order.cards();
    const first = new Promise<void>((resolve) => {
      this.#greeted = resolve;
    });
    void this.#listen();
    void this.#publishCard();
    if (known.some((card) => card.node !== node)) {
      await Promise.race([first, sleep(host, bounds.greetingMs, this.#closing.signal)]);
    }
  }

  /** Returns the other nodes that announced a card recently. */
  alive(): string[] {
    const oldest = this.options.host.monotonic() - bounds.aliveMs;
    return [...this.#heardAt].flatMap(([name, at]) => (at > oldest ? [name] : []));
  }

  close(): void {
    this.#closing.abort();
  }

  async #publishCard(): Promise<void> {
    const { order, card, applied, ends } = this.options;
    await this.#onAndOn(async () => {
      const before = applied();
      ends(await order.announce(card()), before);
    });
  }

  async #listen(): Promise<void> {
    const { host, order, node, offsets } = this.options;
    await this.#onAndOn(() =>
      order.watchCards((card) => {
        if (card.node === node) return;
        offsets.heard(card.node, card.wall);
        this.#heardAt.set(card.node, host.monotonic());
        this.#greeted();
      }, this.#closing.signal),
    );
  }

  /** Repeats `work`, even after temporary failures. */
  async #onAndOn(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await work();
      } catch (error) {
        if (signal.aborted) return;
        const passing = error instanceof OrderError && passingCodes.has(error.code);
        if (!passing) return this.options.failed(error as Error);
        if (error.code === 'FULL') this.options.heard();
      }
      await sleep(this.options.host, bounds.cardMs, signal);
    }
  }
}

const passingCodes = new Set<string>(['UNAVAILABLE', 'FULL']);

/**
 * Network time at this node: the wall clock, or the last batch's time plus the time elapsed since
 * then, if that is later. Deadlines therefore pass even if all clocks are behind the order.
 */
export class NodeTime {
  #reached: number;
  #since: number;

  constructor(
    private readonly host: HostClock,
    reached: number,
  ) {
    this.#reached = reached;
    this.#since = host.monotonic();
  }

  /** Returns milliseconds since 1970. */
  now(): number {
    const passed = Math.trunc(this.host.monotonic() - this.#since);
    return Math.max(this.host.now(), this.#reached + passed);
  }

  /** Records the network time that a batch has set. */
  came(time: number): void {
    if (time === this.#reached) return;
    this.#reached = time;
    this.#since = this.host.monotonic();
  }
}

/**
 * Offset between this node's clock and the other nodes' clocks, measured from their cards. Samples
 * refer to the monotonic clock, so the offset is right as soon as an operator sets this clock.
 */
export class ClockOffsets {
  /**
   * Samples per node: arrival time by the monotonic clock, and this time minus the remote clock, a
   * difference that includes latency.
   */
  readonly #heard = new Map<string, { at: number; difference: number }[]>();
  /** Cached differences per node, and their time; null after a new sample. */
  #known: { at: number; differences: number[] } | null = null;

  constructor(private readonly host: HostClock) {}

  heard(node: string, wall: number): void {
    const at = this.host.monotonic();
    const kept = (this.#heard.get(node) ?? []).filter((one) => at - one.at < bounds.clockWindowMs);
    kept.push({ at, difference: at - wall });
    this.#heard.set(node, kept);
    this.#known = null;
  }

  /**
   * Returns the milliseconds by which the local clock is ahead; negative if behind. The value is
   * the median over all nodes, including this node with 0. If there are two middle values, the
   * larger offset counts, because neither clock is known to be right.
   */
  ahead(): number {
    const now = this.host.monotonic();
    // Cached, since every request calls this method.
    if (!this.#known || now - this.#known.at > bounds.cardMs) {
      this.#known = { at: now, differences: this.#differencesAt(now) };
    }
    const own = this.host.now() - now;
    const all = [0, ...this.#known.differences.map((one) => Math.trunc(own + one))];
    all.sort((a, b) => a - b);
    const low = all[Math.floor((all.length - 1) / 2)]!;
    const high = all[Math.ceil((all.length - 1) / 2)]!;
    return Math.abs(low) > Math.abs(high) ? low : high;
  }

  #differencesAt(now: number): number[] {
    return [...this.#heard.values()].flatMap((samples) => {
      const recent = samples.filter(({ at }) => now - at < bounds.clockWindowMs);
      // The sample with the lowest latency is the most accurate.
      return recent.length > 0 ? [Math.min(...recent.map(({ difference }) => difference))] : [];
    });
  }
}

export class FailureDetector {
  #heardAt: number;
  /**
   * Time since which known batches are missing, and the last version applied at that time; null if
   * caught up.
   */
  #lagsSince: { since: number; version: number } | null = null;

  constructor(private readonly host: HostClock) {
    this.#heardAt = host.monotonic();
  }

  /** Records that a quorum has answered. */
  heard(): void {
    this.#heardAt = this.host.monotonic();
  }

  /**
   * Compares the end of the order, read from a quorum, with the last applied batch.
   * @returns true if known batches do not arrive.
   */
  compared(head: number, applied: number): boolean {
    this.heard();
    if (head <= applied) this.#lagsSince = null;
    else if (this.#lagsSince?.version !== applied) {
      this.#lagsSince = { since: this.host.monotonic(), version: applied };
    }
    if (this.#lagsSince === null) return false;
    return this.host.monotonic() - this.#lagsSince.since > bounds.overdueMs;
  }

  /** Records that a batch was applied, so batches are arriving. */
  came(): void {
    this.#lagsSince = null;
  }

  /** Returns the milliseconds without contact; 0 in normal operation. */
  cutOffMs(): number {
    const now = this.host.monotonic();
    const since = Math.min(this.#heardAt, this.#lagsSince?.since ?? now);
    return now - since > bounds.cutOffMs ? now - since : 0;
  }
}
