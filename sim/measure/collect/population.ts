/** Who is measured: agents by id, and their groups by number. Of others only totals are kept. */
import type { Personality } from '../../scenario/schema/personalities.js';

export interface MeasuredAgent {
  /** Its place in the list, from 0. */
  ordinal: number;
  id: string;
  name: string;
  group: string;
  personality: string;
  strategy: string;
  capabilities: string[];
  /** Its personality's, and what its group changes. */
  traits: Personality;
}

/** Ordinal and group number of an agent that is not of the population. */
export const NOBODY = -1;

export class Population {
  readonly agents: readonly MeasuredAgent[];
  readonly groups: readonly string[];
  readonly #ordinals: ReadonlyMap<string, number>;
  readonly #groupOf: Int32Array;

  constructor(groups: readonly string[], agents: readonly MeasuredAgent[]) {
    this.agents = agents;
    this.groups = groups;
    this.#ordinals = new Map(agents.map(({ id }, index) => [id, index]));
    const numbers = new Map(groups.map((name, index) => [name, index]));
    this.#groupOf = Int32Array.from(agents, ({ ordinal, group }, index) => {
      const number = numbers.get(group);
      if (ordinal === index && number !== undefined) return number;
      throw new Error(
        `agent ${ordinal} of group ${group} stands at ${index}: list and groups differ`,
      );
    });
  }

  ordinalOf(agentId: string): number {
    return this.#ordinals.get(agentId) ?? NOBODY;
  }

  groupOf(ordinal: number): number {
    return ordinal === NOBODY ? NOBODY : this.#groupOf[ordinal]!;
  }

  /** How many are in each group. */
  sizes(): number[] {
    const sizes = this.groups.map(() => 0);
    for (const group of this.#groupOf) sizes[group]! += 1;
    return sizes;
  }
}
