/**
 * How many blocks the network opens, and who may: no more than a validator has votes for, shared
 * fairly among the producers that ask. Pure but for its clock, so that a simulation has it too.
 */
import { type Figures, perMinute } from './limit-table.js';
import { SlidingWindow } from './sliding-window.js';

/** A validator votes on each block once. */
export const BLOCKS_A_MINUTE = perMinute.vote;
const MINUTE_MS = 60_000;
/** The pace: half of them in any half minute, so that who comes late waits half as long. */
const PACE_MS = 30_000;
/** Who has waited for so long comes first, whatever its reputation: nobody waits for ever. */
const PATIENCE_MS = 120_000;
/** How long room is kept for one that is expected to ask, and does not. */
const GRACE_MS = 10_000;
const SHORTEST_WAIT_MS = 1_000;

/** A producer that was told to wait. */
interface Waiting {
  producer: string;
  since: number;
  /** Its place is kept until then. */
  until: number;
  reputation: number;
}

/** As many as the figures in force allow votes; null: no limit. */
export function blockShareOf(figures: Figures | null, now: () => number): BlockShare | null {
  return figures && new BlockShare(figures.vote, now);
}

export class BlockShare {
  /** How many blocks a minute. */
  readonly quota: number;
  readonly #now: () => number;
  /** All blocks opened within the pace, and each producer's within a minute. */
  readonly #opened = new SlidingWindow(PACE_MS);
  readonly #openedBy = new Map<string, SlidingWindow>();
  readonly #waiting = new Map<string, Waiting>();
  #sweepAt = 0;

  constructor(quota: number, now: () => number) {
    this.quota = quota;
    this.#now = now;
  }

  /** Takes room for a block: 0, or for how many milliseconds the producer has to wait. */
  take(producer: string, reputation: number): number {
    const now = this.#now();
    this.#forget(now, producer);
    const waited = this.#waiting.get(producer);
    const since = waited?.since ?? now;
    const asking = { producer, since, until: now, reputation };
    const others = [...this.#waiting.values()].filter((other) => other.producer !== producer);
    const ahead = others.filter((other) => this.#precedes(other, asking, now)).length;
    const free = Math.ceil(this.quota / 2) - this.#opened.total;
    if (free > ahead) {
      // Whoever had to wait is likely to ask again: others do not overtake it meanwhile.
      if (waited) this.#waiting.set(producer, { ...asking, since: now, until: now + GRACE_MS });
      this.#use(producer, now);
      return 0;
    }
    const freed = this.#opened.nth(ahead - free) ?? now;
    const waitMs = Math.max(SHORTEST_WAIT_MS, freed + PACE_MS - now);
    this.#waiting.set(producer, { ...asking, until: now + waitMs + GRACE_MS });
    return waitMs;
  }

  /** The block was not opened after all. */
  giveBack(producer: string): void {
    this.#opened.giveBack();
    this.#openedBy.get(producer)?.giveBack();
  }

  /** Long waits first; then fewer blocks, the higher reputation, the longer wait, the name. */
  #precedes(a: Waiting, b: Waiting, now: number): boolean {
    const patient = ({ since }: Waiting) => (now - since >= PATIENCE_MS ? 0 : 1);
    const order =
      patient(a) - patient(b) ||
      (patient(a) === 0 ? a.since - b.since : 0) ||
      this.#blocksOf(a) - this.#blocksOf(b) ||
      b.reputation - a.reputation ||
      a.since - b.since;
    return order === 0 ? a.producer < b.producer : order < 0;
  }

  #blocksOf({ producer }: Waiting): number {
    return this.#openedBy.get(producer)?.total ?? 0;
  }

  #use(producer: string, now: number): void {
    const own = this.#openedBy.get(producer) ?? new SlidingWindow(MINUTE_MS);
    this.#openedBy.set(producer, own);
    own.use(now);
    this.#opened.use(now);
  }

  /** Whoever is past its time; memory follows those who produce or wait. */
  #forget(now: number, asking: string): void {
    this.#opened.forget(now);
    this.#openedBy.get(asking)?.forget(now);
    for (const [producer, { until }] of this.#waiting) {
      if (until <= now) this.#waiting.delete(producer);
      else this.#openedBy.get(producer)?.forget(now);
    }
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + MINUTE_MS;
    for (const [producer, own] of this.#openedBy) {
      own.forget(now);
      if (own.total === 0) this.#openedBy.delete(producer);
    }
  }
}
