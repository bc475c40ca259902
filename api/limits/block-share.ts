/**
 * Limits the rate of new blocks to the rate at which a validator may vote, and shares the slots
 * fairly among producers. Pure except for the clock, so that simulations can use it too.
 */

import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { type Figures, serverBounds } from '../contract/limit-table.js';
import { SlidingWindow, WindowPool } from './sliding-window.js';

/** Window for pacing. Using half a minute instead of a minute halves a late producer's wait. */
const PACE_MS = 30_000;
/**
 * Wait after which a producer comes first regardless of reputation, at most once per window. No
 * producer starves, and producers with long waits take only a bounded share from the others.
 */
const PATIENCE_MS = 120_000;
/** Period for breaking ties: the producer with fewer blocks in this period comes first. */
const MEMORY_MS = 300_000;
/** Time for which a slot is reserved for a producer that is expected to ask again. */
const GRACE_MS = 10_000;
const SHORTEST_WAIT_MS = 1_000;
/** Bound of windows and slots, which agents' quotas for proposals never reach. */
const MOST_WINDOWS = 2 ** 22;

interface Waiting {
  producer: string;
  since: number;
  /** End of the producer's reservation. */
  until: number;
  reputation: number;
}

/** Creates a share with the quota for votes. Returns null if limits are off. */
export function createBlockShare(figures: Figures | null, now: () => number): BlockShare | null {
  return figures && new BlockShare(figures.vote, now);
}

export class BlockShare {
  /** The quota for votes. May change while blocks wait. */
  quota: number;
  readonly #now: () => number;
  readonly #pool = new WindowPool(MOST_WINDOWS, MOST_WINDOWS);
  /**
   * Blocks opened: in total and by producer within the window, and by producer within the tie-break
   * period.
   */
  readonly #opened = new SlidingWindow(this.#pool, PACE_MS);
  readonly #openedBy = new Windows(this.#pool, PACE_MS);
  readonly #hadBy = new Windows(this.#pool, MEMORY_MS);
  readonly #patient = new SlidingWindow(this.#pool, PACE_MS);
  readonly #waiting = new Map<string, Waiting>();
  #sweepAt = 0;

  constructor(quota: number, now: () => number) {
    this.quota = quota;
    this.#now = now;
  }

  /** Takes a slot. Returns 0, or the wait in milliseconds. */
  take(producer: string, reputation: number): number {
    const now = this.#now();
    this.#forget(now, producer);
    const waited = this.#waiting.get(producer);
    const since = waited?.since ?? now;
    const asking = { producer, since, until: now, reputation };
    const patient = this.#mostPatient(asking, now);
    const ahead = patient === producer ? 0 : this.#ahead(asking, patient);
    const free = Math.ceil(this.quota / 2) - this.#opened.total;
    if (free > ahead) {
      // A producer that waited is likely to ask again, so others must not overtake it.
      if (waited) this.#waiting.set(producer, { ...asking, since: now, until: now + GRACE_MS });
      this.#use(producer, now);
      if (patient === producer) this.#patient.use(now);
      return 0;
    }
    const freed = this.#opened.nth(ahead - free) ?? now;
    const waitMs = Math.max(SHORTEST_WAIT_MS, freed + PACE_MS - now);
    this.#waiting.set(producer, { ...asking, until: now + waitMs + GRACE_MS });
    return waitMs;
  }

  /** Counts a block opened `ageMs` ago on a different node. */
  openedElsewhere(producer: string, ageMs: number): void {
    this.#forget(this.#now(), producer);
    this.#waiting.delete(producer);
    this.#use(producer, this.#now() - ageMs);
  }

  /** Returns a slot whose block was not opened. */
  refund(producer: string): void {
    this.#opened.refund();
    this.#openedBy.get(producer)?.refund();
    this.#hadBy.get(producer)?.refund();
  }

