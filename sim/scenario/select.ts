/** Agents that a scenario names: whom a fault hits, drawn by the seed where they are drawn. */
import { type Stream, Streams, sampled } from '../rng.js';
import { groupSizes } from './population.js';
import type { Selector } from './schema/faults.js';
import type { Scenario } from './schema/scenario.js';

/** Ordinals, ascending. `fault` is the fault's place in the scenario: it names the draw. */
export function selected(
  scenario: Scenario,
  whom: readonly Selector[],
  fault: number,
  seed = scenario.seed,
): number[] {
  const streams = new Streams(seed);
  const hit = new Set<number>();
  for (const [place, selector] of whom.entries()) {
    const stream = streams.of('world', `fault/${fault}/${place}`);
    for (const member of drawnOf(scenario, selector, stream)) hit.add(member);
  }
  return [...hit].sort((a, b) => a - b);
}

/** Whom one selector names. */
export function drawnOf(scenario: Scenario, selector: Selector, stream: Stream): number[] {
  const { group, count, share } = selector;
  const pool = membersOf(scenario, group);
  const wanted = count ?? Math.floor(pool.length * (share ?? 1) + 1e-9);
  return sampled(pool, wanted, stream);
}

/** Ordinals of a group, or of all. */
function membersOf(scenario: Scenario, group: string | undefined): number[] {
  const ordinals: number[] = [];
  let first = 0;
  for (const [index, size] of groupSizes(scenario).entries()) {
    const named = group === undefined || scenario.agents[index]!.group === group;
    for (let place = 0; named && place < size; place += 1) ordinals.push(first + place);
    first += size;
  }
  return ordinals;
}
