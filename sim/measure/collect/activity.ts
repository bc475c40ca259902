/** What each agent did, as counts; and the same for each group. */
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
] as const;

export type Deed = (typeof kinds)[number];
export type Deeds = Record<Deed, number>;

export class Activity {
  readonly #population: Population;
  readonly #counts: Record<Deed, Uint32Array>;

  constructor(population: Population) {
    this.#population = population;
    const size = population.agents.length;
    const columns = kinds.map((kind) => [kind, new Uint32Array(size)]);
    this.#counts = Object.fromEntries(columns) as Record<Deed, Uint32Array>;
  }

  /** What others do is not theirs. */
  add(deed: Deed, ordinal: number): void {
    if (ordinal !== NOBODY) this.#counts[deed][ordinal]! += 1;
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

  total(deed: Deed): number {
    return this.byGroup(deed).reduce((sum, count) => sum + count, 0);
  }
}
