/** Caches the next block's electorate, and rebuilds it only after a relevant change. */
import { assertInvariant } from '../protocol/invariants.js';
import { limits } from '../protocol/limits.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import type { RecordOf } from '../protocol/schema/record.js';
import { type Agent, type Agents, column, SCALE, type Standings } from './agents.js';
import type { Alliances } from './alliances.js';
import type { Changes, Reader } from './changes.js';

interface Sources {
  genesis: Genesis;
  agents: Agents;
  alliances: Alliances;
  standings: Standings;
  reader: Reader;
}

export class Electorates {
  readonly #from: Sources;
  /** Recent snapshots by number, least recently used first. */
  readonly #recent = new Map<number, Electorate>();
  #current: Electorate | null = null;
  #stale = true;
  #count = 0;

  constructor(sources: Sources) {
    this.#from = sources;
  }

  get count(): number {
    return this.#count;
  }

  /** Loads the last snapshot. The next block checks that the snapshot is still current. */
  restore(count: number): void {
    this.#count = count;
    if (count > 0) this.#current = this.get(count - 1);
  }

  /** Called after a validator registers, changes status, becomes dormant or wakes up. */
  electorsChanged(): void {
    this.#stale = true;
  }

  reputationChanged(): void {
    if (this.#from.genesis.weights === 'reputation') this.#stale = true;
  }

  alliancesChanged(): void {
    if (this.#from.genesis.weights === 'alliance_bonus') this.#stale = true;
  }

  /** Returns the electors for a block proposed now, by ascending ordinal. */
  electors(): Electors {
    if (!this.#stale && this.#current) {
      return { agents: [...this.#current.agents], weights: [...this.#current.weights] };
    }
    const eligible = this.#validators((agent) => !agent.dormant);
    return { agents: eligible, weights: this.#weights(eligible) };
  }

  /** Returns all active validators, weighted as if none were dormant, by ascending ordinal. */
  active(): Electors {
    const all = this.#validators(() => true);
    return { agents: all, weights: this.#weights(all) };
  }

  /** Returns the number of electors for a block proposed now. */
  size(): number {
    return this.#from.agents.awakeValidators;
  }

  /** Returns the snapshot for a new block, and stores the snapshot if it is new. */
  snapshot(changes: Changes): Electorate {
    if (!this.#stale && this.#current) return this.#current;
    const electors = this.electors();
    this.#stale = false;
    if (this.#current && sameElectors(electors, this.#current)) return this.#current;
    const id = this.#count;
    this.#count += 1;
    changes.put('electorates', id, electors);
    this.#current = electorateOf(id, electors, this.#from.agents);
    this.#remember(this.#current);
    return this.#current;
  }

  get(id: number): Electorate {
    const known = this.#recent.get(id);
    if (known) this.#recent.delete(id);
    const record = known ? undefined : this.#from.reader.read('electorates', id);
    if (!known && !record) throw new Error(`electorate ${id} is not in the store`);
    const electorate = known ?? electorateOf(id, record!, this.#from.agents);
    this.#remember(electorate);
    return electorate;
  }

  #validators(fits: (agent: Agent) => boolean): number[] {
    const { agents } = this.#from;
    const found: number[] = [];
    for (let ordinal = 0; ordinal < agents.count; ordinal += 1) {
      const agent = agents.at(ordinal);
      if (agent.validator && agent.status === 'active' && fits(agent)) found.push(ordinal);
    }
    return found;
  }

  #remember(electorate: Electorate): void {
    this.#recent.set(electorate.id, electorate);
    if (this.#recent.size <= limits.electorateCache) return;
    const oldest = this.#recent.keys().next().value;
    if (oldest !== undefined) this.#recent.delete(oldest);
  }

  #weights(eligible: number[]): number[] {
    const { genesis, standings, alliances, agents } = this.#from;
    if (genesis.weights === 'equal') return eligible.map(() => 1);
    if (genesis.weights === 'reputation') {
      const point = SCALE / 100;
      return eligible.map((o) => Math.max(1, Math.trunc(standings.get(o, column.overall) / point)));
    }
    const electors = new Set(eligible.map((ordinal) => agents.at(ordinal).id));
    return eligible.map((ordinal) => {
      const allies = alliances.alliesOf(agents.at(ordinal).id);
      const voting = [...allies].filter((id) => electors.has(id)).length;
      return 100 + Math.min(10, 2 * voting);
    });
  }
}

/*
 * An electorate is an immutable snapshot of a block's voters and their weights. All blocks proposed
 * while the snapshot is current share it. The snapshot is stored once, and blocks refer to its
 * number.
 */

export interface Electorate {
  readonly id: number;
  /** Ordinals, ascending. */
  readonly agents: readonly number[];
  readonly weights: readonly number[];
  readonly total: number;
  readonly largestWeight: number;
  /** Electors by personality. */
  readonly groups: ReadonlyMap<string, number>;
}

interface Electors {
  agents: number[];
  weights: number[];
}

function electorateOf(
  id: number,
  { agents, weights }: RecordOf['electorates'],
  registered: Agents,
): Electorate {
  const groups = new Map<string, number>();
  let total = 0;
  let largestWeight = 1;
  const { length } = agents;
  assertInvariant(weights.length === length, 'ELECTORATE_ORDER', weights.length, length);
  for (let position = 0; position < length; position += 1) {
    const ordinal = agents[position]!;
    const isNext = position === 0 || ordinal > agents[position - 1]!;
    assertInvariant(isNext, 'ELECTORATE_ORDER', ordinal, agents[position - 1]);
    const { personality } = registered.at(ordinal);
    groups.set(personality, (groups.get(personality) ?? 0) + 1);
    const weight = weights[position]!;
    total += weight;
    largestWeight = Math.max(largestWeight, weight);
  }
  return { id, agents, weights, total, largestWeight, groups };
}

/** Returns an agent's position in an electorate, or -1. */
export function findElector(electorate: Electorate, ordinal: number): number {
  // If all agents with smaller ordinals are electors too, the position equals the ordinal.
  if (electorate.agents[ordinal] === ordinal) return ordinal;
  let low = 0;
  let high = electorate.agents.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = electorate.agents[middle]!;
    if (found === ordinal) return middle;
    if (found < ordinal) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

function sameElectors(a: Electors, b: Pick<Electorate, 'agents' | 'weights'>): boolean {
  const same = (left: readonly number[], right: readonly number[]) =>
    left.length === right.length && left.every((value, index) => value === right[index]);
  return same(a.agents, b.agents) && same(a.weights, b.weights);
}
