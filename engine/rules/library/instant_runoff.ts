import { electAt } from '../election.js';
import { createRankedElection, type Ranking } from '../preferences.js';

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
  elect(rankings, options) {
    const remaining = new Set(options.keys());
    const standings = options.map(() => 0);
    for (;;) {
      const weights = countFirst(rankings, remaining);
      let cast = 0;
      let [best, worst] = [-1, -1];
      for (const [option, weight] of weights) {
        standings[option] = weight;
        cast += weight;
        if (best < 0 || weight > weights.get(best)!) best = option;
        if (worst < 0 || weight <= weights.get(worst)!) worst = option;
      }
      const isDecided = 2 * weights.get(best)! > cast || remaining.size <= 2;
      if (isDecided) return electAt(options, standings, best);
      remaining.delete(worst);
    }
  },
});

/** Returns, by option, the weight of the ballots whose best remaining option it is. */
function countFirst(
  rankings: readonly Ranking[],
  remaining: ReadonlySet<number>,
): Map<number, number> {
  const weights = new Map([...remaining].map((option) => [option, 0]));
  for (const { weight, tiers } of rankings) {
    const first = tiers.find(([option]) => remaining.has(option!))?.[0];
    if (first !== undefined) weights.set(first, weights.get(first)! + weight);
  }
  return weights;
}
