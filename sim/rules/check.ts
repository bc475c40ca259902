/**
 * Checks a decision rule against its contract, in random polls:
 *
 * - `counter` and `tally` agree after each vote, and a repeated count gives the same verdict.
 * - A rule never throws, never exceeds its limits, and its verdicts contain integers only.
 * - A poll that is over has a decision.
 * - Later votes do not change a decision.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { canonical } from '../../engine/protocol/canonical.js';
import type { RuleLine } from '../../engine/protocol/schema/genesis.js';
import { createLineFinder, type NetworkRule, ruleOf } from '../../engine/rules/network-rule.js';
import { createElectors, PollCounter } from '../../engine/rules/poll-counter.js';
import {
  type BallotCounter,
  type Counts,
  checkVerdict,
  type Ended,
  faulty,
  isWeightRule,
  RuleError,
  type RuleFault,
  type Verdict,
  type VoteRule,
} from '../../engine/rules/rule.js';
import { Streams } from '../rng.js';
import { type DrawnBallots, drawPoll, type RandomPoll } from './random-polls.js';

/**
 * Kinds of problems. `CONTRADICTION`: `counter` and `tally` differ. `UNSTABLE`: a repeated count
 * differs. `CHANGED`: a later vote or the deadline changes a decision. Others are faults of a rule.
 */
type CheckCode = RuleFault | 'CONTRADICTION' | 'UNSTABLE' | 'CHANGED';

/** Violation of the contract in one poll. */
export interface RuleViolation {
  code: CheckCode;
  /** Number of the poll. With the seed, it determines the poll. */
  poll: number;
  /** Number of votes counted. */
  votes: number;
  /** True if the poll was counted as over. */
  over: boolean;
  /** Verdict of the definition, and the verdict that differs from it. */
  expected: Verdict;
  found: Verdict;
  /** Exception of a module; null for other violations. */
  thrown: string | null;
}

/** Speed of counting, with the verdict after each vote. */
interface RuleSpeed {
  votes_per_s: number;
  bft_votes_per_s: number;
  /** Time for a vote, as a multiple of the time for a vote under `bft` in the same run. */
  times_bft: number;
}

export interface RuleChecked {
  holds: boolean;
  seed: string;
  polls: number;
  votes: number;
  ballots: DrawnBallots;
  /** Number of polls by outcome, of polls without a violation. */
  outcomes: Record<Ended, number>;
  /** Number of polls that each line decides, at any vote; null if the rule has no lines. */
  deciding: number[] | null;
  violations: RuleViolation[];
  /** The first violating poll. */
  example: RandomPoll | null;
  /** Null after a violation. */
  speed: RuleSpeed | null;
}

export interface RuleCheckOptions {
  seed: string;
  polls: number;
  /** Lines of the rule, if lines define it. */
  lines?: readonly RuleLine[] | undefined;
  signal?: AbortSignal;
  onProgress?(done: number): void;
}

/** A rule that violates its contract does so often, so few examples suffice. */
const MOST_VIOLATIONS = 5;

/** Checks the rule. Stops early at a signal, or after a few violations. */
export async function checkRule(
  rule: NetworkRule,
  { seed, polls, lines, signal, onProgress }: RuleCheckOptions,
): Promise<RuleChecked> {
  const streams = new Streams(seed);
  const findLine = lines ? createLineFinder(lines) : null;
  const ballots: DrawnBallots = { votes: 0, accepted: 0 };
  const checked: RuleChecked = {
    ...{ holds: true, seed, polls: 0, votes: 0, ballots },
    outcomes: { finalized: 0, rejected: 0, expired: 0 },
    deciding: lines?.map(() => 0) ?? null,
    ...{ violations: [], example: null, speed: null },
  };
  for (let number = 0; number < polls && !signal?.aborted; number += 1) {
    const poll = drawPoll(rule, streams.of(number, 'poll'), ballots);
    const deciding = new Set<number>();
    const found = checkPoll(rule, poll, (counts, over) => {
      if (findLine) deciding.add(findLine(counts, over));
    });
    for (const line of deciding) if (line >= 0) checked.deciding![line]! += 1;
    checked.polls += 1;
    checked.votes += poll.votes.length;
    if ('status' in found) checked.outcomes[found.status!] += 1;
    else {
      checked.holds = false;
      checked.violations.push({ ...found, poll: number });
      checked.example ??= poll;
      if (checked.violations.length === MOST_VIOLATIONS) break;
    }
    onProgress?.(checked.polls);
    // Lets a signal arrive.
    await nextTurn();
  }
  if (checked.holds && !signal?.aborted) checked.speed = measureSpeed(rule, streams);
  return checked;
}

type Violation = Omit<RuleViolation, 'poll'>;

/**
 * Returns the first violation, or the verdict at the end of voting.
 *
 * @param onCounts called with the counts of a weight rule before each verdict.
 */
function checkPoll(
  rule: NetworkRule,
  poll: RandomPoll,
  onCounts: (counts: Readonly<Counts>, over: boolean) => void,
): Violation | Verdict {
  const form = isWeightRule(rule.rule) ? byWeight(rule, poll) : byBallots(rule, rule.rule, poll);
  let decided: Verdict | null = null;
  let last: Verdict = { status: null };
  for (let votes = 0; votes <= poll.votes.length; votes += 1) {
    if (votes > 0) form.add(votes);
    const isLast = votes === poll.electors.length;
    for (const over of isLast ? [true] : [false, true]) {
      const [expected, ...others] = form.verdicts(votes, over) as [Verdict, ...Verdict[]];
      if (form.counts) onCounts(form.counts, over);
      const found = others.find((other) => canonical(other) !== canonical(expected));
      const fault = expected.fault ?? found?.fault;
      const problem = (code: CheckCode, other: Verdict): Violation => {
        return { code, votes, over, expected, found: other, thrown: null };
      };
      if (fault) return { ...problem(fault, found ?? expected), thrown: form.thrown(votes, over) };
      if (found) return problem(form.code, found);
      if (decided && !isSameDecision(decided, expected)) {
        return { ...problem('CHANGED', expected), expected: decided };
      }
      if (!over && expected.status !== null) decided ??= expected;
      last = expected;
    }
  }
  return last;
}

