import { endPoll, turnoutParameter } from '../election.js';
import type { VoteRule } from '../rule.js';

/** Most votes of one elector. A sum of votes times weight is then below 2^37. */
const VOTES = 1_000;

/**
 * An elector has credits for each block and pays n² of them for n votes behind its decision. A vote
 * without a ballot is one vote. `standings` are sums of votes times weight. A block is finalized if
 * more votes approve than reject; equal sums reject it. Turnout is a share of the weight.
 */
export const rule: VoteRule = {
  title: 'More votes approve than reject; n votes of an elector cost n² of its credits for a block',
  source: 'Lalley and Weyl 2018, Quadratic voting, AEA Papers and Proceedings 108',
  parameters: {
    ...turnoutParameter,
    credits: {
      about: 'credits of an elector for each block',
      default: 25,
      minimum: 1,
      maximum: VOTES * VOTES,
    },
  },
  ballot: {
    type: 'object',
    properties: { votes: { type: 'integer', minimum: 1, maximum: VOTES } },
    required: ['votes'],
    additionalProperties: false,
  },
  accepts: ({ votes }: { votes: number }, { credits }) => votes * votes <= credits!,
  tally({ electors, votes, over }, values) {
    if (!over) return { status: null };
    const cast = { approve: 0, reject: 0 };
    const standings = { approve: 0, reject: 0 };
    for (const { elector, decision, ballot } of votes) {
      const { weight } = electors[elector]!;
      cast[decision] += weight;
      standings[decision] += weight * ((ballot as { votes: number } | undefined)?.votes ?? 1);
    }
    const total = electors.reduce((sum, { weight }) => sum + weight, 0);
    if (endPoll(cast, total, values) === 'expired') return { status: 'expired', standings };
    const status = standings.approve > standings.reject ? 'finalized' : 'rejected';
    return { status, standings };
  },
};
