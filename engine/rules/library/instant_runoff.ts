import {
  createRankedElection,
  createTie,
  type Elected,
  electAt,
  findHighest,
  type Ranking,
  TieSearch,
} from '../election.js';
import type { Tie } from '../rule.js';

/**
 * Each ballot is a ranking without equal options, and counts for its best option that remains.
 * While no option has more than half of these weights, the option with the least weight is
 * eliminated. A ballot whose options are all eliminated no longer counts. `standings` are the
 * weights in the last round of each option. A block is finalized if more weight approves than
 * rejects. Of options with equal weight, the last is eliminated.
 */
export const rule = createRankedElection({
  title: 'More weight approves than rejects; the option that wins the runoff rounds is chosen',
  source: 'Tideman 1995, The single transferable vote, Journal of Economic Perspectives 9(1)',
  takesTies: false,
  elect(rankings, options): Elected {
    let remaining = [...options.keys()];
    const standings = options.map(() => 0);
    for (;;) {
      const { weights, best, worst, isDecided } = countRound(rankings, remaining);
      for (const [at, option] of remaining.entries()) standings[option] = weights[at]!;
      if (isDecided) {
        return electAt(options, standings, best[0]!, () => findTie(rankings, options));
      }
      remaining = remaining.filter((option) => option !== worst.at(-1));
    }
  },
});

interface Round {
  /** Weights of the remaining options. */
  weights: number[];
  /** Options with the largest and with the smallest weight. */
  best: number[];
  worst: number[];
  isDecided: boolean;
}

/** Counts each ballot for its best remaining option. */
function countRound(rankings: readonly Ranking[], remaining: readonly number[]): Round {
  const places = new Map(remaining.map((option, at) => [option, at]));
  const weights = remaining.map(() => 0);
  for (const { weight, ballot: tiers } of rankings) {
    const first = tiers.find(([option]) => places.has(option!));
    if (first) weights[places.get(first[0]!)!]! += weight;
  }
  const cast = weights.reduce((sum, weight) => sum + weight, 0);
  const best = findHighest(weights);
  const isDecided = 2 * weights[best[0]!]! > cast || remaining.length <= 2;
  const at = (place: number) => remaining[place]!;
  const worst = findHighest(weights.map((weight) => -weight));
  return { weights, best: best.map(at), worst: worst.map(at), isDecided };
}

/**
 * Tries every elimination among equal options. Each sequence of eliminations is that of some order
 * of the options: the option that is eliminated first comes last in it.
 */
function findTie(rankings: readonly Ranking[], options: readonly string[]): Tie | null {
  const without = (remaining: readonly number[], losers: readonly number[]) =>
    losers.map((loser) => remaining.filter((option) => option !== loser));
  const size = { options: options.length, ballots: rankings.length };
  const search = new TieSearch(size, (remaining) => {
    const { best, worst, isDecided } = countRound(rankings, remaining);
    return isDecided ? { won: best } : { next: without(remaining, worst) };
  });
  let remaining = [...options.keys()];
  for (let round = 1; ; round += 1) {
    const { best, worst, isDecided } = countRound(rankings, remaining);
    if (isDecided) return createTie(options, best, 'last round');
    const next = without(remaining, worst);
    if (next.length > 1) {
      const step = `elimination ${round}`;
      const each = next.map((state) => [...search.winners(state)].sort((a, b) => a - b));
      if (!search.isExact) return createTie(options, remaining, step, false);
      if (new Set(each.map(String)).size > 1) return createTie(options, each.flat(), step);
    }
    remaining = next.at(-1)!;
  }
}
