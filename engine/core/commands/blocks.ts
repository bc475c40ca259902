/**
 * Proposals and votes. A proposal fixes its block's electorate and deadline. The block closes when
 * its tally decides or its deadline passes.
 */
import { assertInvariant } from '../../protocol/invariants.js';
import { limits } from '../../protocol/limits.js';
import { blockOf, proposedOf } from '../../protocol/schema/block.js';
import type { ProposeCommand, VoteCommand } from '../../protocol/schema/command.js';
import type { EventData } from '../../protocol/schema/event.js';
import {
  type BlockStatus,
  type Decision,
  formatInstant,
} from '../../protocol/schema/primitives.js';
import type { BlockContext, RecordOf } from '../../protocol/schema/record.js';
import type { AnswerOf } from '../../protocol/schema/view.js';
import { isSameBallot } from '../../rules/ballots.js';
import type { NetworkRule } from '../../rules/network-rule.js';
import { type Agent, column } from '../agents.js';
import {
  type BlockEnd,
  blockContext,
  type ClosingVerdict,
  type OpenBlock,
  outcomeOf,
  pollBlockOf,
  type RuleOutcome,
  type Tally,
} from '../blocks.js';
import { type Electorate, findElector } from '../electorates.js';
import { countAbsences, judgeBlock, penalize } from '../reputation.js';
import {
  acceptedOutcome,
  type BlockState,
  type CommandRule,
  computeTps,
  getBlock,
  METRICS,
  type Outcome,
  type Precheck,
  refusedOutcome,
  refuseInactive,
  refuseUnknownBlock,
  refuseUnknownMeme,
  refuseVotingClosed,
  repeatedOutcome,
  type State,
} from '../state.js';

interface ProposalPlan {
  agent: Agent;
  /** Block that is orphaned to make room, if the limit is reached. */
  displaced: OpenBlock | null;
}

export const propose: CommandRule<ProposeCommand, ProposalPlan> = {
  check(state, command) {
    const known = getBlock(state, command.block_hash);
    if (known) return repeatedOutcome(answerProposal(known));
    const agent = state.agents.byKey(command.public_key)!;
    if (!agent.producer) return refusedOutcome('PROPOSER_NOT_PRODUCER', { agent_id: agent.id });
    return (
      refuseInactive(agent) ??
      crowded(state, agent, command) ??
      duplicateTransaction(state, command) ??
      failedSignature(command) ?? { plan: { agent, displaced: displacedBy(state, agent) } }
    );
  },

  effect(state, command, { agent, displaced }) {
    if (displaced) orphan(state, displaced);
    const electorate = state.electorates.snapshot(state.changes);
    const context = newBlock(state, command, agent, electorate);
    const hash = command.block_hash;
    const size = state.electorates.size();
    assertInvariant(context.electors === size, 'ELECTORATE_SIZE', context.electors, size);
    const block = state.blocks.propose(context, command, electorate);
    const { openCount } = state.blocks;
    assertInvariant(openCount <= limits.openBlocks, 'OPEN_BLOCKS', openCount, limits.openBlocks);
    state.deadlines.set(deadlineId(hash), context.deadline);
    state.changes.put('blocks', hash, { state: 'voting', context });
    state.changes.put('block_numbers', context.ordinal, { block_hash: hash });
    state.changes.put('open', ['block', hash], {});
    announce(block, command, agent, formatInstant(state.now));
    return acceptedOutcome(answerProposal({ status: 'voting', context: blockContext(block) }));
  },
};

function newBlock(
  state: State,
  command: ProposeCommand,
  agent: Agent,
  electorate: Electorate,
): BlockContext {
  return {
    block_hash: command.block_hash,
    ...proposedOf(command),
    height: state.height + 1,
    ordinal: state.blocks.count,
    entry: state.entry,
    producer: agent.id,
    producer_key: agent.publicKey,
    transactions: command.transactions.length,
    electorate: electorate.id,
    proposed_at: state.now,
    deadline: state.now + state.genesis.voting_period_ms,
    closed_at: 0,
    approve: 0,
    reject: 0,
    total: electorate.total,
    voted: 0,
    electors: electorate.agents.length,
    vetoed: false,
    ...optionsOf(state, command),
  };
}

