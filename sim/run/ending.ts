/** End of a run: its rules, its verdict, and the conditions of `length.until` and interventions. */
import type { Collector } from '../measure/collector.js';
import { type Condition, conditionText, getConditions } from '../scenario/interventions.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { EndedBy, Verdict } from './result.js';

/** Run progress. */
export interface Progress {
  /** Fraction done, 0 to 1. */
  done: number;
  closed: number;
  votes: number;
  /** Number of calls to external deciders, if any. */
  calls?: number;
  virtualMs: number;
  /** Last durable entry. */
  seq: number;
  digest: string;
}

export class Ending {
  readonly #scenario: Scenario;
  readonly #collector: Collector;
  readonly #startMs: number;
  /** End of scheduled changes, from which patience counts. */
  readonly #settledAt: number;
  readonly #endAt: number;
  readonly #patienceMs: number;
  readonly #conditions: Conditions;
  #reported = 0;
  #stalled = false;

  /** @param settledAt Unix time in milliseconds at which faults, joins and departures are over. */
  constructor(scenario: Scenario, collector: Collector, settledAt: number, startMs: number) {
    this.#scenario = scenario;
    this.#collector = collector;
    this.#startMs = startMs;
    this.#settledAt = settledAt;
    this.#endAt = startMs + (scenario.length.virtual_ms ?? Number.POSITIVE_INFINITY);
    this.#patienceMs = scenario.patience_periods * scenario.consensus.voting_period_ms;
    this.#conditions = new Conditions(getConditions(scenario.length), collector);
  }

  /** Returns the reason why the run ends, or null. Called after each step. */
  reached(now: number): EndedBy | null {
    this.#collector.passTo(now);
    if (this.#collector.watched?.status) return 'until the watched block closed';
    const { blocks } = this.#scenario.length;
    if (blocks !== undefined && this.#collector.closed >= blocks) return 'blocks';
    const met = this.#conditions.met(now);
    if (met !== null) return `until ${met}`;
    if (now >= this.#endAt) return 'virtual_ms';
    this.#stalled = now >= this.#stalledAt;
    return this.#stalled ? 'stalled' : null;
  }

  /** Time at which the run ends if nothing happens first. The world stops there. */
  get horizon(): number {
    return Math.min(this.#endAt, this.#stalledAt, this.#conditions.metAt);
  }

  /** Time after which no further block is expected, because no block was decided for so long. */
  get #stalledAt(): number {
    return Math.max(this.#collector.lastDecidedAt, this.#settledAt) + this.#patienceMs;
  }

  /**
   * Returns `conflict` if honest agents decided differently. Returns `no_progress` if no block was
   * decided, or if none was decided for several voting periods after all faults had healed.
   */
  verdict(now: number): Verdict {
    const { totals, lastDecidedAt, slotConflicts } = this.#collector;
    if (slotConflicts > 0) return 'conflict';
    if (totals.finalized + totals.rejected === 0 || this.#stalled) return 'no_progress';
    const healed = this.#settledAt > this.#startMs && now > this.#settledAt;
    const quietMs = healed && lastDecidedAt < this.#settledAt ? now - this.#settledAt : 0;
    const periods = this.#scenario.consensus.voting_period_ms * HEALING_PERIODS;
    return quietMs > periods ? 'no_progress' : 'pass';
  }

  /** Reports progress when more blocks have closed since the last report. */
  report(
    now: number,
    position: () => { seq: number; digest: string },
    onProgress: (progress: Progress) => void,
  ): void {
    const { closed, totals } = this.#collector;
    if (closed === this.#reported) return;
    this.#reported = closed;
    const { seq, digest } = position();
    const done = Math.min(1, this.#done(now));
    onProgress({ done, closed, votes: totals.votes, virtualMs: now - this.#startMs, seq, digest });
  }

  #done(now: number): number {
    const { blocks } = this.#scenario.length;
    return Math.max(
      blocks === undefined ? 0 : this.#collector.closed / blocks,
      (now - this.#startMs) / (this.#endAt - this.#startMs),
      this.#conditions.done,
    );
  }
}

/** Number of voting periods after the last fault within which a block must be decided. */
const HEALING_PERIODS = 5;

interface Watched {
  condition: Condition;
  /** Time since which the condition holds, and closed blocks then; null while it does not hold. */
  since: { at: number; closed: number } | null;
}

/** Conditions in `length.until` form. */
export class Conditions {
  readonly #collector: Collector;
  readonly #watched: readonly Watched[];

  constructor(conditions: readonly Condition[], collector: Collector) {
    this.#collector = collector;
    this.#watched = conditions.map((condition) => ({ condition, since: null }));
  }

  /** Returns the description of the first condition that is met, or null. */
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
   * Time at which the next condition is met if nothing changes. Infinite without conditions, and
   * for conditions that wait for blocks.
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

  /** Fraction done of the nearest condition that counts something, 0 to 1. */
  get done(): number {
    let most = 0;
    for (const { condition } of this.#watched) {
      const { measure, group, at_least } = condition;
      if (at_least === undefined || at_least <= 0) continue;
      most = Math.max(most, (this.#collector.currentValue(measure, group) ?? 0) / at_least);
    }
    return Math.min(1, most);
  }

  #waitsForBlocks({ condition, since }: Watched): boolean {
    return since !== null && this.#collector.closed < since.closed + condition.held_blocks;
  }

  #holds({ measure, group, at_least, at_most }: Condition): boolean {
    const value = this.#collector.currentValue(measure, group);
    if (value === null) return false;
    return at_least === undefined ? value <= at_most! : value >= at_least;
  }
}
