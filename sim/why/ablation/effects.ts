/**
 * What leaving something out does to a block, over pairs of runs that differ in nothing else: the
 * change of the chance that it is finalized, with an interval and an exact test, and over all that
 * were tried by Holm.
 */

/** Of so many pairs, in how many the block was finalized with it only, without it only, in both. */
export interface Pairs {
  pairs: number;
  both: number;
  only_with: number;
  only_without: number;
}

export interface Effect {
  /** Chance without it less chance with it. */
  difference: number;
  /** 95 % interval of that, by itself. */
  low: number;
  high: number;
  /** Exact two-sided test of McNemar. */
  p: number;
}

/** The normal quantile at 97.5 %. */
const Z = 1.959963984540054;

/** The interval is that of Bonett and Price (2012), which holds for few pairs too. */
export function effectOf({ pairs, only_with, only_without }: Pairs): Effect {
  const [more, less] = [(only_without + 1) / (pairs + 2), (only_with + 1) / (pairs + 2)];
  const middle = more - less;
  const half = Z * Math.sqrt((more + less - middle * middle) / (pairs + 2));
  return {
    difference: pairs === 0 ? 0 : (only_without - only_with) / pairs,
    low: Math.max(-1, middle - half),
    high: Math.min(1, middle + half),
    p: mcNemar(only_with, only_without),
  };
}

/** The chance of so uneven a split, or a more uneven one, of those that differ, by a fair coin. */
export function mcNemar(a: number, b: number): number {
  const tosses = a + b;
  let ways = 1n;
  let tail = 0n;
  for (let heads = 0; heads <= Math.min(a, b); heads += 1) {
    tail += ways;
    ways = (ways * BigInt(tosses - heads)) / BigInt(heads + 1);
  }
  const all = 1n << BigInt(tosses);
  return 2n * tail >= all ? 1 : Number((2n * tail * DIGITS) / all) / 1e18;
}

const DIGITS = 1_000_000_000_000_000_000n;

/**
 * Adjusted by Holm (1979): that any of these is below a level by chance alone, where nothing has an
 * effect, has at most that probability, however they depend on each other.
 */
export function holm(ps: readonly number[]): number[] {
  const order = ps.map((p, at) => ({ p, at })).sort((a, b) => a.p - b.p);
  const adjusted = ps.map(() => 1);
  let least = 0;
  for (const [rank, { p, at }] of order.entries()) {
    least = Math.max(least, Math.min(1, p * (ps.length - rank)));
    adjusted[at] = least;
  }
  return adjusted;
}

/** The probability with which an effect of the stated size is to be found. */
const POWER = 0.8;

/**
 * The smallest effect that so many pairs find at a level with a probability of 0.8, where all pairs
 * that differ do so one way: of effects of one size those are found most easily. Null where even an
 * effect of 1 is not found.
 */
export function detectableWith(pairs: number, level: number): number | null {
  let least = 1;
  while (least <= pairs && mcNemar(0, least) > level) least += 1;
  if (least > pairs) return null;
  let [low, high] = [0, 1];
  for (let step = 0; step < 40; step += 1) {
    const middle = (low + high) / 2;
    if (atLeast(least, pairs, middle) >= POWER) high = middle;
    else low = middle;
  }
  return high;
}

/** The chance of at least so many hits in so many trials (binomial). */
function atLeast(least: number, trials: number, share: number): number {
  let sum = 0;
  let term = 1;
  for (let trial = 0; trial < trials; trial += 1) term *= 1 - share;
  for (let hits = 0; hits < least; hits += 1) {
    sum += term;
    term *= ((trials - hits) / (hits + 1)) * (share / (1 - share));
  }
  return 1 - sum;
}