/** Returns the names of a proposal's options, if the network's rule chooses among options. */
function optionsOf({ blocks }: State, { options }: ProposeCommand): { options?: string[] } {
  if (!options || !blocks.rule.usesOptions) return {};
  return { options: options.map(({ name }) => name) };
}

function announce(block: OpenBlock, command: ProposeCommand, agent: Agent, timestamp: string) {
  const { type, content } = command.meme_content;
  const { options } = blockContext(block);
  const data = {
    ...blockOf(blockContext(block)),
    ...(options ? { options } : {}),
    producer: { id: agent.id, public_key: agent.publicKey },
    transactions: command.transactions.map(({ hash, type }) => ({ hash, type })),
    meme_content: type === undefined ? {} : { type, content: content ?? '' },
    timestamp,
  };
  block.actor.send({ type: 'proposed', data });
}

/** Refuses a proposal with a wrong parent, or one that exceeds the limit of open blocks. */
function crowded(state: State, agent: Agent, command: ProposeCommand): Precheck<never> | null {
  const { headHash: head_hash, height } = state;
  const { parent_hash } = command;
  if (parent_hash !== head_hash) {
    const details = { head_hash, height };
    const more = { pointer: '/parent_hash', details };
    return refusedOutcome('PARENT_WRONG', { parent_hash, ...details }, more);
  }
  const own = state.blocks.open().find((block) => blockContext(block).producer === agent.id);
  if (own) {
    const details = { block_hash: own.hash };
    return refusedOutcome('PROPOSAL_OPEN', { agent_id: agent.id, ...details }, { details });
  }
  if (isFull(state) && !displacedBy(state, agent)) {
    const { openBlocks: limit } = limits;
    return refusedOutcome('BLOCKS_TOO_MANY', { count: state.blocks.openCount, limit });
  }
  const count = state.electorates.size();
  const minimum = state.genesis.min_validators;
  return count >= minimum ? null : refusedOutcome('VALIDATORS_TOO_FEW', { count, minimum });
}

const isFull = ({ blocks }: State): boolean => blocks.openCount >= limits.openBlocks;

/**
 * Returns the block to orphan if the limit is reached: the newest block from the producer with the
 * lowest reputation, provided that reputation is lower than the agent's.
 */
function displacedBy(state: State, agent: Agent): OpenBlock | null {
  if (!isFull(state)) return null;
  const overall = (ordinal: number) => state.standings.get(ordinal, column.overall);
  const places = state.blocks.open().map((block) => {
    const { producer, ordinal } = blockContext(block);
    return { block, ordinal, score: overall(state.agents.byId(producer)!.ordinal) };
  });
  const [last] = places.sort((a, b) => a.score - b.score || b.ordinal - a.ordinal);
  return last && last.score < overall(agent.ordinal) ? last.block : null;
}

function duplicateTransaction(state: State, command: ProposeCommand): Precheck<never> | null {
  const { transactions } = command;
  if (state.lookedUp.get(transactions) === state.headHash) return null;
  const seen = new Map<string, string[]>();
  for (const [index, { hash, signer }] of transactions.entries()) {
    const signers = seen.get(hash);
    const final = state.reader.read('transactions', [hash, signer]);
    if (signers?.includes(signer) || final) {
      const more = { pointer: `/transactions/${index}`, details: { hash } };
      return final
        ? refusedOutcome('TRANSACTION_FINAL', { hash, block_hash: final.block_hash }, more)
        : refusedOutcome('TRANSACTION_REPEATED', { hash }, more);
    }
    if (signers) signers.push(signer);
    else seen.set(hash, [signer]);
  }
  state.lookedUp.set(transactions, state.headHash);
  return null;
}

function failedSignature({ failed_transaction: index }: ProposeCommand): Precheck<never> | null {
  if (index < 0) return null;
  const pointer = `/transactions/${index}/signature`;
  return refusedOutcome('TRANSACTION_SIGNATURE_MISMATCH', { index }, { pointer });
}

