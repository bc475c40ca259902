/**
 * Counts recorded votes under other decision rules. Each block is counted alone: agents do not vote
 * again, and no block gets a different parent. A vote without a ballot means what the rule says.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import type { NetworkRule } from '../../engine/rules/network-rule.js';
import { createElectors, PollCounter, type PollElectors } from '../../engine/rules/poll-counter.js';
import type { PollBlock, Tie, Verdict } from '../../engine/rules/rule.js';
import { describeTie } from '../../engine/rules/rule.js';
import {
  BallotMaker,
  type BallotUses,
  ballotUses,
  countNoBallots,
  describeBallots,
  findMostPoints,
  labelOption,
  type Scale,
  type TieBreak,
} from '../elections/rule-ballots.js';
import type { ChosenRule } from './chosen-rule.js';
import type { ElectionPoll } from './election-polls.js';
import type { Outcome, RecordedPoll, Undecided } from './recorded-polls.js';

/** A voter whose vote decides, and the outcomes without it; null if the outcome is the same. */
interface PivotalVoter {
  agent_id: string;
  name: string;
  /** Outcome if the voter had not voted. */
  removed: Outcome | null;
  /** Outcome if the voter had decided the other way. */
  reversed: Outcome | null;
}

/** A block under one rule. */
export interface RecountedBlock {
  outcome: Outcome;
  standings?: Readonly<Record<string, number>>;
  /** Reason for which the rule failed. */
  fault?: string;
  /** Tie that the order of the options decided. */
  tied?: Tie;
  /** True if the recorded outcome is different. */
  differs: boolean;
  /** Number of votes until the decision. */
  votes: number;
  /** Number of electors that could still have voted, and that the recount counts as absent. */
  waits: number;
  /** Numbers of voters with a ballot, by its use. */
  ballots: BallotUses;
  /** Scale of scores. Absent if the scores are those of the ballots. */
  scale?: Scale;
  /** Null if the rule failed, or the search exceeds its limit. */
  pivotal: PivotalVoter[] | null;
  /** Votes that the search for pivotal voters would count, if that exceeds the limit. */
  exceeds?: number;
}

export interface RecountRow
  extends Pick<RecordedPoll, 'number' | 'height' | 'options' | 'labels' | 'recorded'> {
  block_hash: string;
  electors: number;
  votes: number;
  /** One for each rule, in order. */
  rules: RecountedBlock[];
}

export interface RuleSums {
  rule: string;
  policy: string;
  parameters: Readonly<Record<string, number>>;
  /** SHA-256 of a module; null for other rules. */
  sha256: string | null;
  /** Number of blocks by status. */
  statuses: Record<string, number>;
  /** Number of blocks with a different status or choice, and their hashes. */
  differs: number;
  differing: string[];
  /** Number of blocks whose electors could still have voted. */
  waits: number;
  faults: number;
  /** Number of blocks in which the order of the options decided. */
  ties: number;
  ballots: BallotUses;
  /** Number of blocks whose scores have another scale, and the scale of the first of them. */
  scaled: number;
  scale?: Scale;
  /** Number of blocks with a pivotal voter, and of blocks whose search exceeds the limit. */
  pivotal: number;
  exceeded: number;
}

/** A voter, with the number of blocks in which it is pivotal, by rule. */
export interface VoterSums {
  agent_id: string;
  name: string;
  pivotal: number[];
}

export interface Recount {
  /** False if a signal stopped the recount. */
  complete: boolean;
  rules: RuleSums[];
  blocks: RecountRow[];
  /** Most often pivotal first. */
  voters: VoterSums[];
}

export interface DescribedRecount extends Recount {
  /** Folder or file. */
  source: string;
  /** Rule of the network; null for election data. */
  policy: string | null;
  undecided: Undecided;
  /** Lines of election data that were left out. Absent if there are none. */
  skipped?: ElectionPoll['skipped'];
}

export interface RecountOptions {
  /** Largest number of votes that the search for pivotal voters counts, for a block and a rule. */
  mostVotes: number;
  ties: TieBreak;
  signal?: AbortSignal;
  onProgress?(done: number): void;
}

/** Counts the polls under each rule. */
export async function recount(
  polls: Iterable<RecordedPoll>,
  rules: readonly ChosenRule[],
  { mostVotes, ties, signal, onProgress }: RecountOptions,
): Promise<Recount> {
  const blocks: RecountRow[] = [];
  const pause = pausing(signal);
  let complete = true;
  for (const poll of polls) {
    const counts = rules.map((rule) => new PollCount(rule, poll, ties));
    const row: RecountRow = { ...describePoll(poll), rules: counts.map((one) => one.result()) };
    for (const [at, one] of counts.entries()) {
      const result = row.rules[at]!;
      // Two changes of each vote, and all votes are counted for each change.
      const work = 2 * poll.votes.length * poll.votes.length;
      if (result.fault !== undefined) continue;
      if (work > mostVotes) result.exceeds = work;
      else result.pivotal = await listPivotal(one, result.outcome, pause);
    }
    complete = await pause();
    if (!complete) break;
    blocks.push(row);
    onProgress?.(blocks.length);
  }
  return {
    complete,
    rules: rules.map((rule, at) => sumRule(rule, blocks, at)),
    blocks,
    voters: sumVoters(blocks, rules.length),
  };
}

