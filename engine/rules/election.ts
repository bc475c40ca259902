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
import type {
  Elector,
  Ended,
  Parameter,
  PollBlock,
  PollVote,
  Tie,
  Values,
  Verdict,
  VoteRule,
} from './rule.js';

/** Ballot of an approving vote. */
interface Preference<Ballot> {
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

/** A method of counting ballots, for one rule. `Read` is the form of a ballot that it counts. */
interface Method<Ballot, Read> {
  title: string;
  source: string;
  parameters?: Readonly<Record<string, Parameter>>;
  ballot: BallotSchema;
  accepts(ballot: Ballot, values: Values, block: PollBlock): boolean;
  /** Returns a function that reads a ballot for these options, when its vote arrives. */
  reader(options: readonly string[]): (ballot: Ballot) => Read;
  /** Counts the ballots. There is at least one option. */
  elect(
    preferences: readonly Preference<Read>[],
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
  /** Reads the positions of the approved options. */
  reader:
    (options: readonly string[]) =>
    ({ approved }: Approvals): readonly number[] =>
      approved.map((name) => options.indexOf(name)),
} as const;

export interface Approvals {
  approved: readonly string[];
}

export const turnoutParameter = {
  turnout_bps: {
    about: 'turnout needed, in 1/10,000 of all weight',
    default: 5_000,
    minimum: 0,
    maximum: 10_000,
  },
} as const;

/** The votes on one block, for a method. */
class ElectionCount<Ballot, Read> {
  readonly #method: Method<Ballot, Read>;
  readonly #electors: readonly Elector[];
  readonly #options: readonly string[];
  readonly #read: (ballot: Ballot) => Read;
  readonly #sums = { approve: 0, reject: 0 };
  readonly #preferences: Preference<Read>[] = [];

  constructor(
    method: Method<Ballot, Read>,
    electors: readonly Elector[],
    { options }: PollBlock,
    votes: readonly PollVote[] = [],
  ) {
    this.#method = method;
    this.#electors = electors;
    this.#options = options;
    this.#read = method.reader(options);
    for (const vote of votes) this.add(vote);
  }

  add({ elector, decision, ballot }: PollVote): void {
    const { weight } = this.#electors[elector]!;
    this.#sums[decision] += weight;
    if (decision === 'reject' || ballot === undefined) return;
    this.#preferences.push({ weight, ballot: this.#read(ballot as Ballot) });
  }

