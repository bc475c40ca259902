/** What each agent did, as counts; and the same for each group. */
import type { AnswerCost } from '../../agents/port/asking.js';
import { NOBODY, type Population } from './population.js';

const kinds = [
  'blocks_proposed',
  'blocks_finalized',
  'votes',
  'approvals',
  'late_votes',
  'equivocations',
  'memes',
  'transactions',
  'decider_questions',
  'decider_calls',
  'decider_failures',
  'decider_input_tokens',
  'decider_output_tokens',
] as const;

export type Deed = (typeof kinds)[number];
export type Deeds = Record<Deed, number>;

export class Activity {
  readonly #population: Population;
  readonly #counts: Record<Deed, Float64Array>;

  constructor(population: Population) {
    this.#population = population;
    const size = population.agents.length;
    const columns = kinds.map((kind) => [kind, new Float64Array(size)]);
    this.#counts = Object.fromEntries(columns) as Record<Deed, Float64Array>;
  }

  /** What others do is not theirs. */
  add(deed: Deed, ordinal: number, times = 1): void {
    if (ordinal !== NOBODY) this.#counts[deed][ordinal]! += times;
  }

  /** An external decider was asked about an agent. */
  asked(ordinal: number, { calls, failed, inputTokens, outputTokens }: AnswerCost): void {
    this.add('decider_questions', ordinal);
    this.add('decider_calls', ordinal, calls);
    if (failed) this.add('decider_failures', ordinal);
    this.add('decider_input_tokens', ordinal, inputTokens);
    this.add('decider_output_tokens', ordinal, outputTokens);
  }

  of(ordinal: number): Deeds {
    const pairs = kinds.map((kind) => [kind, this.#counts[kind][ordinal]!]);
    return Object.fromEntries(pairs) as Deeds;
  }

  /** All that the agents of each group did, by group number. */
  byGroup(deed: Deed): number[] {
    const sums = this.#population.groups.map(() => 0);
    for (const [ordinal, count] of this.#counts[deed].entries()) {
      sums[this.#population.groupOf(ordinal)]! += count;
    }
    return sums;
  }

  /** What external deciders cost. */
  deciders() {
    return {
      decider_questions: this.total('decider_questions'),
      decider_calls: this.total('decider_calls'),
      decider_failures: this.total('decider_failures'),
      decider_input_tokens: this.total('decider_input_tokens'),
      decider_output_tokens: this.total('decider_output_tokens'),
    };
  }

  total(deed: Deed): number {
    return this.byGroup(deed).reduce((sum, count) => sum + count, 0);
  }
}
