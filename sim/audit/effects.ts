/**
 * Effects of accepted commands. Each function returns the answer that the engine should give. This
 * file also closes blocks and applies everything that follows from it.
 */
import type {
  DiscussCommand,
  MemeCommand,
  ProposeCommand,
  RegisterCommand,
  StatusCommand,
  VoteCommand,
} from '../../engine/protocol/schema/command.js';
import type { BlockStatus } from '../../engine/protocol/schema/primitives.js';
import {
  castVote,
  countMisses,
  decideBlock,
  getElectorate,
  onStandingChange,
} from './electorate.js';
import {
  discussionData,
  emit,
  emitEnd,
  emitMetrics,
  emitProposal,
  memeAnswer,
  memeData,
  proposalAnswer,
  registrationAnswer,
  statusAnswer,
  statusData,
  validationData,
  voteAnswer,
} from './events.js';
import { weakestOpen } from './outcomes.js';
import { countedBallot, foreignRule, pollVote } from './polls.js';
import { rate } from './reputation.js';
import { type Agent, type Block, blockFinal, blockHead, freshScores, type State } from './state.js';

export function register(state: State, command: RegisterCommand, at: number): object {
  const agent: Agent = {
    number: state.agents.length,
    id: command.agent_id,
    place: Number.parseInt(command.agent_id.slice(6, 18), 16),
    key: command.public_key,
    personality: command.personality,
    name: command.name,
    description: command.description,
    validator: command.capabilities.includes('validator'),
    producer: command.capabilities.includes('producer'),
    registeredAt: at,
    status: 'active',
    previous: 'active',
    reason: '',
    expectedDuration: '',
    changedAt: at,
    signedAt: null,
    input: '',
    dormant: false,
    missed: 0,
    countedAt: 0,
    produced: 0,
    memeBytes: 0,
    open: null,
    alliances: new Set(),
    commitments: 0,
    scores: freshScores(),
  };
  state.agents.push(agent);
  state.byKey.set(agent.key, agent);
  state.byId.set(agent.id, agent);
  countActive(state, agent, 1);
  onStandingChange(state, agent);
  emit(state, { type: 'agent_status', data: statusData(agent) });
  return registrationAnswer(agent);
}

export function setStatus(state: State, agent: Agent, command: StatusCommand, at: number): object {
  if (agent.status === 'active') countActive(state, agent, -1);
  agent.previous = agent.status;
  agent.status = command.status;
  agent.reason = command.reason;
  agent.expectedDuration = command.expected_duration;
  agent.changedAt = at;
  agent.signedAt = command.signed_at;
  agent.input = command.input_sha256;
  if (agent.status === 'active') countActive(state, agent, 1);
  if (agent.status !== agent.previous) onStandingChange(state, agent);
  emit(state, { type: 'agent_status', data: statusData(agent) });
  return statusAnswer(agent);
}

function countActive(state: State, { validator, producer }: Agent, by: 1 | -1): void {
  if (validator) state.activeValidators += by;
  if (producer) state.activeProducers += by;
}

export function propose(
  state: State,
  producer: Agent,
  command: ProposeCommand,
  at: number,
): object {
  const weakest = weakestOpen(state, producer);
  if (weakest) giveWay(state, weakest, at);
  const electorate = getElectorate(state);
  const size = state.agents.length;
  const height = state.head.height + 1;
  const isChosen = foreignRule(state.genesis)?.usesOptions && command.options;
  const options = isChosen ? command.options!.map(({ name }) => name) : null;
  const block: Block = {
    hash: command.block_hash,
    height,
    head: blockHead(command, height),
    producer,
    transactions: command.transactions.length,
    electorate,
    proposedAt: at,
    deadline: at + state.genesis.voting_period_ms,
    status: 'voting',
    ballots: {
      proposal: command,
      voters: [],
      references: new Map(),
      rejections: new Map(),
      vetoes: 0,
      polled: [],
    },
    ...(options ? { options } : {}),
    outcome: {},
    cast: new Map(),
    marks: new Uint8Array(size),
    votedAfterMs: new Uint32Array(size),
    approve: 0,
    reject: 0,
    closedAt: 0,
  };
  state.blocks.set(block.hash, block);
  state.open.set(block.hash, block);
  producer.open = block;
  state.pendingTransactions += block.transactions;
  state.counts.proposed += 1;
  state.deadlines.push({ due: block.deadline, of: 'block', id: block.hash });
  emitProposal(state, block);
  return proposalAnswer(block);
}

export function vote(state: State, by: Agent, command: VoteCommand, at: number): object {
  const { decision, reason, meme_references } = command;
  const block = state.blocks.get(command.block_hash)!;
  castVote(block, by, { decision, memes: meme_references, at });
  const ballot = countedBallot(state.genesis, command);
  if (ballot !== undefined) block.cast.set(by.number, ballot);
  if (foreignRule(state.genesis)) {
    block.ballots!.polled.push(pollVote(block, by, { ...command, ballot }, at));
  }
  state.counts.votes += 1;
  const data = validationData(block, by, { decision, reason, at, ballot });
  emit(state, { type: 'block_validation', data });
  closeIfDecided(state, block, { at, isOver: false });
  return voteAnswer(state, block, by);
}

export function postMeme(state: State, creator: Agent, command: MemeCommand, at: number): object {
  const meme = { creator, command, at };
  state.memes.set(command.meme_id, meme);
  creator.memeBytes += command.size;
  emit(state, { type: 'meme_posted', data: memeData(meme) });
  return memeAnswer(meme);
}

export function discuss(state: State, by: Agent, command: DiscussCommand, at: number): object {
  const data = discussionData(by, command, at);
  emit(state, { type: 'consensus_discussion', data });
  return data;
}

/** Closes a block that is decided by its tally or its deadline. */
export function closeIfDecided(
  state: State,
  block: Block,
  { at, isOver }: { at: number; isOver: boolean },
): void {
  const { status, ...outcome } = decideBlock(state.genesis, block, isOver);
  if (status === null) return;
  block.outcome = outcome;
  end(state, block, status, at);
  if (status === 'finalized') finalize(state, block, at);
  if (status === 'expired') countMisses(state, block);
  emitMetrics(state, at);
  if (status !== 'expired') rate(state, block);
  block.ballots = null;
}

function end(state: State, block: Block, status: BlockStatus, at: number): void {
  block.status = status;
  block.closedAt = at;
  block.producer.open = null;
  state.open.delete(block.hash);
  state.pendingTransactions -= block.transactions;
  state.counts[status as keyof State['counts']] += 1;
  emitEnd(state, block);
}

function finalize(state: State, block: Block, at: number): void {
  const { transactions, additions, deletions, options = [] } = block.ballots!.proposal;
  state.head = { hash: block.hash, height: block.height };
  block.producer.produced += 1;
  for (const { hash, signer } of transactions) state.transactions.add(`${hash} ${signer}`);
  const chosen = options.filter(({ name }) => name === block.outcome.choice);
  for (const diff of [{ additions, deletions }, ...chosen]) {
    for (const [key, value] of Object.entries(diff.additions)) {
      state.values.set(key, { value, block: block.hash });
    }
    for (const key of diff.deletions) state.values.delete(key);
  }
  for (const hash of [...state.open.keys()].sort()) giveWay(state, state.open.get(hash)!, at);
  state.stall.periods = 0;
  state.counts.transactions += transactions.length;
  blockFinal(state, at, transactions.length);
}

/** Orphans a block: its sibling was finalized, or a producer with more reputation took its slot. */
function giveWay(state: State, block: Block, at: number): void {
  end(state, block, 'orphaned', at);
  block.ballots = null;
}
