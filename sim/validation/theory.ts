/** Figures that theory gives, by formula. */

/** The chance of at least `least` successes in `n` trials of chance `p` each. */
export function binomialTail(n: number, p: number, least: number): number {
  let tail = 0;
  // From the largest term down, each out of the one before: no factorial overflows.
  let term = 1;
  for (let one = 0; one < n; one += 1) term *= p;
  for (let k = n; k >= least; k -= 1) {
    tail += term;
    term *= (k / (n - k + 1)) * ((1 - p) / p);
  }
  return tail;
}

/** Mean of the k-th smallest of n draws, uniform on the whole numbers below `width`. */
export const orderStatisticMean = (k: number, n: number, width: number): number =>
  // A whole number is a continuous draw rounded down: half of one less.
  (width * k) / (n + 1) - 0.5;

/** Of a `bft` quorum: more than two thirds. */
export const bftQuorum = (electors: number): number => Math.floor((2 * electors) / 3) + 1;
