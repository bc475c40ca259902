/** Whether a node hears of the order: its quorum answers, and what stands in it comes. */
import { bounds } from './bounds.js';

export class Contact {
  #heardAt = performance.now();
  /** Since when batches are there that have not come, and after which one; null where all came. */
  #behind: { since: number; version: number } | null = null;

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
    if (head <= applied) this.#behind = null;
    else if (this.#behind?.version !== applied) {
      this.#behind = { since: performance.now(), version: applied };
    }
    return this.#behind !== null && performance.now() - this.#behind.since > bounds.overdueMs;
  }

  /** A batch was applied here: what is behind it comes. */
  came(): void {
    this.#behind = null;
  }

  /** For how many ms nothing was heard; 0 as long as that is usual. */
  cutOffMs(): number {
    const now = performance.now();
    const since = Math.min(this.#heardAt, this.#behind?.since ?? now);
    return now - since > bounds.cutOffMs ? now - since : 0;
  }
}
