/**
 * The end of a run: when it is over, by which rule, and what its verdict is. The conditions of
 * `length.until` are here too; interventions wait for such conditions as well.
 */
import type { Collector } from '../measure/collector.js';
import { type Condition, conditionText, getConditions } from '../scenario/interventions.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { EndedBy, Verdict } from './result.js';

/** How far a run is. */
export interface Progress {
  /** How much of the run is done, 0 to 1. */
  done: number;
  closed: number;
  votes: number;
  /** Calls of external deciders, where there are some. */
  calls?: number;
  virtualMs: number;
  /** What is durable at this point. */
  seq: number;
  digest: string;
}

export class Ending {
  readonly #scenario: Scenario;
  readonly #collector: Collector;
  readonly #startMs: number;
  /** When the last thing that is scheduled to change is over: patience counts from there. */
  readonly #settledAt: number;
  readonly #endAt: number;
  readonly #patienceMs: number;
  readonly #conditions: Conditions;
  #reported = 0;
  #stalled = false;

  /** @param settledAt when faults, joining and leaving are over; milliseconds since 1970. */
  constructor(scenario: Scenario, collector: Collector, settledAt: number, startMs: number) {
    this.#scenario = scenario;
    this.#collector = collector;
    this.#startMs = startMs;
    this.#settledAt = settledAt;
    this.#endAt = startMs + (scenario.length.virtual_ms ?? Number.POSITIVE_INFINITY);
    this.#patienceMs = scenario.patience_periods * scenario.consensus.voting_period_ms;
    this.#conditions = new Conditions(getConditions(scenario.length), collector);
  }

  /** By what the run is over now; null while it goes on. To be asked after each step. */
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

  /** When the run will be over if nothing happens before: the world goes no further. */
  get horizon(): number {
    return Math.min(this.#endAt, this.#stalledAt, this.#conditions.metAt);
  }

  /** No block was decided for so long, faults aside, that nothing more is expected. */
  get #stalledAt(): number {
    return Math.max(this.#collector.lastDecidedAt, this.#settledAt) + this.#patienceMs;
  }

  /**
   * Without any decided block there was no progress; nor when, after all faults had healed, some
   * voting periods went by without one.
   */
  verdict(now: number): Verdict {
    const { totals, lastDecidedAt } = this.#collector;
    if (totals.finalized + totals.rejected === 0 || this.#stalled) return 'no_progress';
    const healed = this.#settledAt > this.#startMs && now > this.#settledAt;
    const quietMs = healed && lastDecidedAt < this.#settledAt ? now - this.#settledAt : 0;
    const periods = this.#scenario.consensus.voting_period_ms * HEALING_PERIODS;
    return quietMs > periods ? 'no_progress' : 'pass';
  }

  /** Reports how far the run is, when more blocks have closed. */
  report(
    now: number,
    position: { seq: number; digest: string },
    onProgress: (progress: Progress) => void,
  ): void {
    const { closed, totals } = this.#collector;
    if (closed === this.#reported) return;
    this.#reported = closed;
    const { seq, digest } = position;
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

/** After faults have healed, a block is expected within so many voting periods. */
const HEALING_PERIODS = 5;

interface Watched {
  condition: Condition;
  /** Since when it holds, and how many blocks had closed then; null while it does not. */
  since: { at: number; closed: number } | null;
}

/** Conditions, as of `length.until`: whether one of them has held for as long as it should. */
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
