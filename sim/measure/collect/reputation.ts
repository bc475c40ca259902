/** Overall reputation as events tell it: the sum of each group, kept up move by move. */

import { share } from '../statistics.js';
import { NOBODY, type Population } from './population.js';

/** Scores are kept as the engine has them, in whole parts of a point, so that sums are exact. */
const PARTS = 10_000;
const START = 50 * PARTS;

export class PublishedReputation {
  readonly #population: Population;
  /** By agent id; all of the network, so outsiders too. */
  readonly #scores = new Map<string, number>();
  readonly #sums: number[];
  readonly #counts: number[];

  constructor(population: Population) {
    this.#population = population;
    this.#sums = [0, ...population.groups.map(() => 0)];
    this.#counts = [0, ...population.groups.map(() => 0)];
  }

  /** Somebody is there; new ones start in the middle. */
  meet(agentId: string): void {
    if (!this.#scores.has(agentId)) this.#set(agentId, START);
  }

  publish(agentId: string, score: number): void {
    this.#set(agentId, Math.round(score * PARTS));
  }

  /** Of a group; of the whole network when none is named. */
  mean(group = NOBODY): number | null {
    return share(this.#sums[group + 1]! / PARTS, this.#counts[group + 1]!);
  }

  #set(agentId: string, score: number): void {
    const before = this.#scores.get(agentId);
    this.#scores.set(agentId, score);
    const group = this.#population.groupOf(this.#population.ordinalOf(agentId));
    for (const slot of group === NOBODY ? [0] : [0, group + 1]) {
      this.#sums[slot]! += score - (before ?? 0);
      if (before === undefined) this.#counts[slot]! += 1;
    }
  }
}
