import { createElection, electHighest, OPTIONS } from '../election.js';

/** Largest value of the parameter `highest`. A sum of scores is then below 2^37. */
const HIGHEST = 1_000;

/**
 * Each ballot gives options a score; options that it does not name get 0. `standings` are sums of
 * score times weight. A block is finalized if more weight approves than rejects. Of options with
 * equal sums, the first wins.
 */
export const rule = createElection<
  { scores: Readonly<Record<string, number>> },
  readonly { option: number; score: number }[]
>({
  title: 'More weight approves than rejects; the option with the highest sum of scores is chosen',
  source: 'Hillinger 2005, The case for utilitarian voting, Homo Oeconomicus 22(3)',
  parameters: {
    highest: { about: 'highest score of a ballot', default: 10, minimum: 1, maximum: HIGHEST },
  },
  ballot: {
    type: 'object',
    properties: {
      scores: {
        type: 'object',
        maxProperties: OPTIONS,
        additionalProperties: { type: 'integer', minimum: 0, maximum: HIGHEST },
      },
    },
    required: ['scores'],
    additionalProperties: false,
  },
  accepts: ({ scores }, { highest }, { options }) =>
    Object.entries(scores).every(([name, score]) => options.includes(name) && score <= highest!),
  reader:
    (options) =>
    ({ scores }) =>
      Object.entries(scores).map(([name, score]) => ({ option: options.indexOf(name), score })),
  elect(preferences, options) {
    const sums = options.map(() => 0);
    for (const { weight, ballot } of preferences) {
      for (const { option, score } of ballot) sums[option]! += score * weight;
    }
    return electHighest(options, sums);
  },
});
