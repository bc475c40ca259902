import { electAt } from '../election.js';
import {
  comparePairs,
  createRankedElection,
  marginsParameter,
  type Pairs,
} from '../preferences.js';

/**
 * Won pairs are locked from the strongest to the weakest, except those that contradict pairs locked
 * earlier. An option that is above all others, or below none, is chosen. `standings` are the
 * numbers of options below an option. A block is finalized if more weight approves than rejects.
 *
 * A pair is stronger if more weight prefers its winner, or, with equal weight, if less weight
 * prefers its loser (winning votes, the default). With `margins` 1 a pair is stronger if the first
 * weight has the larger lead over the second. Of pairs of equal strength, the one with the first
 * winner in order of options comes first, then the one with the first loser. Of several options
 * below none, the first wins.
 */
export const rule = createRankedElection({
  title: 'More weight approves than rejects; the option above all in locked pairs is chosen',
  source:
    'Tideman 1987, Independence of clones as a criterion for voting rules, ' +
    'Social Choice and Welfare 4(3)',
  parameters: marginsParameter,
  takesTies: true,
  elect(rankings, options, { margins }) {
    const above = lockPairs(comparePairs(rankings, options.length), margins === 1);
    const below = above.map((row) => row.filter(Boolean).length);
    const best = above.findIndex((_, option) => !above.some((row) => row[option]));
    return electAt(options, below, best);
  },
});

/** Returns the order that the locked pairs give: `above[a][b]` if option a is above option b. */
function lockPairs(pairs: Pairs, byMargin: boolean): boolean[][] {
  const above = pairs.map((row) => row.map(() => false));
  for (const { winner, loser } of sortWonPairs(pairs, byMargin)) {
    if (above[loser]![winner]) continue;
    for (const [a, row] of above.entries()) {
      if (a !== winner && !row[winner]) continue;
      for (const b of row.keys()) if (b === loser || above[loser]![b]) row[b] = true;
    }
  }
  return above;
}

/** Returns the won pairs, strongest first. */
function sortWonPairs(pairs: Pairs, byMargin: boolean) {
  const won = pairs.flatMap((row, winner) =>
    row.flatMap((weight, loser) => {
      const against = pairs[loser]![winner]!;
      if (weight <= against) return [];
      const strength = byMargin ? weight - against : weight;
      return [{ winner, loser, strength, against: byMargin ? 0 : against }];
    }),
  );
  // The sort is stable, and `won` is in order of options.
  return won.sort((one, other) => other.strength - one.strength || one.against - other.against);
}
