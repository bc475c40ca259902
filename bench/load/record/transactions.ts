/** The ledger of transactions: each that was proposed ends final, late or unfinished. */
import type { LoadResult } from '../result.js';
import { type Histogram, newHistogram, record, type Summary } from './histogram.js';

export class Transactions {
  readonly #timeoutMs: number;
  /** Proposed and not final, by their intended time. */
  readonly #open = new Map<number, number>();
  readonly #finality: Histogram = newHistogram();
  #proposed = 0;
  #accepted = 0;
  #finalized = 0;
  #late = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  proposed(count: number, intendedMs: number): void {
    this.#proposed += count;
    this.#open.set(intendedMs, (this.#open.get(intendedMs) ?? 0) + count);
  }

  accepted(count: number): void {
    this.#accepted += count;
  }

  /** How many of them were proposed and were not late. */
  finalized(count: number, intendedMs: number, atMs: number): number {
    const open = this.#open.get(intendedMs) ?? 0;
    const known = Math.min(count, open);
    if (known === open) this.#open.delete(intendedMs);
    else this.#open.set(intendedMs, open - known);
    if (atMs - intendedMs > this.#timeoutMs) {
      this.#late += known;
      return 0;
    }
    this.#finalized += known;
    for (let index = 0; index < known; index += 1) record(this.#finality, atMs - intendedMs);
    return known;
  }

  result(
    measuredS: number,
    stoppedMs: number,
    summary: Summary,
  ): Pick<LoadResult, 'transactions' | 'finality'> {
    const open = [...this.#open];
    const late = open.filter(([intendedMs]) => stoppedMs - intendedMs >= this.#timeoutMs);
    const sum = (groups: [number, number][]) => groups.reduce((all, [, count]) => all + count, 0);
    return {
      transactions: {
        proposed: this.#proposed,
        accepted: this.#accepted,
        finalized: this.#finalized,
        timed_out: this.#late + sum(late),
        unfinished: sum(open) - sum(late),
        tps: measuredS > 0 ? this.#finalized / measuredS : 0,
      },
      finality: summary(this.#finality),
    };
  }
}
