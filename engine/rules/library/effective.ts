import { endPoll, turnoutParameter } from '../election.js';
import type { Elector, PollVote, Values, VoteRule } from '../rule.js';

interface Label {
  model: string;
}

/** Votes of one model: their number, and their weights by decision. */
interface Copies {
  votes: number;
  approve: number;
  reject: number;
}

/** Weights and votes are counted in thousandths. */
const UNIT = 1_000;
const WHOLE_BPS = 10_000;

/**
 * Agents that use the same model make the same errors, so their votes carry less information than
 * as many independent ones. A ballot names the model of its voter; votes without a ballot share one
 * model. The weight of each vote is divided by 1 + (n - 1) rho, where n is the number of votes of
 * its model and rho is `correlation_bps`. Thus n votes of one model count as n / (1 + (n - 1) rho).
 *
 * `standings` are thousandths: the discounted weights, and the effective number of votes. A block
 * expires if that number is below `least_effective`. Otherwise it is finalized if more discounted
 * weight approves than rejects; equal weights reject it. Turnout is a share of the full weight.
 */
export const rule: VoteRule = {
  title: 'More weight approves than rejects; votes of the same model are discounted',
  source: 'Kish 1965, Survey Sampling, Wiley (the design effect)',
  parameters: {
    ...turnoutParameter,
    correlation_bps: {
      about: 'correlation of the errors of agents with the same model, in 1/10,000',
      default: 5_000,
      minimum: 0,
      maximum: WHOLE_BPS,
    },
    least_effective: {
      about: 'effective number of votes needed, in 1/1,000',
      default: 0,
      minimum: 0,
      maximum: 1_000_000_000,
    },
  },
  ballot: {
    type: 'object',
    properties: { model: { type: 'string', minLength: 1, maxLength: 64 } },
    required: ['model'],
    additionalProperties: false,
  },
  accepts: ({ model }: Label) => /^[!-~]+$/.test(model),
  tally({ electors, votes, over }, values) {
    if (!over) return { status: null };
    const cast = { approve: 0, reject: 0 };
    for (const { elector, decision } of votes) cast[decision] += electors[elector]!.weight;
    const total = electors.reduce((sum, { weight }) => sum + weight, 0);
    const standings = discount(electors, votes, values);
    const { approve, reject, effective } = standings;
    const isShort =
      effective < values.least_effective! || endPoll(cast, total, values) === 'expired';
    if (isShort) return { status: 'expired', standings };
    return { status: approve > reject ? 'finalized' : 'rejected', standings };
  },
};

function discount(
  electors: readonly Elector[],
  votes: readonly PollVote[],
  { correlation_bps: correlation }: Values,
) {
  const models = new Map<string, Copies>();
  for (const { elector, decision, ballot } of votes) {
    const model = (ballot as Label | undefined)?.model ?? '';
    const copies = models.get(model) ?? { votes: 0, approve: 0, reject: 0 };
    models.set(model, copies);
    copies.votes += 1;
    copies[decision] += electors[elector]!.weight;
  }
  const sums = { approve: 0, reject: 0, effective: 0 };
  for (const copies of models.values()) {
    const divisor = WHOLE_BPS + (copies.votes - 1) * correlation!;
    const shareOf = (amount: number) => Math.floor((amount * UNIT * WHOLE_BPS) / divisor);
    sums.approve += shareOf(copies.approve);
    sums.reject += shareOf(copies.reject);
    sums.effective += shareOf(copies.votes);
  }
  return sums;
}
