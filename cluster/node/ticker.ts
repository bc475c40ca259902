/**
 * Moves the network's time on to its deadlines: the node whose turn it is appends a batch of no
 * requests, and where it does not, the next one does. A second one does nothing.
 */
import { createHash } from 'node:crypto';
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
