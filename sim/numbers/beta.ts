/** Draws of the beta distribution, out of two of the gamma distribution. */
import { exp, ln } from './logarithm.js';

/** What is drawn from. */
interface Source {
  /** From 0 to 1. */
  real(): number;
  normal(): number;
}

/** From 0 to 1, with mean alpha / (alpha + beta). */
export function betaOf(alpha: number, beta: number, rng: Source): number {
  const [a, b] = [gammaOf(alpha, rng), gammaOf(beta, rng)];
  // With very small parameters both may be too small for a number.
  return a + b === 0 ? Number(rng.real() < alpha / (alpha + beta)) : a / (a + b);
}

/** Marsaglia and Tsang 2000, ACM Transactions on Mathematical Software 26(3) 363-372. */
function gammaOf(shape: number, rng: Source): number {
  if (shape < 1) return gammaOf(shape + 1, rng) * exp(ln(1 - rng.real()) / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = rng.normal();
    const v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v > 0 && ln(1 - rng.real()) < 0.5 * x * x + d - d * v + d * ln(v)) return d * v;
  }
}
