import { createElection, electHighest, optionName } from '../election.js';

/**
 * Each ballot names one option. `standings` are weights. A block is finalized if more weight
 * approves than rejects. Of options with equal weight, the first wins.
 */
export const rule = createElection<{ option: string }, number>({
  title: 'More weight approves than rejects; the option that most weight names is chosen',
  source:
    'Brams and Fishburn 2002, Voting procedures, ' +
    'Handbook of Social Choice and Welfare 1, chapter 4',
  ballot: {
    type: 'object',
    properties: { option: optionName },
    required: ['option'],
    additionalProperties: false,
  },
  accepts: ({ option }, _, { options }) => options.includes(option),
  reader:
    (options) =>
    ({ option }) =>
      options.indexOf(option),
  elect(preferences, options) {
    const scores = options.map(() => 0);
    for (const { weight, ballot: option } of preferences) scores[option]! += weight;
    return electHighest(options, scores);
  },
});
