/**
 * Electorates: who may vote on a block and with what weight. A snapshot is immutable and shared by
 * all blocks that were proposed while it held; it is stored once and referred to by its number.
 */
import type { RecordOf } from '../../protocol/schema/index.js';
import type { Agents } from './agents.js';

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

export interface Electors {
  agents: number[];
  weights: number[];
}

/** A snapshot out of its record. */
export function electorateOf(
  id: number,
  { agents, weights }: RecordOf['electorates'],
  registered: Agents,
): Electorate {
  const groups = new Map<string, number>();
  let total = 0;
  let largestWeight = 1;
  for (const [position, ordinal] of agents.entries()) {
    const { personality } = registered.at(ordinal);
    groups.set(personality, (groups.get(personality) ?? 0) + 1);
    const weight = weights[position]!;
    total += weight;
    largestWeight = Math.max(largestWeight, weight);
  }
  return { id, agents, weights, total, largestWeight, groups };
}

/** Where an agent stands in the electorate, or -1. */
export function positionOf(electorate: Electorate, ordinal: number): number {
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

export function sameElectors(a: Electors, b: Pick<Electorate, 'agents' | 'weights'>): boolean {
  const same = (left: readonly number[], right: readonly number[]) =>
    left.length === right.length && left.every((value, index) => value === right[index]);
  return same(a.agents, b.agents) && same(a.weights, b.weights);
}
