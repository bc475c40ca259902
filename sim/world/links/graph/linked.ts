/** A social graph while it is made: whom each agent is linked to. */

export type Linked = Set<number>[];

/** Neighbours of each agent, ascending. */
export type Neighbours = number[][];

export const unlinked = (size: number): Linked => Array.from({ length: size }, () => new Set());

export function join(linked: Linked, a: number, b: number): void {
  if (a === b) return;
  linked[a]!.add(b);
  linked[b]!.add(a);
}

export function part(linked: Linked, a: number, b: number): void {
  linked[a]!.delete(b);
  linked[b]!.delete(a);
}

export const inOrder = (linked: Linked): Neighbours =>
  linked.map((set) => [...set].sort((a, b) => a - b));

/** Each link once, from the lower ordinal to the higher. */
export function* edgesOf(neighbours: Neighbours): Iterable<{ a: number; b: number }> {
  for (const [a, others] of neighbours.entries()) {
    for (const b of others) if (a < b) yield { a, b };
  }
}
