/** Who hears whom: the social graph of a scenario, drawn once from its own stream. */
import { type Stream, Streams, shuffled } from '../../../rng.js';
import { groupSizes } from '../../../scenario/population.js';
import type { Scenario } from '../../../scenario/schema/scenario.js';
import { joinByChance } from './by-chance.js';
import { inOrder, join, type Linked, type Neighbours, unlinked } from './linked.js';
import { joinRing, rewire } from './ring.js';
import { attach } from './scale-free.js';

type Edges = readonly (readonly [number, number])[];

/** The graph of a run, by its seed. @param edges of topology `edges`: what its file says. */
export const drawnGraph = (scenario: Scenario, seed: string, edges: Edges): Neighbours =>
  graphOf(scenario, new Streams(seed).of('world', 'graph'), edges);

/**
 * Neighbours of each agent, ascending; links are mutual, and nobody is linked to himself.
 * @param edges of topology `edges`: what its file says.
 */
export function graphOf(scenario: Scenario, stream: Stream, edges: Edges = []): Neighbours {
  const { topology, population: size } = scenario;
  const { kind, degree, rewired } = topology;
  const everybody = Array.from({ length: size }, (_, agent) => agent);
  if (kind === 'complete') return everybody.map((agent) => without(everybody, agent));
  const linked = unlinked(size);
  if (kind === 'edges') for (const [a, b] of edges) join(linked, a, b);
  else if (kind === 'groups') joinGroups(linked, groupSizes(scenario), degree, rewired, stream);
  else {
    // Groups are not neighbourhoods unless the topology says so: seats are drawn.
    const seats = scenario.agents.length > 1 ? [...shuffled(size, stream)] : everybody;
    if (kind === 'erdos_renyi') joinByChance(linked, probabilityOf(scenario), stream);
    else if (kind === 'scale_free') attach(linked, seats, degree / 2, stream);
    else joinRing(linked, seats, degree / 2);
    if (kind === 'small_world') rewire(linked, seats, degree / 2, rewired, everybody, stream);
  }
  return inOrder(linked);
}

const without = (agents: readonly number[], agent: number) =>
  agents.filter((other) => other !== agent);

/** Of each link of an Erdos-Renyi graph. */
export function probabilityOf({
  topology: { degree, probability },
  population,
}: Pick<Scenario, 'topology' | 'population'>): number {
  return probability ?? Math.min(1, degree / Math.max(1, population - 1));
}

/** A ring inside each group; rewired links lead to anybody of another group. */
function joinGroups(
  linked: Linked,
  sizes: readonly number[],
  degree: number,
  rewired: number,
  stream: Stream,
): void {
  const everybody = Array.from(linked, (_, agent) => agent);
  const groups = sizes.map((size, index) => {
    const first = sizes.slice(0, index).reduce((sum, one) => sum + one, 0);
    return everybody.slice(first, first + size);
  });
  for (const seats of groups) joinRing(linked, seats, degree / 2);
  for (const seats of groups) {
    const [first = 0] = seats;
    const others = [...everybody.slice(0, first), ...everybody.slice(first + seats.length)];
    rewire(linked, seats, degree / 2, rewired, others, stream);
  }
}
