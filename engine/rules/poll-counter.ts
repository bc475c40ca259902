/** Counts the votes on one block, in log order, and derives the rule's verdict. */

import { canonical } from '../protocol/canonical.js';
import { assertInvariant } from '../protocol/invariants.js';
import type { Decision } from '../protocol/schema/primitives.js';
import { bisect, type NetworkRule } from './network-rule.js';
import {
  type BallotCounter,
  type Counts,
  checkVerdict,
  type Elector,
  type Ended,
  faulty,
  isWeightRule,
  type PollBlock,
  type PollVote,
  RuleError,
  type Tie,
  type Verdict,
  type VoteRule,
} from './rule.js';

/** Smallest number of electors with one personality that can veto together. */
export const SMALLEST_GROUP = 3;

/** Electors by position. */
export interface PollElectors {
  readonly agents: readonly number[];
  readonly weights: readonly number[];
  readonly total: number;
  readonly largestWeight: number;
  /** Number of electors by personality. Only rules that use vetoes read it. */
  readonly groups: ReadonlyMap<string, number>;
}

/** Returns the electorate of these electors, in this order. */
export function createElectors(
  electors: readonly { agent: number; weight: number; personality: string }[],
): PollElectors {
  const groups = new Map<string, number>();
  let total = 0;
  let largestWeight = 1;
  for (const { weight, personality } of electors) {
    total += weight;
    largestWeight = Math.max(largestWeight, weight);
    groups.set(personality, (groups.get(personality) ?? 0) + 1);
  }
  const agents = electors.map(({ agent }) => agent);
  return { agents, weights: electors.map(({ weight }) => weight), total, largestWeight, groups };
}

export interface CountedVote extends PollVote {
  personality: string;
}

export class PollCounter {
  readonly counts: Readonly<Counts>;
  readonly #counts: Counts;
  readonly #rule: NetworkRule;
  readonly #block: PollBlock;
  readonly #electors: PollElectors;
  readonly #groups: Vetoes | null;
  readonly #votes: PollVote[] = [];
  readonly #counter: BallotCounter | null = null;
  readonly #trial: Counts;
  /** Votes until the block could close, computed when `voted` electors had voted. */
  #bound = { voted: 0, votes: 0 };

  constructor(rule: NetworkRule, block: PollBlock, electors: PollElectors) {
    const { total, agents } = electors;
    const numbers = { approve: 0, reject: 0, total, voted: 0, electors: agents.length, vetoes: 0 };
    this.#counts = numbers;
    this.#trial = { ...numbers };
    this.counts = numbers;
    this.#rule = rule;
    this.#block = block;
    this.#electors = electors;
    this.#groups = rule.usesVetoes ? new Vetoes(electors.groups) : null;
    if (isWeightRule(rule.rule) || !rule.rule.counter) return;
    this.#counter = rule.rule.counter(electorsOf(electors), rule.values, block);
  }

  /** True if the rule reads only the weights, so that `count` counts a vote. */
  get isByWeight(): boolean {
    return this.#rule.isByWeight;
  }

