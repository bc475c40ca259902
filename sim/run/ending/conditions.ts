/** Conditions, as of `length.until`: whether one of them has held for as long as it should. */
import type { Collector } from '../../measure/index.js';
import { type Condition, conditionText } from '../../scenario/conditions.js';

interface Watched {
  condition: Condition;
  /** Since when it holds, and how many blocks had closed then; null while it does not. */
  since: { at: number; closed: number } | null;
}

export class Conditions {
  readonly #collector: Collector;
  readonly #watched: readonly Watched[];

  constructor(conditions: readonly Condition[], collector: Collector) {
    this.#collector = collector;
    this.#watched = conditions.map((condition) => ({ condition, since: null }));
  }

  /** The first that is met now, in words; null when none is. To be asked after each step. */
  met(now: number): string | null {
    const { closed } = this.#collector;
    for (const one of this.#watched) {
      const { condition } = one;
      one.since = this.#holds(condition) ? (one.since ?? { at: now, closed }) : null;
      if (!one.since || this.#waitsForBlocks(one)) continue;
      if (now >= one.since.at + condition.held_ms) return conditionText(condition);
    }
    return null;
  }

  /**
   * When the first of those that hold is met, if nothing changes; infinite without any, and for
   * those that wait for blocks to close, whatever the time.
   */
  get metAt(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const one of this.#watched) {
      const { condition, since } = one;
      if (!since || condition.held_ms === 0 || this.#waitsForBlocks(one)) continue;
      first = Math.min(first, since.at + condition.held_ms);
    }
    return first;
  }

  /** How near the nearest is, 0 to 1: of those that count up to something. */
  get done(): number {
    let most = 0;
    for (const { condition } of this.#watched) {
      const { measure, group, at_least } = condition;
      if (at_least === undefined || at_least <= 0) continue;
      most = Math.max(most, (this.#collector.present(measure, group) ?? 0) / at_least);
    }
    return Math.min(1, most);
  }

  #waitsForBlocks({ condition, since }: Watched): boolean {
    return since !== null && this.#collector.closed < since.closed + condition.held_blocks;
  }

  #holds({ measure, group, at_least, at_most }: Condition): boolean {
    const value = this.#collector.present(measure, group);
    if (value === null) return false;
    return at_least === undefined ? value <= at_most! : value >= at_least;
  }
}
