/**
 * Voters rank the options of a block. The option that most voters put first wins, if more than half
 * of them do. If none does, the option with the fewest first places is struck, until one wins.
 */
export default {
  title: 'Instant runoff among the options of a block',
  parameters: {},
  usesOptions: true,
  ballot: {
    type: 'object',
    properties: {
      ranking: {
        type: 'array',
        items: { type: 'string', maxLength: 64 },
        minItems: 1,
        maxItems: 16,
        uniqueItems: true,
      },
    },
    required: ['ranking'],
    additionalProperties: false,
  },
  accepts: ({ ranking }, _, { options }) => ranking.every((one) => options.includes(one)),

  tally({ block: { options }, electors, votes, over }) {
    if (!over) return { status: null };
    const ballots = [];
    let [approve, reject] = [0, 0];
    for (const { elector, decision, ballot } of votes) {
      const { weight } = electors[elector];
      if (decision === 'reject') reject += weight;
      else approve += weight;
      if (decision === 'approve' && ballot) ballots.push({ weight, ranking: ballot.ranking });
    }
    if (approve <= reject) return { status: 'rejected' };
    if (ballots.length === 0) return { status: 'finalized' };
    return { status: 'finalized', ...runoff(options, ballots) };
  },
};

function runoff(options, ballots) {
  let left = [...options];
  for (;;) {
    const firsts = new Map(left.map((one) => [one, 0]));
    let counted = 0;
    for (const { weight, ranking } of ballots) {
      const first = ranking.find((one) => firsts.has(one));
      if (first === undefined) continue;
      firsts.set(first, firsts.get(first) + weight);
      counted += weight;
    }
    // Of options with equal counts, the block names the winner first.
    const best = left.reduce((a, b) => (firsts.get(b) > firsts.get(a) ? b : a));
    const worst = left.reduce((a, b) => (firsts.get(b) <= firsts.get(a) ? b : a));
    if (left.length === 1 || 2 * firsts.get(best) > counted) {
      return { choice: best, standings: Object.fromEntries(firsts) };
    }
    left = left.filter((one) => one !== worst);
  }
}
