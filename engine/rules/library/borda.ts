import { comparePairs, createRankedElection, electHighest } from '../election.js';

/**
 * An option gets one point for each option below it in a ballot. With m options, a first place that
 * no other option shares gives m - 1 points. Equal options give each other no points, and an option
 * that the ballot does not name gets none. `standings` are sums of points times weight. A block is
 * finalized if more weight approves than rejects. Of options with equal sums, the first wins.
 */
export const rule = createRankedElection({
  title: 'More weight approves than rejects; the option with the most points for ranks is chosen',
  source: 'Borda 1784, Mémoire sur les élections au scrutin',
  takesTies: true,
  elect(rankings, options) {
    const pairs = comparePairs(rankings, options.length);
    const points = pairs.map((row) => row.reduce((sum, weight) => sum + weight, 0));
    return electHighest(options, points);
  },
});
