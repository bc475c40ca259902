/** Who hears whom: a small-world graph (Watts and Strogatz, 1998) of fixed mean degree. */
import type { Stream } from './streams.js';

/** Neighbours on each side of the ring, and how many of 1,000 links are rewired. */
const REACH = 4;
const REWIRED_PERMILLE = 100;

/** Neighbours of each node, ascending. Links are mutual. */
export function smallWorld(size: number, stream: Stream): number[][] {
  const links = Array.from({ length: size }, () => new Set<number>());
  const join = (a: number, b: number) => {
    links[a]!.add(b);
    links[b]!.add(a);
  };
  for (let node = 0; node < size; node += 1) {
    for (let step = 1; step <= REACH; step += 1) {
      const ring = (node + step) % size;
      const other = stream.chance(REWIRED_PERMILLE) ? stream.int(size) : ring;
      const target = other === node ? ring : other;
      if (target !== node) join(node, target);
    }
  }
  return links.map((set) => [...set].sort((a, b) => a - b));
}