function answerProposal({ status, context }: Omit<BlockState, 'tally'>): AnswerOf['propose'] {
  return {
    block_hash: context.block_hash,
    height: context.height,
    parent_hash: context.parent_hash,
    status,
    voting_deadline: formatInstant(context.deadline),
    electorate: context.total,
    timestamp: formatInstant(context.proposed_at),
  };
}

type VotePlan =
  | { agent: Agent; block: OpenBlock; position: number }
  /** `blockOrdinal` is the block that received two conflicting votes. */
  | { agent: Agent; conflict: Outcome & { result: 'equivocation' }; blockOrdinal: number };

export const vote: CommandRule<VoteCommand, VotePlan> = {
  check(state, command) {
    const { block_hash, decision } = command;
    const agent = state.agents.byKey(command.public_key)!;
    const block = state.blocks.get(block_hash);
    // Only repeated and late votes need the block's state.
    const closed = block ? undefined : getBlock(state, block_hash);
    if (!block && !closed) return refuseUnknownBlock(block_hash);
    const electorate = block
      ? block.ballots.electorate
      : state.electorates.get(closed!.context.electorate);
    const position = findElector(electorate, agent.ordinal);
    const voted = position >= 0 && (!block || block.ballots.choice(position) !== null);
    const now =
      closed ?? (voted || command.ballot !== undefined ? getBlock(state, block_hash)! : null);
    const first = voted
      ? state.reader.read('votes', [now!.context.ordinal, agent.ordinal])
      : undefined;
    if (first && isSameVote(state, first, command)) {
      const { status, tally } = now!;
      const known = { hash: block_hash, status, tally };
      return repeatedOutcome(answerVote(state.blocks.rule, agent, decision, known, first.at));
    }
    if (!agent.validator) return refusedOutcome('VOTER_NOT_VALIDATOR', { agent_id: agent.id });
    if (position < 0) {
      return refusedOutcome('VOTER_NOT_ELECTOR', { agent_id: agent.id, block_hash });
    }
    // Most votes have no ballot.
    const invalid = command.ballot === undefined ? null : refuseBallot(state, command, now!);
    if (invalid) return invalid;
    if (first) return conflicting(state, agent, decision, first.decision, now!);
    if (!block) return refuseVotingClosed(now!);
    const problem = refuseInactive(agent) ?? refuseUnknownMeme(state, command.meme_references);
    return problem ?? { plan: { agent, block, position } };
  },

  effect(state, command, plan) {
    if ('conflict' in plan) {
      const key = [plan.blockOrdinal, plan.agent.ordinal];
      state.changes.put('equivocations', key, { entry: state.entry });
      penalize(state, plan.agent.ordinal);
      return plan.conflict;
    }
    const { agent, block, position } = plan;
    const { decision, reason, meme_references } = command;
    const context = blockContext(block);
    const elector = block.ballots.electorate.agents[position];
    assertInvariant(elector === agent.ordinal, 'VOTER_POSITION', elector, agent.ordinal);
    assertInvariant(state.now <= context.deadline, 'VOTE_LATE', state.now, context.deadline);
    block.ballots.cast(position, command, state.now - context.proposed_at);
    block.ballots.refer(position, meme_references);
    const timestamp = formatInstant(state.now);
    const data: EventData['block_validation'] = {
      block_hash: block.hash,
      decision,
      reason,
      timestamp,
      validator: agent.who,
    };
    const ballot = ballotOf(state, command);
    if (ballot !== undefined) data.ballot = ballot;
    state.outbox.emit('block_validation', data);
    const kept = ballot === command.ballot ? command : { decision, meme_references };
    state.changes.putVote(context.ordinal, agent.ordinal, kept, state.now, state.entry);
    const verdict = state.blocks.verdict(block);
    if (verdict) closeBlock(state, block, verdict);
    if (!state.changes.answered) return UNANSWERED;
    const status: BlockStatus = verdict?.status ?? 'voting';
    const now = { hash: block.hash, status, tally: block.ballots.tally };
    return acceptedOutcome(answerVote(state.blocks.rule, agent, decision, now, state.now));
  },
};

