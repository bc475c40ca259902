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
  /** Interval of that, by itself: of 95 % at all looks together. */
  low: number;
  high: number;
  /** Exact two-sided test of McNemar. */
  p: number;
}

/** The chance of a false finding, over all candidates and all looks. */
export const LEVEL = 0.05;

/** Normal quantiles that enclose a share of 1 - 0.05 / looks on both sides, for 1 look to 14. */
const QUANTILES = [
  1.959963984540054, 2.241402727604946, 2.393979799818511, 2.497705474412374, 2.5758293035489,
  2.638257273476751, 2.690109527158866, 2.734368786533176, 2.772921294608662, 2.807033768343811,
  2.837596912943788, 2.865260238532133, 2.890511560691739, 2.913726318334338,
];

/**
 * The interval is that of Bonett and Price (2012), which holds for few pairs too.
 *
 * @param looks how many times at most the pairs are judged: the error is shared between looks.
 */
export function computeEffect({ pairs, only_with, only_without }: Pairs, looks = 1): Effect {
  const [more, less] = [(only_without + 1) / (pairs + 2), (only_with + 1) / (pairs + 2)];
  const middle = more - less;
  const spread = Math.sqrt((more + less - middle * middle) / (pairs + 2));
  const half = QUANTILES[looks - 1]! * spread;
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

/**
 * The probability of `least` hits or more in `trials` (binomial). Terms are relative to the term of
 * the most likely count, so no term that matters underflows.
 */
function atLeast(least: number, trials: number, share: number): number {
  if (least <= 0) return 1;
  if (least > trials || share <= 0) return 0;
  if (share >= 1) return 1;
  const odds = share / (1 - share);
  const likeliest = Math.min(trials, Math.floor((trials + 1) * share));
  let all = 0;
  let tail = 0;
  const add = (hits: number, term: number) => {
    all += term;
    if (hits >= least) tail += term;
  };
  for (let hits = likeliest, term = 1; hits <= trials && term > NOTHING; hits += 1) {
    add(hits, term);
    term *= ((trials - hits) / (hits + 1)) * odds;
  }
  let term = 1;
  for (let hits = likeliest; hits > 0 && term > NOTHING; hits -= 1) {
    term *= hits / (trials - hits + 1) / odds;
    add(hits - 1, term);
  }
  return tail / all;
}

/** Relative to the largest term: the sum of all that are smaller does not show. */
const NOTHING = 1e-20;

/** Ends of the one-sided intervals of Clopper and Pearson (1934) for a share. */
function exactEnds(hits: number, trials: number, error: number): { low: number; high: number } {
  const where = (isBelow: (share: number) => boolean) => {
    let [low, high] = [0, 1];
    for (let step = 0; step < 40; step += 1) {
      const middle = (low + high) / 2;
      if (isBelow(middle)) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  };
  return {
    low: hits === 0 ? 0 : where((share) => atLeast(hits, trials, share) < error),
    high: hits === trials ? 1 : where((share) => 1 - atLeast(hits + 1, trials, share) > error),
  };
}

/**
 * Tests that the effect is smaller than a margin in both directions. Each of the two shares of
 * pairs that differ has an exact bound with half of the error: the test errs on the safe side.
 *
 * @returns p: at most the chance of this result where the effect is the margin or larger.
 */
export function equivalence({ pairs, only_with, only_without }: Pairs, margin: number): number {
  const isWithin = (error: number): boolean => {
    const more = exactEnds(only_without, pairs, error / 2);
    const less = exactEnds(only_with, pairs, error / 2);
    return more.high - less.low < margin && less.high - more.low < margin;
  };
  if (!isWithin(1)) return 1;
  let [low, high] = [0, 1];
  for (let step = 0; step < 40; step += 1) {
    const middle = (low + high) / 2;
    if (isWithin(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The number of pairs at each look: twice as many as at the look before. */
export function planLooks(first: number, most: number): number[] {
  const sizes = [first];
  while (sizes.at(-1)! < most) sizes.push(Math.min(most, 2 * sizes.at(-1)!));
  return sizes;
}

/** The result of the looks so far for one candidate. */
export interface Judgement {
  /** Adjusted for all candidates and looks; null where the pairs measure nothing. */
  p_holm: number | null;
  significant: boolean;
  /** Of the test that the effect is smaller than the margin, adjusted likewise. */
  p_margin: number | null;
  within_margin: boolean;
}

interface Testing {
  /** How many looks there are at most. */
  looks: number;
  /** The largest effect that counts as none; null: that is not tested. */
  margin: number | null;
}

/**
 * Judges all candidates at one look. Each look spends an equal part of the error, and Holm's
 * procedure shares that among the candidates; what one look finds is out of the next (Maurer and
 * Bretz 2013). So the chance of any false finding is at most 0.05 over all candidates and looks,
 * and as much again for the test of the margin.
 *
 * @param pairs of each candidate so far; null where they measure nothing.
 * @param before what the look before said; empty at the first.
 */
export function judgeLook(
  pairs: readonly (Pairs | null)[],
  before: readonly Judgement[],
  { looks, margin }: Testing,
): Judgement[] {
  const open = pairs.map((_, at) => !before[at]?.significant && !before[at]?.within_margin);
  const effects = pairs.map((one, at) =>
    one && open[at] ? mcNemar(one.only_with, one.only_without) : 1,
  );
  const equal = pairs.map((one, at) =>
    one && open[at] && margin !== null ? equivalence(one, margin) : 1,
  );
  const adjusted = adjustedAmong(effects, (at) => !before[at]?.significant, looks);
  const alike = adjustedAmong(equal, (at) => !before[at]?.within_margin, looks);
  return pairs.map((one, at) => {
    if (!open[at]) return before[at]!;
    if (!one) return { p_holm: null, significant: false, p_margin: null, within_margin: false };
    const [p_holm, p_margin] = [adjusted[at]!, margin === null ? null : alike[at]!];
    const significant = p_holm <= LEVEL;
    const within_margin = !significant && p_margin !== null && p_margin <= LEVEL;
    return { p_holm, significant, p_margin, within_margin };
  });
}

/** Holm's procedure among those that no look before has found. */
function adjustedAmong(
  ps: readonly number[],
  isLeft: (at: number) => boolean,
  looks: number,
): number[] {
  const left = ps.flatMap((_, at) => (isLeft(at) ? [at] : []));
  const adjusted = holm(left.map((at) => ps[at]!));
  const all = ps.map(() => 1);
  for (const [place, at] of left.entries()) all[at] = Math.min(1, adjusted[place]! * looks);
  return all;
}
