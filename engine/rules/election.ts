/**
 * Elections: ballot rules that choose one of a block's options. All count a vote in the same way:
 *
 * - Approving weight supports the block, and rejecting weight supports none of the options. At the
 *   end of voting the block is finalized if enough weight has voted and more weight approves than
 *   rejects.
 * - Only ballots of approving votes count towards the choice. An approval without a ballot supports
 *   any option.
 * - A block without options is finalized or rejected in the same way, without a choice.
 */
import type { BallotSchema } from './ballots.js';
import type { BallotRule, Ended, Parameter, PollBlock, Values } from './rule.js';

/** Ballot of an approving vote. */
export interface Preference<Ballot> {
  weight: number;
  ballot: Ballot;
}

/** Result of counting ballots. */
export interface Elected {
  choice: string;
  standings: Record<string, number>;
}

/** A method of counting ballots, for one rule. */
interface Method<Ballot> {
  title: string;
  source: string;
  parameters?: Readonly<Record<string, Parameter>>;
  ballot: BallotSchema;
  accepts(ballot: Ballot, values: Values, block: PollBlock): boolean;
  /** Counts the ballots. There is at least one option. */
  elect(
    preferences: readonly Preference<Ballot>[],
    options: readonly string[],
    values: Values,
  ): Elected;
}

/** Schema of an option's name in a ballot. `accepts` compares it with the block's options. */
export const optionName = { type: 'string', minLength: 1, maxLength: 64 } as const;

/** Largest number of options in a proposal. */
export const OPTIONS = 16;

/** Ballot that approves any number of options, with its check. */
export const approvals = {
  ballot: {
    type: 'object',
    properties: {
      approved: { type: 'array', items: optionName, maxItems: OPTIONS, uniqueItems: true },
    },
    required: ['approved'],
    additionalProperties: false,
  },
  accepts: ({ approved }: Approvals, _: Values, { options }: PollBlock): boolean =>
    approved.every((name) => options.includes(name)),
} as const;

export interface Approvals {
  approved: readonly string[];
}

/** Turnout that a block needs. */
export const turnoutParameter = {
  turnout_bps: {
    about: 'turnout needed, in 1/10,000 of all weight',
    default: 5_000,
    minimum: 0,
    maximum: 10_000,
  },
} as const;

/** Creates the rule for a method of counting ballots. */
export function createElection<Ballot>(method: Method<Ballot>): BallotRule {
  const { title, source, parameters, ballot, accepts, elect } = method;
  return {
    title,
    source,
    parameters: { ...turnoutParameter, ...parameters },
    ballot,
    accepts,
    usesOptions: true,
    tally({ block: { options }, electors, votes, over }, values) {
      if (!over) return { status: null };
      const sums = { approve: 0, reject: 0 };
      const preferences: Preference<Ballot>[] = [];
      for (const { elector, decision, ballot } of votes) {
        const { weight } = electors[elector]!;
        sums[decision] += weight;
        if (decision === 'reject' || ballot === undefined) continue;
        preferences.push({ weight, ballot: ballot as Ballot });
      }
      const total = electors.reduce((sum, { weight }) => sum + weight, 0);
      const status = endPoll(sums, total, values);
      if (options.length === 0) return { status };
      const { choice, standings } = elect(preferences, options, values);
      return status === 'finalized' ? { status, choice, standings } : { status, standings };
    },
  };
}

/**
 * Returns the decision at the end of voting: `expired` below the turnout, else `finalized` if more
 * weight approves than rejects. Both sums are parts of `total`.
 */
export function endPoll(
  { approve, reject }: Readonly<Record<'approve' | 'reject', number>>,
  total: number,
  { turnout_bps }: Values,
): Ended {
  if ((approve + reject) * 10_000 < turnout_bps! * total) return 'expired';
  return approve > reject ? 'finalized' : 'rejected';
}

/** Elects the option with the highest score. Of equal scores, the first option wins. */
export function electHighest(options: readonly string[], scores: readonly number[]): Elected {
  return electAt(options, scores, scores.indexOf(Math.max(...scores)));
}

/** Elects the option at a position. The standings are the scores of all options. */
export function electAt(
  options: readonly string[],
  scores: readonly number[],
  position: number,
): Elected {
  const standings = Object.fromEntries(options.map((name, at) => [name, scores[at]!]));
  return { choice: options[position]!, standings };
}