const UNANSWERED: Outcome = Object.freeze({ result: 'accepted', data: {} as AnswerOf['vote'] });

/** Returns the vote's ballot, if the network's rule takes ballots. */
const ballotOf = ({ blocks }: State, { ballot }: Pick<VoteCommand, 'ballot'>): unknown =>
  blocks.rule.takesBallots ? ballot : undefined;

function isSameVote(state: State, first: RecordOf['votes'], command: VoteCommand): boolean {
  if (first.decision !== command.decision) return false;
  return isSameBallot(ballotOf(state, first), ballotOf(state, command));
}

/** Refuses a ballot that the network's rule does not accept. */
function refuseBallot(
  { blocks }: State,
  { ballot }: VoteCommand,
  { context }: BlockState,
): Precheck<never> | null {
  const found = blocks.rule.findBallotProblem(ballot, pollBlockOf(context));
  if (!found) return null;
  const { problem } = found;
  const pointer = `/ballot${found.pointer}`;
  return refusedOutcome('BALLOT_INVALID', { where: pointer, problem }, { pointer });
}

/** Refuses a conflicting vote. The evidence is logged once per agent and block. */
function conflicting(
  state: State,
  agent: Agent,
  decision: Decision,
  first: Decision,
  now: BlockState,
): Precheck<VotePlan> {
  const { block_hash, ordinal } = now.context;
  const values = { agent_id: agent.id, block_hash, decision, first };
  const { outcome } = refusedOutcome('VOTE_CONFLICT', values, { details: { decision: first } });
  const known = state.reader.read('equivocations', [ordinal, agent.ordinal]);
  if (known || outcome.result !== 'refused') return { outcome };
  const { refusal } = outcome;
  return { plan: { agent, conflict: { result: 'equivocation', refusal }, blockOrdinal: ordinal } };
}

function answerVote(
  rule: NetworkRule,
  { id: agent_id }: Agent,
  decision: Decision,
  { hash, status, tally }: { hash: string; status: BlockStatus; tally: Tally },
  at: number,
): AnswerOf['vote'] {
  const { approve, reject, total } = tally;
  return {
    block_hash: hash,
    agent_id,
    decision,
    block_status: status,
    tally: { approve, reject, electorate: total, needed: rule.needed(tally) },
    timestamp: formatInstant(at),
  };
}

/** Closes a block that its votes or its deadline have decided. */
export function closeBlock(state: State, block: OpenBlock, verdict: ClosingVerdict): void {
  const { status: outcome, choice } = verdict;
  retire(state, block, outcome, outcomeOf(verdict));
  if (outcome === 'finalized') {
    finalize(state, block, choice);
    for (const sibling of state.blocks.open()) orphan(state, sibling);
  }
  emitMetrics(state);
  if (outcome === 'finalized' || outcome === 'rejected') judgeBlock(state, block, outcome);
  if (outcome === 'expired') countAbsences(state, block);
}

/** Orphans a block because a sibling is final or a new proposal needs its place. */
function orphan(state: State, block: OpenBlock): void {
  retire(state, block, 'orphaned', {});
}

/** Moves a block to its final status and removes it from memory. */
function retire(state: State, block: OpenBlock, status: BlockEnd, outcome: RuleOutcome): void {
  const { tally } = block.ballots;
  assertUnchanged(state, block, tally);
  block.actor.send({ type: status, at: state.now, tally, outcome });
  assertClosed(block, status, tally);
  state.blocks.drop(block.hash);
  state.deadlines.remove(deadlineId(block.hash));
  state.changes.drop('open', ['block', block.hash]);
  state.changes.put('blocks', block.hash, { state: status, context: blockContext(block) });
}

