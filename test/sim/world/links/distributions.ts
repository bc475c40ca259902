/** Theoretical latency distributions by independent formulas, and Kolmogorov's distance. */
import { mix } from '../../../../dist/sim/rng.js';

/** Probability of a time at or below `ms` milliseconds. */
export type Cumulative = (ms: number) => number;

/** Normal distribution by the series of Marsaglia (2004): accurate to 10^-15 up to 8 deviations. */
function normal(z: number): number {
  if (z < -8) return 0;
  if (z > 8) return 1;
  let [sum, term] = [z, z];
  for (let k = 3; sum + term !== sum; k += 2) {
    term *= (z * z) / k;
    sum += term;
  }
  return 0.5 + sum * Math.exp(-0.5 * z * z - 0.918_938_533_204_672_7);
}

const above = (least: number, cumulative: Cumulative): Cumulative => {
  return (ms) => (ms <= least ? 0 : cumulative(ms));
};

/** Distributions of mean `m` and spread `s`, by kind. */
export const theory = {
  uniform: (m: number, s: number): Cumulative => {
    return (ms) => Math.min(1, Math.max(0, (ms - m + s) / (2 * s)));
  },
  normal:
    (m: number, s: number): Cumulative =>
    (ms) =>
      normal((ms - m) / s),
  exponential: (m: number, s: number) => above(m - s, (ms) => 1 - Math.exp(-(ms - m + s) / s)),
  lognormal: (m: number, s: number) => {
    const variance = Math.log1p((s / m) ** 2);
    const middle = Math.log(m) - variance / 2;
    return above(0, (ms) => normal((Math.log(ms) - middle) / Math.sqrt(variance)));
  },
  pareto: (m: number, shape: number) => {
    const least = (m * (shape - 1)) / shape;
    return above(least, (ms) => 1 - (least / ms) ** shape);
  },
};

/** Rounded to whole milliseconds, with a minimum of 10. */
export const whole = (cumulative: Cumulative): Cumulative => {
  return (ms) => (ms < 10 ? 0 : cumulative(Math.floor(ms) + 0.5));
};

export const drawn = (draw: (hash: number) => number, count: number, seed: number): number[] =>
  Array.from({ length: count }, (_, number) => draw(mix(seed, number)));

/** Largest difference between the samples and the distribution, times the square root of n. */
export function distance(values: readonly number[], expected: Cumulative): number {
  const sorted = Float64Array.from(values).sort();
  let most = 0;
  for (let at = 0; at < sorted.length; ) {
    const value = sorted[at]!;
    const below = at;
    while (at < sorted.length && sorted[at] === value) at += 1;
    const after = Math.abs(at / sorted.length - expected(value));
    const before = Math.abs(below / sorted.length - expected(value - 1));
    most = Math.max(most, after, before);
  }
  return most * Math.sqrt(sorted.length);
}

/** Distance that one sample in a thousand exceeds (Kolmogorov), and fewer if rounded. */
export const DISTANT = 1.95;
