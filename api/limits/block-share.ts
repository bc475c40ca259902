/**
 * How many blocks the network opens, and which producers may open them: no more than a validator
 * has votes for, shared fairly among the producers that ask. Pure but for its clock, so that a
 * simulation uses it too.
 */

import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { type Figures, serverBounds } from '../contract/limit-table.js';
import { SlidingWindow } from './sliding-window.js';

/** The pace: half of them in any half minute, so that who comes late waits half as long. */
const PACE_MS = 30_000;
/**
 * Who has waited longest, and for so long, comes first whatever its reputation, once within the
 * pace: nobody waits for ever, and many that do take no more than this from the others.
 */
const PATIENCE_MS = 120_000;
/** Who had the odd block within so long, has it not again. */
const MEMORY_MS = 300_000;
/** How long a slot is kept for one that is expected to ask, and does not. */
const GRACE_MS = 10_000;
const SHORTEST_WAIT_MS = 1_000;

/** A producer that has to wait. */
interface Waiting {
  producer: string;
  since: number;
  /** Its slot is kept until then. */
  until: number;
  reputation: number;
}

/** As many as the figures in force allow votes; null: no limit. */
export function createBlockShare(figures: Figures | null, now: () => number): BlockShare | null {
  return figures && new BlockShare(figures.vote, now);
}

export class BlockShare {
  /** How many blocks a minute. */
  readonly quota: number;
  readonly #now: () => number;
  /** The blocks opened within the pace: all, and each producer's; and these within the memory. */
  readonly #opened = new SlidingWindow(PACE_MS);
  readonly #openedBy = new Windows(PACE_MS);
  readonly #hadBy = new Windows(MEMORY_MS);
  /** Those that were opened for a long wait. */
  readonly #patient = new SlidingWindow(PACE_MS);
  readonly #waiting = new Map<string, Waiting>();
  #sweepAt = 0;

  constructor(quota: number, now: () => number) {
    this.quota = quota;
    this.#now = now;
  }

  /** Takes a slot for a block: 0, or for how many milliseconds the producer has to wait. */
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
      // Whoever had to wait is likely to ask again: others do not overtake it meanwhile.
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

  /** A block that was opened at another server of the network, so many milliseconds ago. */
  openedElsewhere(producer: string, ageMs: number): void {
    this.#forget(this.#now(), producer);
    this.#waiting.delete(producer);
    this.#use(producer, this.#now() - ageMs);
  }

  /** The block was not opened after all. */
  refund(producer: string): void {
    this.#opened.refund();
    this.#openedBy.get(producer)?.refund();
    this.#hadBy.get(producer)?.refund();
  }

  /** Who comes first for its long wait, if anybody does now. */
  #mostPatient(asking: Waiting, now: number): string | null {
    if (this.#patient.total > 0) return null;
    let longest = asking;
    for (const other of this.#waiting.values()) if (other.since < longest.since) longest = other;
    return now - longest.since >= PATIENCE_MS ? longest.producer : null;
  }

  /** How many others come before it. */
  #ahead(asking: Waiting, patient: string | null): number {
    let ahead = 0;
    for (const other of this.#waiting.values()) {
      const { producer } = other;
      if (producer === asking.producer) continue;
      if (producer === patient || this.#precedes(other, asking)) ahead += 1;
    }
    return ahead;
  }

  /** Fewer blocks first; then the higher reputation, fewer lately, the longer wait, the name. */
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

  /** What is past its time; memory follows those who produce or wait. */
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

/** A window for each producer that has something in it. */
class Windows extends Map<string, SlidingWindow> {
  readonly #windowMs: number;

  constructor(windowMs: number) {
    super();
    this.#windowMs = windowMs;
  }

  of(producer: string): SlidingWindow {
    const known = this.get(producer) ?? new SlidingWindow(this.#windowMs);
    this.set(producer, known);
    return known;
  }

  sweep(now: number): void {
    for (const [producer, own] of this) {
      own.forget(now);
      if (own.total === 0) this.delete(producer);
    }
  }
}

const total = (windows: Windows, { producer }: Waiting) => windows.get(producer)?.total ?? 0;

/*
 * Proposals that come early: on a block that is still in voting. Its author may send the next block
 * before it knows how this one ends; the signatures in it are verified meanwhile, and it is looked
 * at again when the block has left voting.
 */

interface WaitingProposal {
  producer: string;
  parent: string;
  go(): void;
}

export class EarlyProposals {
  readonly #network: Pick<ServedNetwork, 'votesUntilClose' | 'onEvents'>;
  readonly #waiting = new Set<WaitingProposal>();
  #unlisten: (() => void) | null = null;
  #closed = false;

  constructor(network: Pick<ServedNetwork, 'votesUntilClose' | 'onEvents'>) {
    this.#network = network;
  }

  /**
   * Resolves when the block `parent` (hex) has left voting, after a while, or at a stop; null where
   * it is not in voting, or no more proposals may wait, of this producer (a public key) or in all.
   */
  until(parent: string, producer: string): Promise<void> | null {
    if (this.#closed || !this.#isOpen(parent)) return null;
    const { most, most_of_one, ms } = serverBounds.earlyProposals;
    if (this.#waiting.size >= most) return null;
    const own = [...this.#waiting].filter((one) => one.producer === producer);
    if (own.length >= most_of_one) return null;
    this.#unlisten ??= this.#network.onEvents(() => this.#look());
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

  /** Nobody waits any longer: what is asked of a server that stops is answered. */
  close(): void {
    this.#closed = true;
    this.#unlisten?.();
    for (const waiting of this.#waiting) waiting.go();
  }

  #isOpen = (block: string) => this.#network.votesUntilClose(block) > 0;

  /** At each commit: a block that left voting did so in the log. */
  #look(): void {
    for (const waiting of this.#waiting) if (!this.#isOpen(waiting.parent)) waiting.go();
  }
}