const isSameDecision = (one: Verdict, other: Verdict): boolean =>
  one.status === other.status && one.choice === other.choice;

/** Ways to count the same votes. The first is the definition. */
interface Form {
  code: CheckCode;
  /** Weights counted so far, of a weight rule. */
  counts?: Readonly<Counts>;
  /** Counts the vote with this number, from 1. */
  add(votes: number): void;
  verdicts(votes: number, over: boolean): Verdict[];
  /** Returns the exception that a module throws in the same count, or null. */
  thrown(votes: number, over: boolean): string | null;
}

/** Counts a weight rule as the engine does, and a second time from the start. */
function byWeight(rule: NetworkRule, { block, electors, votes }: RandomPoll): Form {
  const group = createElectors(electors);
  const counter = new PollCounter(rule, block, group);
  return {
    code: 'UNSTABLE',
    counts: counter.counts,
    add: (count) => counter.add(votes[count - 1]!),
    verdicts(count, over) {
      const again = new PollCounter(rule, block, group);
      for (const vote of votes.slice(0, count)) again.add(vote);
      return [again.verdict(over), counter.verdict(over)];
    },
    thrown(_, over) {
      try {
        rule.decide(counter.counts, over);
      } catch (error) {
        if (error instanceof RuleError) return error.thrown ?? null;
      }
      return null;
    },
  };
}

/** Applies the definition of a vote rule twice, and its counter if there is one. */
function byBallots(rule: NetworkRule, ballotRule: VoteRule, poll: RandomPoll): Form {
  const { block } = poll;
  const electors = poll.electors.map(({ agent, weight }) => ({ agent, weight }));
  const votes = poll.votes.map(({ personality: _, ...vote }) => vote);
  let counter: BallotCounter | undefined;
  let failed: Verdict | null = null;
  const attempt = (run: () => void) => {
    failed ??= guard(() => {
      run();
      return null;
    });
  };
  attempt(() => {
    counter = ballotRule.counter?.(electors, rule.values, block);
  });
  const tally = (count: number, over: boolean) => {
    const poll = { block, electors: [...electors], votes: votes.slice(0, count), over };
    return guard(() => ballotRule.tally(poll, rule.values));
  };
  const counted = (over: boolean) =>
    failed ?? (counter ? guard(() => counter!.verdict(over)) : null);
  return {
    code: ballotRule.counter === undefined ? 'UNSTABLE' : 'CONTRADICTION',
    add: (count) => attempt(() => counter?.add(votes[count - 1]!)),
    verdicts(count, over) {
      // The engine asks a rule that does not decide early only at the end.
      if (!over && !ballotRule.decidesEarly) return [{ status: null }];
      const found = counted(over);
      const all = [tally(count, over), tally(count, over), ...(found ? [found] : [])];
      return all.map((verdict) => checkVerdict(verdict, over, block.options));
    },
    thrown: (count, over) => tally(count, over).thrown ?? counted(over)?.thrown ?? null,
  };
}

/** Calls a rule. Returns a fault in place of an exception. */
function guard<T>(run: () => T): T | Verdict {
  try {
    return run();
  } catch (error) {
    return faulty(error instanceof RuleError ? error.fault : 'RULE_THREW');
  }
}

/*
 * Speed: the rule and `bft` count the same number of votes in turn. Times depend on the machine, so
 * only their ratio is comparable.
 */

const SPEED_ELECTORS = 100;
const SPEED_OPTIONS = 5;
const ROUNDS = 9;
/** Time after which no further round begins. */
const MOST_MS = 3_000;

function measureSpeed(rule: NetworkRule, streams: Streams): RuleSpeed {
  const size = { electors: SPEED_ELECTORS, options: SPEED_OPTIONS };
  const bft = ruleOf({ policy: 'bft' });
  const own = drawPoll(rule, streams.of('world', 'speed'), { votes: 0, accepted: 0 }, size);
  const plain = drawPoll(bft, streams.of('world', 'speed of bft'), { votes: 0, accepted: 0 }, size);
  const begun = performance.now();
  const rounds: [rule: number, bft: number][] = [];
  while (rounds.length < ROUNDS && performance.now() - begun < MOST_MS) {
    rounds.push([timeOf(rule, own), timeOf(bft, plain)]);
  }
  const [ms, bftMs] = [0, 1].map((at) => median(rounds.map((round) => round[at]!)));
  const perSecond = (each: number) => Math.round(1_000 / each);
  return {
    votes_per_s: perSecond(ms!),
    bft_votes_per_s: perSecond(bftMs!),
    times_bft: Math.round((100 * ms!) / bftMs!) / 100,
  };
}

/** Shortest time of a measurement, far above the resolution of the clock. */
const LEAST_MS = 5;

/** Returns the milliseconds for a vote. */
function timeOf(rule: NetworkRule, { block, electors, votes }: RandomPoll): number {
  const group = createElectors(electors);
  const begun = performance.now();
  for (let counted = 0; ; ) {
    const counter = new PollCounter(rule, block, group);
    for (const vote of votes) {
      counter.add(vote);
      counter.verdict(false);
    }
    counted += votes.length;
    const ms = performance.now() - begun;
    if (ms >= LEAST_MS) return ms / counted;
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
