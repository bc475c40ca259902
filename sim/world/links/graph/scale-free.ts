/** Preferential attachment (Barabasi and Albert 1999, Science 286, 509-512). */
import type { Stream } from '../../../rng.js';
import { join, type Linked } from './linked.js';

/** Each newcomer links to `reach` others, chosen by how many links they have. */
export function attach(
  linked: Linked,
  seats: readonly number[],
  reach: number,
  stream: Stream,
): void {
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
      join(linked, agent, other);
      ends.push(agent, other);
    }
  }
}