function describePoll(poll: RecordedPoll) {
  const { hash, number, height, options, labels, electors, votes, recorded } = poll;
  const sum = (all: readonly number[]) => all.reduce((total, count) => total + count, 0);
  return {
    ...{ block_hash: hash, number, height, options },
    ...(labels === undefined ? {} : { labels }),
    electors: sum(electors.map(({ voters }) => voters)),
    votes: sum(votes.map(({ elector }) => electors[elector]!.voters)),
    recorded,
  };
}

/** Time without a pause for signals, in milliseconds. */
const TURN_MS = 50;

/** Returns a function that lets signals arrive now and then. It returns false after a signal. */
function pausing(signal: AbortSignal | undefined): () => Promise<boolean> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last > TURN_MS) {
      await nextTurn();
      last = performance.now();
    }
    return signal?.aborted !== true;
  };
}

/** Thrown for a ballot with ties that a rule does not take, if no option says how to break them. */
export class TieError extends Error {
  constructor(
    readonly poll: RecordedPoll,
    /** Name of the voter. */
    readonly voter: string,
    readonly rule: string,
    readonly tie: readonly string[],
  ) {
    super(`tie: ${tie.join(', ')}; ${rule} accepts no ties`);
  }
}

/** Change of one voter's vote: null removes the vote. */
interface Change {
  /** Position of the vote. */
  vote: number;
  decision: Decision | null;
}

/** The votes on one block, as a rule counts them. */
class PollCount {
  readonly poll: RecordedPoll;
  readonly ballots = countNoBallots();
  readonly scale: Scale | null;
  readonly #rule: NetworkRule;
  readonly #block: PollBlock;
  readonly #electors: PollElectors;
  /** Ballots by vote, as the rule takes them. */
  readonly #ballots: readonly unknown[];

  /** @throws {TieError} */
  constructor({ rule, label }: ChosenRule, poll: RecordedPoll, ties: TieBreak) {
    const { hash, height, options, electors, votes } = poll;
    this.poll = poll;
    this.#rule = rule;
    this.#block = { hash, height, options: rule.usesOptions ? options : [] };
    this.#electors = createElectors(electors);
    const points = findMostPoints(votes.map(({ ballot }) => ballot));
    const maker = new BallotMaker(rule, { ties, points });
    this.scale = maker.scale;
    this.#ballots = votes.map(({ ballot, elector }) => {
      // A vote without a ballot means what the rule says, and other rules ignore ballots.
      if (ballot === undefined || !rule.takesBallots) return undefined;
      const { voters, name } = electors[elector]!;
      const made = maker.convert(ballot, options, this.#block);
      if (made.use === 'tied' && ties === 'refuse')
        throw new TieError(poll, name, label, made.tie!);
      this.ballots[made.use] += voters;
      return made.ballot;
    });
  }

  result(): RecountedBlock {
    const { counter, verdict, votes, isEarly } = this.count();
    const tied = counter.findTie();
    const { recorded, waiting } = this.poll;
    const outcome = outcomeOf(verdict);
    const { standings, fault } = verdict;
    return {
      ...{ outcome, ...(standings && { standings }), ...(fault && { fault }) },
      ...(tied && { tied }),
      differs: recorded !== null && !isSameOutcome(outcome, recorded),
      votes,
      waits: isEarly ? 0 : waiting,
      ballots: this.ballots,
      ...(this.scale ? { scale: this.scale } : {}),
      pivotal: null,
    };
  }

  /** Counts the votes in order, until the rule decides. */
  count(change?: Change) {
    const changed = change && this.poll.votes[change.vote]!;
    const isGroup = changed !== undefined && this.poll.electors[changed.elector]!.voters > 1;
    const electors = isGroup ? this.#splitOne(changed.elector) : this.#electors;
    const counter = new PollCounter(this.#rule, this.#block, electors);
    let counted = 0;
    for (const [position, { elector, decision, ms }] of this.poll.votes.entries()) {
      const own = position === change?.vote ? change : null;
      // One voter of a group changes its vote, and the others keep theirs.
      const votes: (readonly [elector: number, decision: Decision | null])[] = [
        [elector, own && !isGroup ? own.decision : decision],
        ...(own && isGroup ? [[electors.agents.length - 1, own.decision] as const] : []),
      ];
      for (const [at, decided] of votes) {
        if (decided === null) continue;
        const { agent_id, personality } = this.poll.electors[elector]!;
        const ballot = this.#ballots[position];
        const vote = { elector: at, agent_id, personality, decision: decided, ms };
        counter.add(ballot === undefined ? vote : { ...vote, ballot });
        counted += this.poll.electors[elector]!.voters;
        const verdict = counter.verdict(false);
        if (verdict.status !== null) return { counter, verdict, votes: counted, isEarly: true };
      }
    }
    return { counter, verdict: counter.verdict(true), votes: counted, isEarly: false };
  }

  /** Returns the electors with one voter of a group as an elector of its own, in last place. */
  #splitOne(group: number): PollElectors {
    const { electors } = this.poll;
    const { voters, weight } = electors[group]!;
    const one = weight / voters;
    const rest = electors.map((elector, at) =>
      at === group ? { ...elector, weight: weight - one } : elector,
    );
    return createElectors([...rest, { ...electors[group]!, agent: electors.length, weight: one }]);
  }
}

