/**
 * Effect of an omission on a block, measured over pairs of runs that differ only in the omission:
 * the change in the probability of finalization, its interval, an exact test, and Holm's correction
 * over all candidates.
 */
/**
 * Number of pairs, and the numbers of pairs in which the block was finalized in both runs, only
 * with the candidate, or only without the candidate.
 */
export interface Pairs {
  pairs: number;
  both: number;
  only_with: number;
  only_without: number;
}

export interface Effect {
  /** Probability without the candidate minus probability with the candidate. */
  difference: number;
  /** 95 % interval for the difference, simultaneous over all looks, but not over candidates. */
  low: number;
  high: number;
  /** McNemar's exact two-sided test. */
  p: number;
}

/** Familywise error rate over all candidates and looks. */
export const LEVEL = 0.05;

/** Two-sided normal quantiles for 1 - 0.05 / looks, for 1 to 14 looks. */
const QUANTILES = [
  1.959963984540054, 2.241402727604946, 2.393979799818511, 2.497705474412374, 2.5758293035489,
  2.638257273476751, 2.690109527158866, 2.734368786533176, 2.772921294608662, 2.807033768343811,
  2.837596912943788, 2.865260238532133, 2.890511560691739, 2.913726318334338,
];

/**
 * Computes the effect with Bonett and Price's interval (2012), which is valid for few pairs.
 *
 * @param looks maximum number of looks, which share the error.
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

/** Returns the probability that a fair coin gives a split at least as uneven as this one. */
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

/** Adjusts p-values by Holm (1979). The familywise error rate holds under any dependence. */
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

/** Power at which an effect counts as detectable. */
const POWER = 0.8;

/**
 * Returns the smallest effect that the test detects at this level with power 0.8, if all discordant
 * pairs differ in the same direction, which is the easiest case. Returns null if even an effect of
 * 1 is not detected.
 */
export function detectableWith(pairs: number, level: number): number | null {
  let least = 1;
  while (least <= pairs && mcNemar(0, least) > level) least += 1;
  if (least > pairs) return null;
  return bisect((share) => atLeast(least, pairs, share) < POWER).high;
}

/** Narrows the range from 0 to 1 to the border above which `isBelow` is false, in 40 steps. */
function bisect(isBelow: (share: number) => boolean): { low: number; high: number } {
  let [low, high] = [0, 1];
  for (let step = 0; step < 40; step += 1) {
    const middle = (low + high) / 2;
    if (isBelow(middle)) low = middle;
    else high = middle;
  }
  return { low, high };
}

/** Binomial probability of at least `least` hits. Terms relative to the largest avoid underflow. */
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

/** Smallest relative term to add. The sum of all smaller terms is negligible. */
const NOTHING = 1e-20;

/** One-sided Clopper-Pearson bounds (1934) for a share. */
function exactEnds(hits: number, trials: number, error: number): { low: number; high: number } {
  const where = (isBelow: (share: number) => boolean) => {
    const { low, high } = bisect(isBelow);
    return (low + high) / 2;
  };
  return {
    low: hits === 0 ? 0 : where((share) => atLeast(hits, trials, share) < error),
    high: hits === trials ? 1 : where((share) => 1 - atLeast(hits + 1, trials, share) > error),
  };
}

/**
 * Tests that the effect is smaller than a margin in both directions. Each of the two shares of
 * discordant pairs has an exact bound with half the error, so the test is conservative.
 *
 * @returns an upper bound of the p-value under an effect of at least the margin.
 */
export function equivalence({ pairs, only_with, only_without }: Pairs, margin: number): number {
  const isWithin = (error: number): boolean => {
    const more = exactEnds(only_without, pairs, error / 2);
    const less = exactEnds(only_with, pairs, error / 2);
    return more.high - less.low < margin && less.high - more.low < margin;
  };
  if (!isWithin(1)) return 1;
  return bisect((error) => !isWithin(error)).high;
}

/** Number of pairs at each look. The number doubles from look to look. */
export function planLooks(first: number, most: number): number[] {
  const sizes = [first];
  while (sizes.at(-1)! < most) sizes.push(Math.min(most, 2 * sizes.at(-1)!));
  return sizes;
}

/** Cumulative result for a candidate. */
export interface Judgement {
  /** Adjusted for all candidates and looks; null if the pairs do not measure the effect. */
  p_holm: number | null;
  significant: boolean;
  /** Adjusted p-value from the equivalence test. */
  p_margin: number | null;
  within_margin: boolean;
}

interface Testing {
  /** Maximum number of looks. */
  looks: number;
  /** Equivalence margin; null if equivalence is not tested. */
  margin: number | null;
}

/**
 * Judges all candidates at a look. The looks share the error equally, and Holm's procedure
 * distributes a look's share among the candidates. Candidates decided at a look are removed from
 * later looks (Maurer and Bretz 2013). The familywise error rate over all candidates and looks is
 * at most 0.05. The equivalence test has the same bound.
 *
 * @param pairs pairs per candidate so far; null if the pairs do not measure the effect.
 * @param before judgements from the previous look; empty at the first look.
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

/** Applies Holm's procedure to the candidates that are not decided. */
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
