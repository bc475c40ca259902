/**
 * Advances network time to its deadlines, and trims the order. Nodes are ranked randomly per
 * deadline. The first node appends an empty batch when the deadline has passed. If the first node
 * does not, the next node does. A second batch has no effect.
 */
import { createHash } from 'node:crypto';
import type { HostClock } from '../../engine/store/host-clock.js';
import { type Card, type Order, OrderError, type Position } from '../order/order.js';
import { bounds } from './bounds.js';

interface TickerOptions {
  host: HostClock;
  node: string;
  /** Returns the nodes that are alive, possibly including this node. */
  alive(): readonly string[];
  /** Returns network time at this node. */
  now(): number;
  deadline(): number | null;
  /** Appends an empty batch, if the node can. Resolves once the deadline may be tried again. */
  tick(): Promise<unknown>;
}

export class Ticker {
  #cancel: () => void = () => {};
  #begun = false;
  #ticking = false;
  #closed = false;
  /** Hashes of the node names for one deadline, cached because `set` runs after each batch. */
  #drawn = { due: Number.NaN, byName: new Map<string, string>() };

  constructor(private readonly options: TickerOptions) {}

  /** Begins to advance time, once the node has compared its clock with the others'. */
  begin(): void {
    this.#begun = true;
    this.set();
  }

  /** Schedules the next deadline. Called after each batch. */
  set(): void {
    this.#cancel();
    const { deadline, now, host } = this.options;
    const due = deadline();
    if (due === null || !this.#begun || this.#closed || this.#ticking) return;
    const ms = due + 1 + this.#rank(due) * bounds.rankMs - now();
    // A deadline that has passed but was not fired is retried after a pause.
    this.#cancel = host.after(Math.max(bounds.rankMs, ms), () => void this.#ring());
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  async #ring(): Promise<void> {
    const { deadline, now, tick } = this.options;
    const due = deadline();
    if (due !== null && due < now()) {
      this.#ticking = true;
      await tick();
      this.#ticking = false;
    }
    this.set();
  }

  /**
   * Returns the number of nodes that come before this node. The rank differs from deadline to
   * deadline.
   */
  #rank(due: number): number {
    const { node, alive } = this.options;
    const own = this.#draw(due, node);
    return alive().filter((name) => name !== node && this.#draw(due, name) < own).length;
  }

  #draw(due: number, name: string): string {
    if (this.#drawn.due !== due) this.#drawn = { due, byName: new Map() };
    const { byName } = this.#drawn;
    const known = byName.get(name);
    if (known !== undefined) return known;
    const drawn = createHash('sha256').update(`${due} ${name}`).digest('hex');
    byName.set(name, drawn);
    return drawn;
  }
}

/*
 * Deletes batches that all nodes have stored, periodically and when the order runs out of space.
 * Only one node deletes batches. Batches that an absent node still needs are kept, but only up to a
 * size limit if a snapshot is available.
 */

interface TrimmerOptions {
  order: Pick<Order, 'cards' | 'trim'>;
  node: string;
  /** Returns the other nodes that announced a card recently. */
  alive(): readonly string[];
  warn(message: string): void;
}

const MARK_BYTES = bounds.trimBytes / 16;

export class Trimmer {
  /** Positions in the order, ascending, each with the number of bytes up to that position. */
  readonly #marks: { position: Position; until: number }[] = [];
  #bytes = 0;
  #last = { version: 0, bytes: 0 };
  #trimming = false;

  constructor(private readonly options: TrimmerOptions) {}

  /** Records that a batch with `bytes` bytes of requests was applied. */
  came(position: Position, bytes: number): void {
    this.#bytes += bytes + bounds.batchOverheadBytes;
    const { version } = position;
    if (this.#last.version === 0) this.#last.version = version;
    const marked = this.#marks.at(-1)?.until ?? 0;
    if (this.#bytes - marked >= MARK_BYTES) {
      this.#marks.push({ position, until: this.#bytes });
    }
    const enough =
      version - this.#last.version >= bounds.trimBatches ||
      this.#bytes - this.#last.bytes >= bounds.trimBytes;
    if (!enough) return;
    this.#last = { version, bytes: this.#bytes };
    this.trim();
  }

  trim(): void {
    if (!this.#trimming) void this.#trim();
  }

  async #trim(): Promise<void> {
    this.#trimming = true;
    const { order, node, alive, warn } = this.options;
    try {
      const others = alive();
      if (others.some((other) => other < node)) return;
      const least = this.#leastOf(await order.cards(), new Set([node, ...others]));
      if (least && least.version > 0) await order.trim(least);
    } catch (error) {
      if (!(error instanceof OrderError)) throw error;
      // TRIMMED means that a different node has already trimmed further.
      if (error.code !== 'TRIMMED') warn(`cannot trim the order: ${error.message}`);
    } finally {
      this.#trimming = false;
    }
  }

  /** Returns the position up to which no node needs the order. */
  #leastOf(cards: readonly Card[], present: ReadonlySet<string>): Position | undefined {
    const least = first(cards.map(({ position }) => position));
    const most = this.#keptFrom();
    if (!most || !least || least.version >= most.version) return least;
    const here = cards.filter(({ node }) => present.has(node));
    if (here.some(({ peer }) => peer)) {
      return first([most, ...here.map(({ position }) => position)]);
    }
    const away = cards.filter(({ node }) => !present.has(node)).map(({ node }) => node);
    if (away.length > 0) {
      const why = `etcd keeps over ${bounds.keptBytes / 2 ** 20} MiB for absent nodes`;
      const forget = 'remove nodes that will not return with `folkmoot cluster forget`';
      const listen = 'start nodes with --peer-listen';
      this.options.warn(`${why}: ${away.join(', ')}; ${forget}, and ${listen}`);
    }
    return least;
  }

  /** Returns the last position with at least `keptBytes` after it. */
  #keptFrom(): Position | undefined {
    const isFarther = ({ until }: { until: number }) => this.#bytes - until >= bounds.keptBytes;
    const beyond = this.#marks.findLastIndex(isFarther);
    if (beyond > 0) this.#marks.splice(0, beyond);
    return beyond < 0 ? undefined : this.#marks[0]!.position;
  }
}

const first = (positions: readonly Position[]): Position | undefined =>
  [...positions].sort((a, b) => a.version - b.version)[0];