const outcomeOf = ({ status, choice }: Verdict): Outcome => ({
  status: status!,
  ...(choice === undefined ? {} : { choice }),
});

const isSameOutcome = (one: Outcome, other: Outcome): boolean =>
  one.status === other.status && one.choice === other.choice;

/** Lists the pivotal voters. The list is incomplete after a signal. */
async function listPivotal(
  count: PollCount,
  recounted: Outcome,
  pause: () => Promise<boolean>,
): Promise<PivotalVoter[]> {
  const { votes, electors } = count.poll;
  const found: PivotalVoter[] = [];
  for (const [vote, { elector, decision }] of votes.entries()) {
    const other = decision === 'approve' ? 'reject' : 'approve';
    const [removed, reversed] = ([null, other] as const).map((changed) => {
      const outcome = outcomeOf(count.count({ vote, decision: changed }).verdict);
      return isSameOutcome(outcome, recounted) ? null : outcome;
    });
    const { agent_id, name } = electors[elector]!;
    if (removed || reversed) {
      found.push({ agent_id, name, removed: removed ?? null, reversed: reversed ?? null });
    }
    if (!(await pause())) break;
  }
  return found;
}

function sumRule(
  { label, genesis, rule, sha256 }: ChosenRule,
  blocks: readonly RecountRow[],
  at: number,
): RuleSums {
  const sums: RuleSums = {
    ...{ rule: label, policy: genesis.policy, parameters: rule.values, sha256, statuses: {} },
    ...{ differs: 0, differing: [], waits: 0, faults: 0, ties: 0 },
    ballots: countNoBallots(),
    scaled: 0,
    ...{ pivotal: 0, exceeded: 0 },
  };
  for (const { block_hash, rules } of blocks) {
    const { outcome, differs, waits, fault, tied, ballots, scale, pivotal, exceeds } = rules[at]!;
    sums.statuses[outcome.status] = (sums.statuses[outcome.status] ?? 0) + 1;
    if (differs) sums.differing.push(block_hash);
    if (waits > 0) sums.waits += 1;
    if (fault !== undefined) sums.faults += 1;
    if (tied) sums.ties += 1;
    for (const use of ballotUses) sums.ballots[use] += ballots[use];
    if (scale !== undefined) sums.scaled += 1;
    if (scale !== undefined) sums.scale ??= scale;
    if (pivotal !== null && pivotal.length > 0) sums.pivotal += 1;
    if (exceeds !== undefined) sums.exceeded += 1;
  }
  sums.differs = sums.differing.length;
  return sums;
}

function sumVoters(blocks: readonly RecountRow[], rules: number): VoterSums[] {
  const voters = new Map<string, VoterSums>();
  for (const row of blocks) {
    for (const [at, { pivotal }] of row.rules.entries()) {
      for (const { agent_id, name } of pivotal ?? []) {
        const known = voters.get(agent_id) ?? { agent_id, name, pivotal: Array(rules).fill(0) };
        known.pivotal[at]! += 1;
        voters.set(agent_id, known);
      }
    }
  }
  const total = ({ pivotal }: VoterSums) => pivotal.reduce((sum, count) => sum + count, 0);
  return [...voters.values()].sort(
    (a, b) => total(b) - total(a) || (a.agent_id < b.agent_id ? -1 : 1),
  );
}

/** Statuses that a rule gives, in the order of tables and charts. */
export const statuses = ['finalized', 'rejected', 'expired'] as const;

/** Describes the result of a rule in words, besides the outcome. */
export const resultNotes = (
  row: RecountRow,
  { fault, tied, ballots, scale, waits }: RecountedBlock,
): string[] => [
  ...(fault === undefined ? [] : [fault]),
  ...(tied ? [describeTie(tied, (name) => labelOption(row, name))] : []),
  ...describeBallots({ ballots, ...(scale ? { scale } : {}) }),
  ...(waits > 0 ? [`${waits} absent`] : []),
];

export function skippedText({ lines, first }: NonNullable<ElectionPoll['skipped']>): string {
  const { line, problem } = first;
  return `left out: ${lines} invalid ${lines === 1 ? 'line' : 'lines'}; line ${line}: ${problem}`;
}
