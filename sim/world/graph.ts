/** Social graph of a scenario. Each model draws its links once, from a separate stream. */
import { ln } from '../numbers.js';
import { type Stream, Streams, shuffle } from '../rng.js';
import { groupSizes } from '../scenario/population.js';
import type { Scenario } from '../scenario/schema/scenario.js';

type Edges = readonly (readonly [number, number])[];

/** Draws a run's graph. @param edges links from a file, for topology `edges`. */
export const drawnGraph = (scenario: Scenario, seed: string, edges: Edges): Neighbours =>
  buildGraph(scenario, new Streams(seed).of('world', 'graph'), edges);

/**
 * Returns each agent's neighbours, ascending. Links are mutual, without loops.
 * @param edges links from a file, for topology `edges`.
 */
export function buildGraph(scenario: Scenario, stream: Stream, edges: Edges = []): Neighbours {
  const { topology, population: size } = scenario;
  const { kind, degree, rewired } = topology;
  const everybody = Array.from({ length: size }, (_, agent) => agent);
  if (kind === 'complete') return everybody.map((agent) => without(everybody, agent));
  const linked = unlinked(size);
  if (kind === 'edges') for (const [a, b] of edges) join(linked, a, b);
  else if (kind === 'groups') joinGroups(linked, groupSizes(scenario), degree, rewired, stream);
  else {
    // Assign agents to seats at random, so that groups are not neighbourhoods.
    const seats = scenario.agents.length > 1 ? [...shuffle(size, stream)] : everybody;
    if (kind === 'erdos_renyi') joinByChance(linked, getLinkProbability(scenario), stream);
    else if (kind === 'scale_free') attachByPreference(linked, seats, degree / 2, stream);
    else joinRing(linked, seats, degree / 2);
    if (kind === 'small_world') rewire(linked, seats, degree / 2, rewired, everybody, stream);
  }
  return inOrder(linked);
}

const without = (agents: readonly number[], agent: number) =>
  agents.filter((other) => other !== agent);

/** Probability of each link in an Erdos-Renyi graph. */
export function getLinkProbability({
  topology: { degree, probability },
  population,
}: Pick<Scenario, 'topology' | 'population'>): number {
  return probability ?? Math.min(1, degree / Math.max(1, population - 1));
}

/** Links each group in a ring. Rewired links lead to different groups. */
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

/** Graph under construction: each agent's neighbours. */
type Linked = Set<number>[];

/** Each agent's neighbours, ascending. */
export type Neighbours = number[][];

const unlinked = (size: number): Linked => Array.from({ length: size }, () => new Set());

function join(linked: Linked, a: number, b: number): void {
  if (a === b) return;
  linked[a]!.add(b);
  linked[b]!.add(a);
}

function part(linked: Linked, a: number, b: number): void {
  linked[a]!.delete(b);
  linked[b]!.delete(a);
}

const inOrder = (linked: Linked): Neighbours => linked.map((set) => [...set].sort((a, b) => a - b));

/** Yields each link once, from the lower ordinal. */
export function* listEdges(neighbours: Neighbours): Iterable<{ a: number; b: number }> {
  for (const [a, others] of neighbours.entries()) {
    for (const b of others) if (a < b) yield { a, b };
  }
}

/**
 * G(n, p) by Erdos, Renyi and Gilbert (1959). Skips from link to link, because the number of pairs
 * between two links is geometric (Batagelj and Brandes 2005, Physical Review E 71, 036113).
 */
function joinByChance(linked: Linked, probability: number, stream: Stream): void {
  if (probability === 0) return;
  const { length: size } = linked;
  // For tiny p, 1 - p loses its digits, but then ln(1 - p) is -p.
  const none = probability < 1e-8 ? -probability : ln(1 - probability);
  // Visit pairs (a, b) with b < a, row by row.
  let [a, b] = [1, -1];
  while (a < size) {
    b += 1 + (probability === 1 ? 0 : Math.floor(ln(1 - stream.real()) / none));
    while (b >= a && a < size) {
      b -= a;
      a += 1;
    }
    if (a < size) join(linked, a, b);
  }
}

/** Links each agent to `reach` other agents on each side. */
function joinRing(linked: Linked, seats: readonly number[], reach: number): void {
  for (const [agent, next] of ringLinks(seats, reach)) join(linked, agent, next);
}

/**
 * Rewires by the model of Watts and Strogatz (1998, Nature 393, 440-442).
 *
 * Visits the links in a ring, one round per distance. With the given probability, a link is moved
 * from its second end to a random agent that is not yet linked to the first. The number of links
 * does not change.
 */
function rewire(
  linked: Linked,
  seats: readonly number[],
  reach: number,
  rewired: number,
  others: readonly number[],
  stream: Stream,
): void {
  for (const [agent, next] of ringLinks(seats, reach)) {
    if (!stream.chance(rewired)) continue;
    const other = stranger(linked, agent, others, stream);
    if (other === null) continue;
    part(linked, agent, next);
    join(linked, agent, other);
  }
}

/** Yields each link in a ring once, nearest first. */
function* ringLinks(seats: readonly number[], reach: number): Iterable<[number, number]> {
  const { length: size } = seats;
  for (let step = 1; step <= Math.min(reach, size / 2); step += 1) {
    // In a ring of even size, opposite seats share one link.
    const links = 2 * step === size ? step : size;
    for (let seat = 0; seat < links; seat += 1) yield [seats[seat]!, seats[(seat + step) % size]!];
  }
}

/** Draws an agent that is not linked to the given agent; null if there is no such agent. */
function stranger(
  linked: Linked,
  agent: number,
  others: readonly number[],
  stream: Stream,
): number | null {
  const known = linked[agent]!;
  const isStranger = (other: number) => other !== agent && !known.has(other);
  if (2 * known.size >= others.length) {
    const strangers = others.filter(isStranger);
    return strangers.length === 0 ? null : stream.pick(strangers);
  }
  for (;;) {
    const other = stream.pick(others);
    if (isStranger(other)) return other;
  }
}

/**
 * Preferential attachment (Barabasi and Albert 1999, Science 286, 509-512): each new agent links to
 * `reach` other agents with a probability proportional to their degree.
 */
function attachByPreference(
  linked: Linked,
  seats: readonly number[],
  reach: number,
  stream: Stream,
): void {
  // List both ends of every link, so that a uniform pick is proportional to the degree.
  const ends: number[] = [];
  for (const [seat, agent] of seats.entries()) {
    const known = Math.min(seat, reach);
    const chosen = new Set<number>();
    while (chosen.size < known) {
      const any = ends.length === 0 || seat <= reach;
      chosen.add(any ? seats[stream.int(seat)]! : stream.pick(ends));
    }
    for (const other of chosen) {
      join(linked, agent, other);
      ends.push(agent, other);
    }
  }
}
