/** When a run is over, and what its verdict is. */
import type { Collector } from '../measure/index.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Faults } from '../world/links/faults.js';
import type { Verdict } from './result.js';

/** How far a run is. */
export interface Progress {
  /** How much of the run is done, 0 to 1. */
  done: number;
  closed: number;
  votes: number;
  virtualMs: number;
  /** What is durable at this point. */
  seq: number;
  digest: string;
}

export class Ending {
  readonly #scenario: Scenario;
  readonly #collector: Collector;
  readonly #startMs: number;
  /** When the last fault is over. */
  readonly #healedAt: number;
  readonly #patienceMs: number;
  #reported = 0;
  #stalled = false;

  constructor(scenario: Scenario, collector: Collector, faults: Faults, startMs: number) {
    this.#scenario = scenario;
    this.#collector = collector;
    this.#startMs = startMs;
    this.#healedAt = faults.overAt ?? startMs;
    this.#patienceMs = scenario.patience_periods * scenario.consensus.voting_period_ms;
  }

  /** Whether the scenario's length is reached. */
  reached(now: number): boolean {
    return this.#done(now) >= 1;
  }

  /** Nothing was finalized for so long, faults aside, that nothing more is expected. */
  stalled(now: number): boolean {
    const since = Math.max(this.#collector.lastFinalizedAt, this.#healedAt);
    this.#stalled = now - since > this.#patienceMs;
    return this.#stalled;
  }

  /**
   * Without any finalized block there was no progress; nor when, after all faults had healed, a
   * voting period and more went by without one.
   */
  verdict(now: number): Verdict {
    const { counts, lastFinalizedAt } = this.#collector;
    if (counts.finalized === 0 || this.#stalled) return 'no_progress';
    const healed = this.#healedAt > this.#startMs && now > this.#healedAt;
    const quietMs = healed && lastFinalizedAt < this.#healedAt ? now - this.#healedAt : 0;
    const periods = this.#scenario.consensus.voting_period_ms * HEALING_PERIODS;
    return quietMs > periods ? 'no_progress' : 'pass';
  }

  /** Reports how far the run is, when more blocks have closed. */
  report(
    now: number,
    position: { seq: number; digest: string },
    onProgress: (progress: Progress) => void,
  ): void {
    const { closed, counts } = this.#collector;
    if (closed === this.#reported) return;
    this.#reported = closed;
    const { seq, digest } = position;
    const done = Math.min(1, this.#done(now));
    onProgress({ done, closed, votes: counts.votes, virtualMs: now - this.#startMs, seq, digest });
  }

  #done(now: number): number {
    const { blocks, virtual_ms, until } = this.#scenario.length;
    const { closed, counts } = this.#collector;
    return Math.max(
      blocks === undefined ? 0 : closed / blocks,
      virtual_ms === undefined ? 0 : (now - this.#startMs) / virtual_ms,
      until === undefined ? 0 : counts[until.measure] / until.reaches,
    );
  }
}

/** After faults have healed, a block is expected within so many voting periods. */
const HEALING_PERIODS = 5;
