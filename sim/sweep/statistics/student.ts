/**
 * The quantile of Student's t, and the few functions that intervals need, out of + - * / and the
 * square root alone: IEEE 754 fixes these to the bit, so tables are the same on every machine.
 */

/** The share of a distribution that an interval encloses, two-sided. */
export interface Level {
  share: number;
  /** The quantile of the normal distribution that encloses it. */
  normal: number;
}

export const LEVEL_95: Level = { share: 0.95, normal: 1.959963984540054 };
export const LEVEL_97_5: Level = { share: 0.975, normal: 2.2414027276049464 };

const known = new Map<Level, Map<number, number>>();

/** The t that encloses `level` on both sides, with `freedom` degrees of freedom, from 1. */
export function studentQuantile(freedom: number, level: Level = LEVEL_95): number {
  const ofLevel = known.get(level) ?? new Map<number, number>();
  known.set(level, ofLevel);
  const found = ofLevel.get(freedom);
  if (found !== undefined) return found;
  const quantile = freedom > EXACT ? expanded(freedom, level) : bisected(freedom, level);
  ofLevel.set(freedom, quantile);
  return quantile;
}

/** Beyond this the expansion is right to 12 digits, and the sum would be long. */
const EXACT = 2_000;

function bisected(freedom: number, { share }: Level): number {
  let low = 0;
  // The quantile of 97.5 % with one degree of freedom is 25.5.
  let high = 32;
  for (let step = 0; step < 80; step += 1) {
    const middle = (low + high) / 2;
    if (within(middle, freedom) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The chance to be within t on both sides (Abramowitz and Stegun 26.7.3 and 26.7.4). */
function within(t: number, freedom: number): number {
  const slope = t / Math.sqrt(freedom);
  const cosine = 1 / Math.sqrt(1 + slope * slope);
  const sine = slope * cosine;
  const odd = freedom % 2;
  let term = odd ? cosine : 1;
  let sum = 0;
  for (let power = odd; power <= freedom - 2; power += 2) {
    sum += term;
    term *= (cosine * cosine * (power + 1)) / (power + 2);
  }
  if (!odd) return sine * sum;
  return (2 / Math.PI) * (arcTangent(slope) + sine * sum);
}

/** Halved until the series is short. */
function arcTangent(slope: number): number {
  let x = slope;
  let scale = 1;
  for (; x > 0.05; scale *= 2) x /= 1 + Math.sqrt(1 + x * x);
  let term = x;
  let sum = 0;
  for (let power = 1; power < 25; power += 2) {
    sum += term / power;
    term *= -x * x;
  }
  return scale * sum;
}

/** Cornish and Fisher's expansion about the normal quantile (Abramowitz and Stegun 26.7.5). */
function expanded(freedom: number, { normal: x }: Level): number {
  const squared = x * x;
  const first = ((squared + 1) * x) / 4;
  const second = (((5 * squared + 16) * squared + 3) * x) / 96;
  const third = ((((3 * squared + 19) * squared + 17) * squared - 15) * x) / 384;
  return x + (first + (second + third / freedom) / freedom) / freedom;
}

/** Newton's method, from above. */
export function cubeRoot(x: number): number {
  if (x === 0) return 0;
  const size = Math.abs(x);
  let root = Math.max(1, size);
  for (let next = nearer(root, size); next < root; next = nearer(root, size)) root = next;
  return x < 0 ? -root : root;
}

const nearer = (root: number, size: number): number => (2 * root + size / (root * root)) / 3;
