import {
  comparePairs,
  createRankedElection,
  electFirst,
  findStrongestPaths,
  marginsParameter,
} from '../election.js';

/**
 * An option beats a second one if its strongest path of won pairs to the second is stronger than
 * the strongest path back. An option that no option beats is chosen. `standings` are the numbers of
 * options that an option beats. A block is finalized if more weight approves than rejects. Of
 * several unbeaten options, the first wins.
 *
 * A path is as strong as its weakest pair. A pair is as strong as the weight that prefers its
 * winner (winning votes, the default), or with `margins` 1 as the lead of this weight over the
 * weight that prefers its loser.
 */
export const rule = createRankedElection({
  title: 'More weight approves than rejects; the option with the strongest paths is chosen',
  source:
    'Schulze 2011, A new monotonic, clone-independent, reversal symmetric, and ' +
    'Condorcet-consistent single-winner election method, Social Choice and Welfare 36(2)',
  parameters: marginsParameter,
  takesTies: true,
  elect(rankings, options, { margins }) {
    const paths = findStrongestPaths(comparePairs(rankings, options.length), margins === 1);
    const beats = (a: number, b: number) => paths[a]![b]! > paths[b]![a]!;
    const positions = [...options.keys()];
    const beaten = positions.map((a) => positions.filter((b) => beats(a, b)).length);
    const unbeaten = positions.filter((a) => !positions.some((b) => beats(b, a)));
    return electFirst(options, beaten, unbeaten, 'unbeaten');
  },
});
