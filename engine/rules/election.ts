/**
 * Elections: vote rules that choose one of a block's options. All count a vote in the same way:
 *
 * - Approving weight supports the block, and rejecting weight supports none of the options. At the
 *   end of voting the block is finalized if enough weight has voted and more weight approves than
 *   rejects.
 * - Only ballots of approving votes count towards the choice. An approval without a ballot supports
 *   any option.
 * - A block without options is finalized or rejected in the same way, without a choice.
 */
import type { BallotSchema } from './ballots.js';
import type { Ended, Parameter, PollBlock, Tie, Values, VoteRule } from './rule.js';

/** Ballot of an approving vote. */
export interface Preference<Ballot> {
  weight: number;
  ballot: Ballot;
}

/** Result of counting ballots. */
export interface Elected {
  choice: string;
  standings: Record<string, number>;
  /** Searches for the tie that the order of the options decided. */
  findTie(): Tie | null;
}

/** Work of a search for ties: ballots counted, times options. */
const TIE_WORK = 4_000_000;

/**
 * Finds the options that win in some order of the options, for a method that chooses among equal
 * options step by step. A state is a set of options, such as those that remain.
 */
export class TieSearch {
  /** Winners by state, as bits. */
  readonly #known = new Map<number, ReadonlySet<number>>();
  readonly #work: number;
  readonly #advance: (
    state: readonly number[],
  ) => { won: readonly number[] } | { next: number[][] };
  #left = TIE_WORK;

  /** @param advance returns the winners in a state, or the states that the next choice leads to. */
  constructor(
    size: { options: number; ballots: number },
    advance: (state: readonly number[]) => { won: readonly number[] } | { next: number[][] },
  ) {
    this.#work = size.options * (1 + size.ballots);
    this.#advance = advance;
  }

  /** False once a search was cut short. */
  get isExact(): boolean {
    return this.#left >= 0;
  }

  winners(state: readonly number[]): ReadonlySet<number> {
    const key = state.reduce((bits, option) => bits | (1 << option), 0);
    const known = this.#known.get(key);
    if (known || !this.isExact) return known ?? new Set();
    this.#left -= this.#work;
    const end = this.#advance(state);
    const winners = new Set(
      'won' in end ? end.won : end.next.flatMap((next) => [...this.winners(next)]),
    );
    this.#known.set(key, winners);
    return winners;
  }
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
export function createElection<Ballot>(method: Method<Ballot>): VoteRule {
  const { title, source, parameters, ballot, accepts, elect } = method;
  const count: Count = ({ block: { options }, electors, votes }, values) => {
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
    return { status, elected: options.length > 0 ? elect(preferences, options, values) : null };
  };
  return {
    title,
    source,
    parameters: { ...turnoutParameter, ...parameters },
    ballot,
    accepts,
    usesOptions: true,
    tally(poll, values) {
      if (!poll.over) return { status: null };
      const { status, elected } = count(poll, values);
      if (!elected) return { status };
      const { choice, standings } = elected;
      return status === 'finalized' ? { status, choice, standings } : { status, standings };
    },
    findTie(poll, values) {
      const { status, elected } = count(poll, values);
      return status === 'finalized' && elected ? elected.findTie() : null;
    },
  };
}

type Count = (...poll: Parameters<VoteRule['tally']>) => {
  status: Ended;
  elected: Elected | null;
};

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
  return electFirst(options, scores, findHighest(scores), 'sums');
}

/** Returns the positions with the highest score. */
export function findHighest(scores: readonly number[]): number[] {
  const highest = Math.max(...scores);
  return [...scores.keys()].filter((at) => scores[at] === highest);
}

/** Elects the first of the options at some positions, which are equal. */
export function electFirst(
  options: readonly string[],
  scores: readonly number[],
  best: readonly number[],
  step: string,
): Elected {
  return electAt(options, scores, best[0]!, () => createTie(options, best, step));
}

/** Elects the option at a position. The standings are the scores of all options. */
export function electAt(
  options: readonly string[],
  scores: readonly number[],
  position: number,
  findTie: () => Tie | null,
): Elected {
  const standings = Object.fromEntries(options.map((name, at) => [name, scores[at]!]));
  return { choice: options[position]!, standings, findTie };
}

/** Returns the tie of several winners, by position; null for one. */
export function createTie(
  options: readonly string[],
  winners: Iterable<number>,
  step: string,
  exact = true,
): Tie | null {
  const places = new Set(winners);
  if (places.size < 2) return null;
  return { step, winners: options.filter((_, at) => places.has(at)), exact };
}
