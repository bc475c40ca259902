/** Who hears whom: the social graph of a scenario, drawn once from its own stream. */
import { groupSizes } from '../population.js';
import type { Scenario } from '../scenario/schema.js';
import type { Stream } from '../streams.js';

type Links = Set<number>[];

/** Neighbours of each agent, ascending; links are mutual. In a complete graph all share a list. */
export function graphOf(scenario: Scenario, stream: Stream): number[][] {
  const { topology, population: size } = scenario;
  const { kind, degree } = topology;
  const rewired = Math.round(topology.rewired * 1000);
  if (kind === 'complete') {
    const everybody = Array.from({ length: size }, (_, agent) => agent);
    return everybody.map(() => everybody);
  }
  const links: Links = Array.from({ length: size }, () => new Set());
  if (kind === 'groups') joinGroups(links, groupSizes(scenario), degree, rewired, stream);
  else {
    // Groups are not neighbourhoods unless the topology says so: seats are drawn.
    const seats = shuffled(size, scenario.agents.length > 1 ? stream : null);
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
): void {
  const { length: size } = seats;
  for (let seat = 0; seat < size; seat += 1) {
    for (let step = 1; step <= Math.min(reach, size - 1); step += 1) {
      const ring = (seat + step) % size;
      const other = stream.chance(rewiredPermille) ? stream.int(size) : ring;
      join(links, seats[seat]!, seats[other === seat ? ring : other]!);
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

/** A small ring inside each group; rewired links lead to anybody of another group. */
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
    joinRing(links, seats, degree / 2, 0, stream);
    for (const agent of size === population ? [] : seats) {
      for (let link = 0; link < degree / 2; link += 1) {
        if (!stream.chance(rewiredPermille)) continue;
        const outside = stream.int(population - size);
        join(links, agent, outside < from ? outside : outside + size);
      }
    }
    first += size;
  }
}

function shuffled(size: number, stream: Stream | null): number[] {
  const seats = Array.from({ length: size }, (_, seat) => seat);
  for (let left = size - 1; stream && left > 0; left -= 1) {
    const other = stream.int(left + 1);
    [seats[left], seats[other]] = [seats[other]!, seats[left]!];
  }
  return seats;
}
