import { type Approvals, approvals, createElection, electHighest } from '../election.js';

/**
 * Each ballot approves any number of options. `standings` are weights. A block is finalized if more
 * weight approves than rejects. Of options with equal weight, the first wins.
 */
export const rule = createElection<Approvals, readonly number[]>({
  title: 'More weight approves than rejects; the option that most weight approves is chosen',
  source: 'Brams and Fishburn 1978, Approval voting, American Political Science Review 72(3)',
  ...approvals,
  elect(preferences, options) {
    const scores = options.map(() => 0);
    for (const { weight, ballot } of preferences) {
      for (const option of ballot) scores[option]! += weight;
    }
    return electHighest(options, scores);
  },
});
