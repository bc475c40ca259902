/** Who hears whom: the social graph of a scenario, drawn once from its own stream. */

import { type Stream, shuffled } from '../../rng.js';
import { groupSizes } from '../../scenario/population.js';
import type { Scenario } from '../../scenario/schema/scenario.js';

type Links = Set<number>[];

/** Neighbours of each agent, ascending; links are mutual. A complete graph is one shared list. */
export function graphOf(scenario: Scenario, stream: Stream): number[][] {
  const { topology, population: size } = scenario;
  const { kind, degree } = topology;
  const rewired = Math.round(topology.rewired * 1000);
  const everybody = Array.from({ length: size }, (_, agent) => agent);
  if (kind === 'complete') {
    return everybody.map(() => everybody);
  }
  const links: Links = Array.from({ length: size }, () => new Set());
  if (kind === 'groups') joinGroups(links, groupSizes(scenario), degree, rewired, stream);
  else {
    // Groups are not neighbourhoods unless the topology says so: seats are drawn.
    const drawn = scenario.agents.length > 1;
    const seats = drawn ? [...shuffled(size, stream)] : everybody;
    if (kind === 'scale_free') attach(links, seats, degree / 2, stream);
    else joinRing(links, seats, degree / 2, kind === 'ring' ? 0 : rewired, stream);
  }
  return links.map((set) => [...set].sort((a, b) => a - b));
}

function join(links: Links, a: number, b: number): void {
  if (a === b) return;
  links[a]!.add(b);
  links[b]!.add(a);
}

/** A ring in which everybody knows `reach` to each side, some links rewired (Watts, Strogatz). */
function joinRing(
  links: Links,
  seats: readonly number[],
  reach: number,
  rewiredPermille: number,
  stream: Stream,
  anybody: () => number = () => stream.pick(seats),
): void {
  const { length: size } = seats;
  for (let seat = 0; seat < size; seat += 1) {
    const agent = seats[seat]!;
    for (let step = 1; step <= Math.min(reach, size - 1); step += 1) {
      const next = seats[(seat + step) % size]!;
      const other = stream.chance(rewiredPermille) ? anybody() : next;
      join(links, agent, other === agent ? next : other);
    }
  }
}

/** Each newcomer links to `reach` others, chosen by how many links they have (Barabasi, Albert). */
function attach(links: Links, seats: readonly number[], reach: number, stream: Stream): void {
  // Both ends of each link: a pick of it is a pick by degree.
  const ends: number[] = [];
  for (const [seat, agent] of seats.entries()) {
    const known = Math.min(seat, reach);
    const chosen = new Set<number>();
    while (chosen.size < known) {
      const any = ends.length === 0 || seat <= reach;
      chosen.add(any ? seats[stream.int(seat)]! : stream.pick(ends));
    }
    for (const other of chosen) {
      join(links, agent, other);
      ends.push(agent, other);
    }
  }
}

/** A ring inside each group; rewired links lead to anybody of another group. */
function joinGroups(
  links: Links,
  sizes: readonly number[],
  degree: number,
  rewiredPermille: number,
  stream: Stream,
): void {
  const population = links.length;
  let first = 0;
  for (const size of sizes) {
    const from = first;
    const seats = Array.from({ length: size }, (_, place) => from + place);
    const outsiders = population - size;
    const outside = () => {
      const other = stream.int(outsiders);
      return other < from ? other : other + size;
    };
    joinRing(links, seats, degree / 2, outsiders === 0 ? 0 : rewiredPermille, stream, outside);
    first += size;
  }
}