  end(values: Values): { status: Ended; elected: Elected | null } {
    const total = this.#electors.reduce((sum, { weight }) => sum + weight, 0);
    const options = this.#options;
    const isChoice = options.length > 0;
    const elected = isChoice ? this.#method.elect(this.#preferences, options, values) : null;
    return { status: endPoll(this.#sums, total, values), elected };
  }

  verdict(over: boolean, values: Values): Verdict {
    if (!over) return { status: null };
    const { status, elected } = this.end(values);
    if (!elected) return { status };
    const { choice, standings } = elected;
    return status === 'finalized' ? { status, choice, standings } : { status, standings };
  }
}

export function createElection<Ballot, Read>(method: Method<Ballot, Read>): VoteRule {
  const { title, source, parameters, ballot, accepts } = method;
  return {
    title,
    source,
    parameters: { ...turnoutParameter, ...parameters },
    ballot,
    accepts,
    usesOptions: true,
    tally: ({ block, electors, votes, over }, values) =>
      new ElectionCount(method, electors, block, over ? votes : []).verdict(over, values),
    findTie({ block, electors, votes }, values) {
      const { status, elected } = new ElectionCount(method, electors, block, votes).end(values);
      return status === 'finalized' && elected ? elected.findTie() : null;
    },
    counter(electors, values, block) {
      const count = new ElectionCount(method, electors, block);
      return { add: (vote) => count.add(vote), verdict: (over) => count.verdict(over, values) };
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

/**
 * A ranked ballot: `{ "ranking": ["b", ["a", "c"]] }` prefers b to a and c, and all three to every
 * option that it does not name. It has no preference between the options of a tier, or between
 * options that it does not name.
 */
interface RankedBallot {
  ranking: readonly (string | readonly string[])[];
}

/** Tiers of equal options by position, best tier first. */
type Tiers = readonly (readonly number[])[];

/** A ballot's ranking, with the weight of its voter. */
export type Ranking = Preference<Tiers>;

const equalNames = {
  type: 'array',
  items: optionName,
  minItems: 2,
  maxItems: OPTIONS,
  uniqueItems: true,
} as const;

const rankedBallot = (items: BallotSchema): BallotSchema => ({
  type: 'object',
  properties: {
    ranking: { type: 'array', items, minItems: 1, maxItems: OPTIONS, uniqueItems: true },
  },
  required: ['ranking'],
  additionalProperties: false,
});

export function createRankedElection(method: {
  title: string;
  source: string;
  parameters?: Readonly<Record<string, Parameter>>;
  /** True if rankings may have tiers of several options; otherwise ballots with one are refused. */
  takesTies: boolean;
  elect(rankings: readonly Ranking[], options: readonly string[], values: Values): Elected;
}): VoteRule {
  const { title, source, parameters = {}, takesTies, elect } = method;
  return createElection<RankedBallot, Tiers>({
    title,
    source,
    parameters,
    ballot: rankedBallot(takesTies ? { anyOf: [optionName, equalNames] } : optionName),
    accepts({ ranking }, _, { options }) {
      const names = ranking.flat();
      const isKnown = names.every((name) => options.includes(name));
      return isKnown && new Set(names).size === names.length;
    },
    reader: createRankingReader,
    elect,
  });
}

function createRankingReader(options: readonly string[]): (ballot: RankedBallot) => Tiers {
  const positions = new Map(options.map((name, position) => [name, position]));
  // Rankings share the tiers of one option, because an election can have very many rankings.
  const singles = new Map(options.map((name, position) => [name, [position]]));
  const toTier = (tier: string | readonly string[]) =>
    typeof tier === 'string' ? singles.get(tier)! : tier.map((name) => positions.get(name)!);
  return ({ ranking }) => ranking.map(toTier);
}

/** Weights by pairs of options: `pairs[a][b]` is the weight that prefers option a to option b. */
export type Pairs = readonly (readonly number[])[];

export function comparePairs(rankings: readonly Ranking[], count: number): Pairs {
  // One array of numbers takes a tenth of the time of sets and nested arrays.
  const sums = new Float64Array(count * count);
  const below = new Uint8Array(count);
  for (const { weight, ballot: tiers } of rankings) {
    below.fill(1);
    for (const tier of tiers) {
      for (const option of tier) below[option] = 0;
      for (const better of tier) {
        const row = better * count;
        for (let worse = 0; worse < count; worse += 1) sums[row + worse]! += weight * below[worse]!;
      }
    }
  }
  return Array.from({ length: count }, (_, a) => [...sums.subarray(a * count, (a + 1) * count)]);
}

/** Measure of the strength of won pairs. */
export const marginsParameter = {
  margins: {
    about:
      '0: a won pair is as strong as the weight for it; 1: as its lead over the weight against',
    default: 0,
    minimum: 0,
    maximum: 1,
  },
} as const;

/**
 * Returns the strength of the strongest path between any two options, which is the largest strength
 * such that every step of some path wins its pair with at least that strength (Schulze 2011,
 * section 2.3). The strength of a pair is the weight for it, or with `byMargin` its lead.
 */
export function findStrongestPaths(pairs: Pairs, byMargin = false): Pairs {
  const paths = createSquare(pairs.length);
  for (const [a, row] of pairs.entries()) {
    for (const [b, weight] of row.entries()) {
      const against = pairs[b]![a]!;
      if (weight > against) paths[a]![b] = byMargin ? weight - against : weight;
    }
  }
  for (const via of paths.keys()) {
    for (const row of paths) {
      for (const b of row.keys()) {
        row[b] = Math.max(row[b]!, Math.min(row[via]!, paths[via]![b]!));
      }
    }
  }
  return paths;
}

const createSquare = (count: number): number[][] =>
  Array.from({ length: count }, () => Array.from({ length: count }, () => 0));
