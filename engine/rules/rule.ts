/**
 * A decision rule says when a block is finalized, rejected or expired, and which of its options is
 * chosen. A rule is one of two kinds:
 *
 * - A weight rule decides from the counted weights alone (`decide`). Everything else is derived.
 * - A vote rule decides from the votes (`tally`), and may take ballots. It may also count vote by
 *   vote (`counter`), which is faster. `tally` is the definition; both must agree.
 *
 * A rule is a pure function of its arguments. It keeps nothing between calls and uses integers
 * only, so every replay and every checker gets the same result. `block.hash` is its only source of
 * chance.
 */
import type { BallotSchema } from './ballots.js';

/** Final status that a rule can give a block. */
export type Ended = 'finalized' | 'rejected' | 'expired';

/** A whole number that a network sets in genesis. */
export interface Parameter {
  about: string;
  default: number;
  minimum: number;
  maximum: number;
}

/** Parameter values by name. */
export type Values = Readonly<Record<string, number>>;

/** Counted weights. `voted` and `electors` count agents. */
export interface Counts {
  approve: number;
  reject: number;
  total: number;
  voted: number;
  electors: number;
  /** Personality groups of three or more electors that rejected unanimously. */
  vetoes: number;
}

export interface PollBlock {
  /** sha256, hex. */
  hash: string;
  height: number;
  /** Names of the options; empty if the proposal has none. */
  options: readonly string[];
}

export interface Elector {
  /** Agent number, in order of registration. */
  agent: number;
  weight: number;
}

export interface PollVote {
  /** Position in the electorate. */
  elector: number;
  agent_id: string;
  decision: 'approve' | 'reject';
  ballot?: unknown;
  /** Milliseconds since the proposal. */
  ms: number;
}

/** A poll: everything that a vote rule sees. Votes are in log order. */
interface Poll {
  block: PollBlock;
  electors: readonly Elector[];
  votes: readonly PollVote[];
  /** True if all electors have voted, or the deadline has passed. */
  over: boolean;
}

/** Result of a rule. `status` is null while the block is undecided, and never null when over. */
export interface Verdict {
  status: Ended | null;
  /** Name of the chosen option. */
  choice?: string;
  /** Scores by name: integers. */
  standings?: Readonly<Record<string, number>>;
  /** Set if the rule failed. The block then expires. */
  fault?: RuleFault;
  /** Exception of a module, for its author. `checkVerdict` removes it, so no log contains it. */
  thrown?: string;
}

/** A choice that would have been another one if the options had been in another order. */
export interface Tie {
  /** Step of the count at which options were equal, as in docs/rules.md. */
  step: string;
  /** Options that win in some order, in order of the block. */
  winners: readonly string[];
  /** False if there are too many orders to try. Then no option outside `winners` wins in any. */
  exact: boolean;
}

/** Describes a tie in a clause. */
export function describeTie(
  { step, winners, exact }: Tie,
  label: (name: string) => string = (name) => name,
): string {
  const labels = winners.map(label);
  const names = `${labels.slice(0, -1).join(', ')} or ${labels.at(-1)}`;
  return `tie at ${step}: ${exact ? '' : 'at most '}${names} wins, by the order of the options`;
}

/** Reasons for which a rule fails. */
const ruleFaults = [
  'RULE_THREW',
  'RULE_TIMEOUT',
  'RULE_MEMORY',
  'RULE_VERDICT',
  'RULE_CONTRADICTION',
] as const;
export type RuleFault = (typeof ruleFaults)[number];

/** Thrown by a rule that runs in a sandbox. The block then expires with the fault. */
export class RuleError extends Error {
  /** @param thrown exception of a module: its name, message and line. */
  constructor(
    readonly fault: RuleFault,
    readonly thrown?: string,
  ) {
    super(`decision rule failed: ${fault}; the block expires`);
  }
}

interface RuleText {
  /** One sentence: when a block is finalized. */
  title: string;
  /** Publication that defines the rule. */
  source?: string;
  parameters: Readonly<Record<string, Parameter>>;
}

export interface WeightRule extends RuleText {
  /** True if the rule uses `vetoes`, for which checkers need the electors' personalities. */
  usesVetoes?: boolean;
  /** Returns the decision, or null while the block is undecided. Never null when `over`. */
  decide(counts: Readonly<Counts>, values: Values, over: boolean): Ended | null;
}

export interface VoteRule extends RuleText {
  /** Schema of a vote's ballot. A vote without a ballot is valid. */
  ballot?: BallotSchema;
  /** Checks what a schema cannot express. A throw counts as false. */
  accepts?(ballot: never, values: Values, block: PollBlock): boolean;
  /** True if the rule chooses among a block's options. */
  usesOptions?: boolean;
  /** True if the rule can decide before all electors have voted. */
  decidesEarly?: boolean;
  tally(poll: Poll, values: Values): Verdict;
  /**
   * Returns the tie that the order of the options decided in a finished poll, or null. A tie is
   * derived from the ballots and is not part of the verdict, so no log contains it.
   */
  findTie?(poll: Poll, values: Values): Tie | null;
  counter?(electors: readonly Elector[], values: Values, block: PollBlock): BallotCounter;
}

/** Counts one block's votes as they arrive. */
export interface BallotCounter {
  add(vote: PollVote): void;
  verdict(over: boolean): Verdict;
}

export type Rule = WeightRule | VoteRule;

export const isWeightRule = (rule: Rule): rule is WeightRule => 'decide' in rule;

const STANDINGS = 64;
const NAME_LENGTH = 64;

/**
 * Returns the verdict with only its known members, or the fault RULE_VERDICT if it is invalid, such
 * as no decision although the poll is over, or an unknown option.
 */
export function checkVerdict(raw: unknown, over: boolean, options: readonly string[]): Verdict {
  if (typeof raw !== 'object' || raw === null) return faulty('RULE_VERDICT');
  const { status, choice, standings, fault } = raw as Record<string, unknown>;
  if (ruleFaults.includes(fault as RuleFault)) return faulty(fault as RuleFault);
  if (status === null && !over) return { status: null };
  if (status !== 'finalized' && status !== 'rejected' && status !== 'expired') {
    return faulty('RULE_VERDICT');
  }
  const verdict: Verdict = { status };
  if (choice !== undefined && choice !== null) {
    if (status !== 'finalized' || !options.includes(choice as string)) {
      return faulty('RULE_VERDICT');
    }
    verdict.choice = choice as string;
  }
  if (standings !== undefined && standings !== null) {
    if (!isStandings(standings)) return faulty('RULE_VERDICT');
    verdict.standings = standings;
  }
  return verdict;
}

/** Returns the verdict of a failed rule: the block expires. */
export const faulty = (fault: RuleFault): Verdict => ({ status: 'expired', fault });

function isStandings(value: unknown): value is Record<string, number> {
  if (typeof value !== 'object' || Array.isArray(value)) return false;
  const entries = Object.entries(value as object);
  return (
    entries.length <= STANDINGS &&
    entries.every(([name, score]) => name.length <= NAME_LENGTH && Number.isSafeInteger(score))
  );
}
