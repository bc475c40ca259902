/** Each link by itself with one probability: G(n, p) of Erdos, Renyi and Gilbert (1959). */
import { ln } from '../../../numbers/logarithm.js';
import type { Stream } from '../../../rng.js';
import { join, type Linked } from './linked.js';

/**
 * Goes from link to link and not from pair to pair: how many pairs lie between two links is
 * geometric (Batagelj and Brandes 2005, Physical Review E 71, 036113).
 */
export function joinByChance(linked: Linked, probability: number, stream: Stream): void {
  if (probability === 0) return;
  const { length: size } = linked;
  // Where so few digits of 1 - p are left, the logarithm is -p itself.
  const none = probability < 1e-8 ? -probability : ln(1 - probability);
  // Pairs (a, b) with b < a, row by row.
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
