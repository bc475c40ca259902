/** Overall reputation as events tell it: the sum of each group, kept up move by move. */
import { share } from '../statistics.js';
import { NOBODY, type Population } from './population.js';

/** Scores are kept as the engine has them, in whole parts of a point, so that sums are exact. */
const PARTS = 10_000;
const START = 50 * PARTS;

interface Standing {
  score: number;
  /** The number of its group, or NOBODY. */
  readonly group: number;
}

export class PublishedReputation {
  readonly #population: Population;
  /** By agent id; all of the network, so outsiders too. */
  readonly #standings = new Map<string, Standing>();
  readonly #sums: number[];
  readonly #counts: number[];

  constructor(population: Population) {
    this.#population = population;
    this.#sums = [0, ...population.groups.map(() => 0)];
    this.#counts = [0, ...population.groups.map(() => 0)];
  }

  /** Somebody is there; new ones start in the middle. */
  meet(agentId: string): void {
    if (!this.#standings.has(agentId)) this.#begin(agentId, START);
  }

  publish(agentId: string, score: number): void {
    const parts = Math.round(score * PARTS);
    const known = this.#standings.get(agentId);
    if (!known) return this.#begin(agentId, parts);
    this.#move(known.group, parts - known.score);
    known.score = parts;
  }

  /** Of a group; of the whole network when none is named. */
  mean(group = NOBODY): number | null {
    return share(this.#sums[group + 1]! / PARTS, this.#counts[group + 1]!);
  }

  #begin(agentId: string, score: number): void {
    const group = this.#population.groupOf(this.#population.ordinalOf(agentId));
    this.#standings.set(agentId, { score, group });
    this.#move(group, score);
    this.#counts[0]! += 1;
    if (group !== NOBODY) this.#counts[group + 1]! += 1;
  }

  #move(group: number, by: number): void {
    this.#sums[0]! += by;
    if (group !== NOBODY) this.#sums[group + 1]! += by;
  }
}