/** Asserts that a block ends with the electorate with which it began. */
function assertUnchanged({ now }: State, { actor, ballots }: OpenBlock, tally: Tally): void {
  const { context } = actor.getSnapshot();
  const { id } = ballots.electorate;
  assertInvariant(context.electorate === id, 'ELECTORATE_CHANGED', id, context.electorate);
  assertInvariant(tally.total === context.total, 'ELECTORATE_WEIGHT', context.total, tally.total);
  const { electors } = context;
  assertInvariant(tally.electors === electors, 'ELECTORATE_SIZE', tally.electors, electors);
  assertInvariant(now >= context.proposed_at, 'BLOCK_END_TIME', now, context.proposed_at);
}

/** Asserts that a closed block's record has its final status and the counted votes. */
function assertClosed({ actor }: OpenBlock, status: BlockEnd, tally: Tally): void {
  const { context, value } = actor.getSnapshot();
  assertInvariant(value === status, 'BLOCK_STATE', value, status);
  assertInvariant(
    context.approve === tally.approve,
    'TALLY_STORED',
    context.approve,
    tally.approve,
  );
  assertInvariant(context.reject === tally.reject, 'TALLY_STORED', context.reject, tally.reject);
}

export const deadlineId = (blockHash: string): string => `block_${blockHash}`;

function finalize(state: State, block: OpenBlock, choice: string | undefined): void {
  const { height, parent_hash, producer } = blockContext(block);
  const { proposal, hash } = block;
  assertInvariant(height === state.height + 1, 'CHAIN_HEIGHT', height, state.height + 1);
  assertInvariant(parent_hash === state.headHash, 'CHAIN_PARENT', parent_hash, state.headHash);
  state.height = height;
  state.headHash = hash;
  state.failed = 0;
  state.changes.put('heights', height, { block_hash: hash });
  for (const [index, transaction] of proposal.transactions.entries()) {
    const key = [transaction.hash, transaction.signer];
    state.changes.put('transactions', key, { block_hash: hash, height, index });
  }
  const chosen = proposal.options?.find(({ name }) => name === choice);
  applyDiff(state, hash, chosen ? without(proposal, chosen) : proposal);
  if (chosen) applyDiff(state, hash, chosen);
  state.agents.send(state.agents.byId(producer)!, { type: 'produced' });
  state.throughput.add(state.now, proposal.transactions.length);
  scheduleMetrics(state, state.now);
}

type Diff = Pick<ProposeCommand, 'additions' | 'deletions'>;

/** Returns a change without the keys of another change, as an entry changes a record once. */
function without({ additions, deletions }: Diff, other: Diff): Diff {
  const keys = new Set([...Object.keys(other.additions), ...other.deletions]);
  const kept = Object.entries(additions).filter(([key]) => !keys.has(key));
  return {
    additions: Object.fromEntries(kept),
    deletions: deletions.filter((key) => !keys.has(key)),
  };
}

/** Applies a change to the application state. */
function applyDiff(state: State, block_hash: string, { additions, deletions }: Diff): void {
  for (const key of Object.keys(additions).sort()) {
    state.changes.put('state', key, { value: additions[key], block_hash });
  }
  for (const key of deletions) state.changes.drop('state', key);
}

/** `from` is the earliest time at which a report can be due. */
function scheduleMetrics(state: State, from: number): void {
  state.metricsAt = state.throughput.nextReport(from);
  if (state.metricsAt === 0) state.deadlines.remove(METRICS);
  else state.deadlines.set(METRICS, state.metricsAt);
}

/** Emits the periodic metrics. The last report shows a rate of zero. */
export function reportMetrics(state: State): void {
  emitMetrics(state);
  scheduleMetrics(state, state.now);
}

function emitMetrics(state: State): void {
  const data = {
    ...computeMetrics(state, state.now),
    head_hash: state.headHash,
    timestamp: formatInstant(state.now),
  };
  state.outbox.emit('network_metrics', data);
}

/** Computes the figures for the network_metrics event and the network state. */
export function computeMetrics(state: State, now: number) {
  const pending = state.blocks.open().reduce((sum, b) => sum + b.proposal.transactions.length, 0);
  return {
    block_height: state.height,
    tps: computeTps(state.throughput.recent, now),
    active_validators: state.agents.activeValidators,
    active_producers: state.agents.activeProducers,
    pending_transactions: pending,
  };
}
