/**
 * Moves the network's time on to its deadlines, and trims what the order no longer needs. The node
 * whose turn it is appends an empty batch; if it does not, the next node does. A second batch
 * changes nothing.
 */
import { createHash } from 'node:crypto';
import { type Card, type Order, OrderError, type Position } from '../order/order.js';
import { bounds } from './bounds.js';

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

interface TickerOptions {
  node: string;
  /** The nodes that are alive, this one among them or not. */
  alive(): readonly string[];
  /** The network's time by this node. */
  now(): number;
  /** When something happens by itself next, or null. */
  deadline(): number | null;
  /** Appends a batch; resolves when it was applied, or nobody knows. */
  tick(): Promise<unknown>;
}

export class Ticker {
  readonly #options: TickerOptions;
  #timer: NodeJS.Timeout | undefined;
  #ticking = false;
  #closed = false;
  /** What each node has drawn for one deadline: that is looked at after each batch. */
  #drawn = { due: Number.NaN, byName: new Map<string, string>() };

  constructor(options: TickerOptions) {
    this.#options = options;
  }

  /** Looks again when the next deadline is: after each batch. */
  set(): void {
    clearTimeout(this.#timer);
    const { deadline, now } = this.#options;
    const due = deadline();
    if (due === null || this.#closed || this.#ticking) return;
    const ms = due + 1 + this.#rank(due) * bounds.rankMs - now();
    this.#timer = setTimeout(() => void this.#ring(), clamped(ms));
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #ring(): Promise<void> {
    const { deadline, now, tick } = this.#options;
    const due = deadline();
    if (due !== null && due < now()) {
      this.#ticking = true;
      await tick();
      this.#ticking = false;
    }
    this.set();
  }

  /** How many nodes come before this one: another order for each deadline. */
  #rank(due: number): number {
    const { node, alive } = this.#options;
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

/** A deadline that is past and was not fired is tried again soon, not at once. */
const clamped = (ms: number) => Math.min(LONGEST_TIMEOUT_MS, Math.max(bounds.rankMs, ms));

/*
 * Lets go of batches that all nodes have stored, now and then, and where there is no room for more:
 * etcd keeps what it is not told to drop. One node does it. A node that is away keeps what it has
 * still to take, up to a size, where it can have a snapshot of another in its place.
 */

interface TrimmerOptions {
  order: Pick<Order, 'cards' | 'trim'>;
  /** This node's name. */
  node: string;
  /** The other nodes that were heard of a moment ago. */
  alive(): readonly string[];
  warn(message: string): void;
}

/** How far apart places are marked. */
const MARK_BYTES = bounds.trimBytes / 16;

export class Trimmer {
  readonly #options: TrimmerOptions;
  /** Places in the order, ascending, and how many bytes had come until there. */
  readonly #marks: { position: Position; until: number }[] = [];
  #bytes = 0;
  /** What had come when it trimmed last. */
  #last = { version: 0, bytes: 0 };
  #trimming = false;

  constructor(options: TrimmerOptions) {
    this.#options = options;
  }

  /** A batch was applied here, whose requests take so many bytes. */
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

  /** Now, unless it does so already. */
  trim(): void {
    if (!this.#trimming) void this.#trim();
  }

  async #trim(): Promise<void> {
    this.#trimming = true;
    const { order, node, alive, warn } = this.#options;
    try {
      const others = alive();
      if (others.some((other) => other < node)) return;
      const least = this.#leastOf(await order.cards(), new Set([node, ...others]));
      if (least && least.version > 0) await order.trim(least);
    } catch (error) {
      if (!(error instanceof OrderError)) throw error;
      // So far it was done before.
      if (error.code !== 'TRIMMED') warn(`the order is not trimmed now: ${error.message}`);
    } finally {
      this.#trimming = false;
    }
  }

  /** What is before it nobody needs. */
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
      const why = `etcd keeps over ${bounds.keptBytes / 2 ** 20} MiB for nodes that are away`;
      const advice = '`folkmoot cluster forget` those that will not come back';
      this.#options.warn(`${why}: ${away.join(', ')}; ${advice}, and give nodes --peer-listen`);
    }
    return least;
  }

  /** The last place behind which as much stands as is kept for nodes that are away. */
  #keptFrom(): Position | undefined {
    const isFarther = ({ until }: { until: number }) => this.#bytes - until >= bounds.keptBytes;
    const beyond = this.#marks.findLastIndex(isFarther);
    if (beyond > 0) this.#marks.splice(0, beyond);
    return beyond < 0 ? undefined : this.#marks[0]!.position;
  }
}

const first = (positions: readonly Position[]): Position | undefined =>
  [...positions].sort((a, b) => a.version - b.version)[0];
