/** A ring, and one with some links rewired (Watts and Strogatz 1998, Nature 393, 440-442). */
import type { Stream } from '../../../rng.js';
import { join, type Linked, part } from './linked.js';

/** In which everybody knows `reach` to each side. */
export function joinRing(linked: Linked, seats: readonly number[], reach: number): void {
  for (const [agent, next] of ringLinks(seats, reach)) join(linked, agent, next);
}

/**
 * Goes over the links of a ring, once round for each distance; with a probability one leads from
 * its first end to somebody else instead, drawn from all to whom that one has no link yet. The
 * number of links stays as it is.
 */
export function rewire(
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

/** Each link of a ring once, the nearest first. */
function* ringLinks(seats: readonly number[], reach: number): Iterable<[number, number]> {
  const { length: size } = seats;
  for (let step = 1; step <= Math.min(reach, size / 2); step += 1) {
    // Half round an even ring, the link to the seat opposite is the one from there.
    const links = 2 * step === size ? step : size;
    for (let seat = 0; seat < links; seat += 1) yield [seats[seat]!, seats[(seat + step) % size]!];
  }
}

/** Somebody to whom an agent has no link; null where there is nobody. */
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
