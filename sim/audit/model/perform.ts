/** What a command does once nothing speaks against it; each gives the answer. */
import type {
  DiscussCommand,
  MemeCommand,
  ProposeCommand,
  RegisterCommand,
  StatusCommand,
  VoteCommand,
} from '../../../engine/internal.js';
import { closeIfDecided, giveWay } from './close.js';
import {
  discussionData,
  emit,
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
import { weakestOpen } from './outcomes/blocks.js';
import { electorateNow, standingChanged } from './state/electorate.js';
import {
  type Agent,
  type Block,
  freshScores,
  type PredictedEvents,
  type State,
} from './state/state.js';
import { castVote } from './state/votes.js';

export function register(
  state: State,
  predicted: PredictedEvents,
  command: RegisterCommand,
  at: number,
): object {
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
  standingChanged(state, agent);
  emit(state, predicted, { type: 'agent_status', data: statusData(agent) });
  return registrationAnswer(agent);
}

export function setStatus(
  state: State,
  predicted: PredictedEvents,
  agent: Agent,
  { command, at }: { command: StatusCommand; at: number },
): object {
  if (agent.status === 'active') countActive(state, agent, -1);
  agent.previous = agent.status;
  agent.status = command.status;
  agent.reason = command.reason;
  agent.expectedDuration = command.expected_duration;
  agent.changedAt = at;
  agent.signedAt = command.signed_at;
  agent.input = command.input_sha256;
  if (agent.status === 'active') countActive(state, agent, 1);
  if (agent.status !== agent.previous) standingChanged(state, agent);
  emit(state, predicted, { type: 'agent_status', data: statusData(agent) });
  return statusAnswer(agent);
}

function countActive(state: State, { validator, producer }: Agent, by: 1 | -1): void {
  if (validator) state.activeValidators += by;
  if (producer) state.activeProducers += by;
}

export function propose(
  state: State,
  predicted: PredictedEvents,
  producer: Agent,
  { command, at }: { command: ProposeCommand; at: number },
): object {
  const weakest = weakestOpen(state, producer);
  if (weakest) giveWay(state, predicted, weakest, at);
  const electorate = electorateNow(state);
  const size = state.agents.length;
  const block: Block = {
    hash: command.block_hash,
    parent: command.parent_hash,
    height: state.head.height + 1,
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
      vetoed: false,
    },
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
  emitProposal(state, predicted, block);
  return proposalAnswer(block);
}

export function vote(
  state: State,
  predicted: PredictedEvents,
  by: Agent,
  { command, at }: { command: VoteCommand; at: number },
): object {
  const { decision, reason, meme_references } = command;
  const block = state.blocks.get(command.block_hash)!;
  castVote(block, by, { decision, memes: meme_references, at });
  state.counts.votes += 1;
  const data = validationData(block, by, { decision, reason, at });
  emit(state, predicted, { type: 'block_validation', data });
  closeIfDecided(state, predicted, block, { at, isOver: false });
  return voteAnswer(state, block, by);
}

export function postMeme(
  state: State,
  predicted: PredictedEvents,
  creator: Agent,
  { command, at }: { command: MemeCommand; at: number },
): object {
  const meme = { creator, command, at };
  state.memes.set(command.meme_id, meme);
  creator.memeBytes += command.size;
  emit(state, predicted, { type: 'meme_posted', data: memeData(meme) });
  return memeAnswer(meme);
}

export function discuss(
  state: State,
  predicted: PredictedEvents,
  by: Agent,
  { command, at }: { command: DiscussCommand; at: number },
): object {
  const data = discussionData(by, command, at);
  emit(state, predicted, { type: 'consensus_discussion', data });
  return data;
}