  /** Returns the producer that comes first because of its long wait, if any. */
  #mostPatient(asking: Waiting, now: number): string | null {
    if (this.#patient.total > 0) return null;
    let longest = asking;
    for (const other of this.#waiting.values()) if (other.since < longest.since) longest = other;
    return now - longest.since >= PATIENCE_MS ? longest.producer : null;
  }

  #ahead(asking: Waiting, patient: string | null): number {
    let ahead = 0;
    for (const other of this.#waiting.values()) {
      const { producer } = other;
      if (producer === asking.producer) continue;
      if (producer === patient || this.#precedes(other, asking)) ahead += 1;
    }
    return ahead;
  }

  /**
   * Orders by fewer blocks in the window, higher reputation, fewer blocks in the tie-break period,
   * longer wait, then name.
   */
  #precedes(a: Waiting, b: Waiting): boolean {
    const order =
      total(this.#openedBy, a) - total(this.#openedBy, b) ||
      b.reputation - a.reputation ||
      total(this.#hadBy, a) - total(this.#hadBy, b) ||
      a.since - b.since;
    return order === 0 ? a.producer < b.producer : order < 0;
  }

  #use(producer: string, now: number): void {
    this.#openedBy.of(producer).use(now);
    this.#hadBy.of(producer).use(now);
    this.#opened.use(now);
  }

  /** Removes expired entries. Only producers with blocks or waits take memory. */
  #forget(now: number, asking: string): void {
    this.#opened.forget(now);
    this.#patient.forget(now);
    for (const [producer, { until }] of this.#waiting) {
      if (until <= now) this.#waiting.delete(producer);
    }
    for (const producer of [asking, ...this.#waiting.keys()]) {
      this.#openedBy.get(producer)?.forget(now);
      this.#hadBy.get(producer)?.forget(now);
    }
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + PACE_MS;
    this.#openedBy.sweep(now);
    this.#hadBy.sweep(now);
  }
}

/** Windows by producer. Contains only producers with a block in their window. */
class Windows extends Map<string, SlidingWindow> {
  readonly #pool: WindowPool;
  readonly #windowMs: number;

  constructor(pool: WindowPool, windowMs: number) {
    super();
    this.#pool = pool;
    this.#windowMs = windowMs;
  }

  of(producer: string): SlidingWindow {
    const known = this.get(producer) ?? new SlidingWindow(this.#pool, this.#windowMs);
    this.set(producer, known);
    return known;
  }

  sweep(now: number): void {
    for (const [producer, own] of this) {
      own.forget(now);
      if (own.total > 0) continue;
      own.close();
      this.delete(producer);
    }
  }
}

const total = (windows: Windows, { producer }: Waiting) => windows.get(producer)?.total ?? 0;

/*
 * Early proposals name a parent block that is still in voting. A producer may send the next block
 * before the parent closes. The server verifies the transactions meanwhile, and checks the proposal
 * again when the parent has closed.
 */

interface WaitingProposal {
  producer: string;
  parent: string;
  go(): void;
}

export class EarlyProposals {
  readonly #waiting = new Set<WaitingProposal>();
  #unlisten: (() => void) | null = null;
  #closed = false;

  constructor(private readonly network: Pick<ServedNetwork, 'votesUntilClose' | 'onEvents'>) {}

  /**
   * Resolves when the block `parent` (hex) has closed, after a timeout, or at shutdown. Returns
   * null if `parent` is not in voting, or if too many proposals are waiting, in total or from the
   * producer (hex key).
   */
  until(parent: string, producer: string): Promise<void> | null {
    if (this.#closed || !this.#isOpen(parent)) return null;
    const { most, most_of_one, ms } = serverBounds.earlyProposals;
    if (this.#waiting.size >= most) return null;
    const own = [...this.#waiting].filter((one) => one.producer === producer);
    if (own.length >= most_of_one) return null;
    this.#unlisten ??= this.network.onEvents(() => this.#look());
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiting.go(), ms);
      const waiting: WaitingProposal = {
        producer,
        parent,
        go: () => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          resolve();
        },
      };
      this.#waiting.add(waiting);
    });
  }

  /** Resolves all waits, so that a stopping server can answer them. */
  close(): void {
    this.#closed = true;
    this.#unlisten?.();
    for (const waiting of this.#waiting) waiting.go();
  }

  #isOpen = (block: string) => this.network.votesUntilClose(block) > 0;

  /** Checks the waiting proposals after each commit. */
  #look(): void {
    for (const waiting of this.#waiting) if (!this.#isOpen(waiting.parent)) waiting.go();
  }
}