  /** Adds the weight of a vote. */
  count(elector: number, decision: Decision, personality: string): void {
    const counts = this.#counts;
    const weight = this.#electors.weights[elector];
    assertInvariant(weight !== undefined && weight >= 0, 'VOTE_WEIGHT', weight, 0);
    counts[decision] += weight!;
    counts.voted += 1;
    const { approve, reject, total, voted, electors } = counts;
    assertInvariant(approve + reject <= total, 'TALLY_WEIGHT', approve + reject, total);
    assertInvariant(voted <= electors, 'TALLY_VOTES', voted, electors);
    if (this.#groups?.isVeto(personality, decision)) counts.vetoes += 1;
  }

  /** Counts a vote, which must be the elector's first. */
  add(vote: CountedVote): void {
    const { elector, decision, personality, agent_id, ballot, ms } = vote;
    this.count(elector, decision, personality);
    if (this.#rule.isByWeight) return;
    const own: PollVote = { elector, agent_id, decision, ms };
    if (ballot !== undefined) own.ballot = ballot;
    this.#votes.push(own);
    this.#counter?.add(own);
  }

  /** Returns the verdict. The status is never null at the deadline or once all have voted. */
  verdict(atDeadline: boolean): Verdict {
    const { voted, electors } = this.#counts;
    const over = atDeadline || voted === electors;
    const { rule } = this.#rule;
    try {
      if (isWeightRule(rule)) {
        const status = this.#rule.decide(this.#counts, over);
        return status === null && !over ? UNDECIDED : checkVerdict({ status }, over, []);
      }
      return over || rule.decidesEarly ? this.#ballotVerdict(rule, over) : UNDECIDED;
    } catch (error) {
      if (error instanceof RuleError) return faulty(error.fault);
      throw error;
    }
  }

  #ballotVerdict(rule: VoteRule, over: boolean): Verdict {
    const block = this.#block;
    if (!this.#counter) return checkVerdict(this.#tally(rule, over), over, block.options);
    const verdict = checkVerdict(this.#counter.verdict(over), over, block.options);
    const isFinal = verdict.status !== null && verdict.fault === undefined;
    if (!isFinal || this.#rule.name !== 'module') return verdict;
    // A module's two definitions are compared once for each block.
    const other = checkVerdict(this.#tally(rule, over), over, block.options);
    return canonical(verdict) === canonical(other) ? verdict : faulty('RULE_CONTRADICTION');
  }

  #tally(rule: VoteRule, over: boolean): Verdict {
    const electors = electorsOf(this.#electors);
    return rule.tally(
      { block: this.#block, electors, votes: this.#votes, over },
      this.#rule.values,
    );
  }

  /** Returns the tie that the order of the options decided, or null. */
  findTie(): Tie | null {
    const { rule, values } = this.#rule;
    if (isWeightRule(rule) || !rule.findTie) return null;
    const electors = electorsOf(this.#electors);
    return rule.findTie({ block: this.#block, electors, votes: this.#votes, over: true }, values);
  }

  /**
   * Returns a lower bound of the number of further votes that close the block before its deadline.
   * That many votes can be verified in one batch without any of them arriving after the block
   * closes.
   */
  votesUntilClose(): number {
    const { voted, electors } = this.#counts;
    const left = electors - voted;
    const { rule } = this.#rule;
    if (left <= 1) return 1;
    if (!isWeightRule(rule)) return rule.decidesEarly ? 1 : left;
    const since = voted - this.#bound.voted;
    // One vote lowers the number by one at most, so an earlier number remains a bound.
    if (2 * since >= this.#bound.votes) {
      const closest = Math.min(left, this.#groups?.closest() ?? left);
      this.#bound = { voted, votes: bisect(1, closest, (votes) => this.#canClose(votes)) };
    }
    return this.#bound.votes - (voted - this.#bound.voted);
  }

  /** Returns true if this many equal votes of the largest weight could close the block. */
  #canClose(votes: number): boolean {
    const { approve, reject, voted, total, electors } = this.#counts;
    const weight = Math.min(votes * this.#electors.largestWeight, total - approve - reject);
    const after = voted + votes;
    const over = after === electors;
    return (
      this.#decideTrial(approve + weight, reject, after, over) !== null ||
      this.#decideTrial(approve, reject + weight, after, over) !== null
    );
  }

  #decideTrial(approve: number, reject: number, voted: number, over: boolean): Ended | null {
    const trial = this.#trial;
    trial.approve = approve;
    trial.reject = reject;
    trial.voted = voted;
    trial.vetoes = this.#counts.vetoes;
    return this.#rule.decideTrial(trial, over);
  }
}

const UNDECIDED: Verdict = { status: null };

function electorsOf({ agents, weights }: PollElectors): Elector[] {
  return agents.map((agent, position) => ({ agent, weight: weights[position]! }));
}

/** Rejections by personality group. A large enough group vetoes if it rejects unanimously. */
class Vetoes {
  readonly #rejections = new Map<string, number>();
  /** Personalities that can no longer veto, because a member approved. */
  readonly #split = new Set<string>();

  constructor(private readonly groups: ReadonlyMap<string, number>) {}

  /** Counts a vote. Returns true if it completes a veto. */
  isVeto(personality: string, decision: 'approve' | 'reject'): boolean {
    if (decision === 'approve') {
      this.#split.add(personality);
      return false;
    }
    const rejections = (this.#rejections.get(personality) ?? 0) + 1;
    this.#rejections.set(personality, rejections);
    const size = this.groups.get(personality) ?? 0;
    return size >= SMALLEST_GROUP && rejections === size;
  }

  /** Returns the smallest number of votes that complete a veto, or infinity. */
  closest(): number {
    let closest = Number.POSITIVE_INFINITY;
    for (const [personality, size] of this.groups) {
      if (size < SMALLEST_GROUP || this.#split.has(personality)) continue;
      closest = Math.min(closest, size - (this.#rejections.get(personality) ?? 0));
    }
    return closest;
  }
}
