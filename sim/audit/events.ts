/** Data for predicted events and answers, with members in protocol order. */
import type { DiscussCommand } from '../../engine/protocol/schema/command.js';
import type { Emitted, Event, EventData } from '../../engine/protocol/schema/event.js';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import { computeVotesNeeded, getVote, getVoteTime } from './electorate.js';
import {
  type Agent,
  type Alliance,
  type Block,
  type Meme,
  networkFigures,
  type State,
} from './state.js';
import { instantText } from './violation.js';

export function emit(state: State, { type, data }: Emitted): void {
  state.seq += 1;
  state.predicted.push({ seq: state.seq, type, data } as Event);
}

const who = ({ id, personality }: Agent) => ({ id, personality });

export function allianceData(alliance: Alliance): EventData['alliance_update'] {
  const { status, members, invited } = alliance;
  const isOver = status !== 'proposed' && status !== 'active';
  const shown = members.map(({ id }, index) => ({
    id,
    role: index === 0 ? ('founder' as const) : ('member' as const),
  }));
  const asked = invited.map(({ id }) => ({ id, role: 'invited' as const }));
  return {
    alliance_id: alliance.id,
    members: isOver ? [] : [...shown, ...asked],
    purpose: alliance.purpose,
    duration: isOver ? 'PT0S' : alliance.duration,
    status,
    timestamp: instantText(alliance.changedAt),
  };
}

export function emitAlliance(state: State, alliance: Alliance): void {
  emit(state, { type: 'alliance_update', data: allianceData(alliance) });
}

export function emitMetrics(state: State, at: number): void {
  const data = { ...networkFigures(state, at), timestamp: instantText(at) };
  emit(state, { type: 'network_metrics', data });
}

export function emitProposal(state: State, block: Block): void {
  const { transactions, meme_content } = block.ballots!.proposal;
  const { type, content } = meme_content;
  const data: EventData['block_proposal'] = {
    ...block.head,
    producer: { id: block.producer.id, public_key: block.producer.key },
    transactions: transactions.map(({ hash, type }) => ({ hash, type })),
    meme_content: {
      ...(type === undefined ? {} : { type }),
      ...(content === undefined ? {} : { content }),
    },
    ...(block.options ? { options: [...block.options] } : {}),
    timestamp: instantText(block.proposedAt),
  };
  emit(state, { type: 'block_proposal', data });
}

export function emitEnd(state: State, block: Block): void {
  const data: EventData['block_status'] = {
    ...block.head,
    status: block.status,
    approve: block.approve,
    reject: block.reject,
    electorate: block.electorate.total,
    transactions: block.transactions,
    ...block.outcome,
    timestamp: instantText(block.closedAt),
  };
  emit(state, { type: 'block_status', data });
}

export function statusData(agent: Agent) {
  return {
    agent_id: agent.id,
    status: agent.status,
    reason: agent.reason,
    expected_duration: agent.expectedDuration,
    timestamp: instantText(agent.changedAt),
  };
}

export const registrationAnswer = ({ id, registeredAt, status }: Agent) => ({
  agent_id: id,
  registration_time: instantText(registeredAt),
  status,
});

export const statusAnswer = (agent: Agent) => ({
  ...statusData(agent),
  previous_status: agent.previous,
});

export const proposalAnswer = (block: Block) => ({
  block_hash: block.hash,
  height: block.height,
  parent_hash: block.head.parent_hash,
  status: block.status,
  voting_deadline: instantText(block.deadline),
  electorate: block.electorate.total,
  timestamp: instantText(block.proposedAt),
});

export function memeAnswer({ command, at }: Meme) {
  const { meme_id, type, caption, tags } = command;
  const url = `/api/v1/social/memes/${meme_id}/content`;
  return { meme_id, content: { type, url, caption }, tags, timestamp: instantText(at) };
}

export const memeData = (meme: Meme): EventData['meme_posted'] => ({
  ...memeAnswer(meme),
  creator: who(meme.creator),
});

export const discussionData = (
  agent: Agent,
  command: DiscussCommand,
  at: number,
): EventData['consensus_discussion'] => ({
  block_hash: command.block_hash,
  agent: who(agent),
  message: command.message,
  sentiment: command.sentiment,
  meme_references: command.meme_references,
  timestamp: instantText(at),
});

export const validationData = (
  block: Block,
  agent: Agent,
  {
    decision,
    reason,
    at,
    ballot,
  }: { decision: Decision; reason: string; at: number; ballot: unknown },
): EventData['block_validation'] => ({
  block_hash: block.hash,
  validator: who(agent),
  decision,
  reason,
  timestamp: instantText(at),
  ...(ballot === undefined ? {} : { ballot }),
});

export function voteAnswer({ genesis }: State, block: Block, agent: Agent) {
  const { approve, reject, electorate } = block;
  return {
    block_hash: block.hash,
    agent_id: agent.id,
    decision: getVote(block, agent)!,
    block_status: block.status,
    tally: {
      approve,
      reject,
      electorate: electorate.total,
      needed: computeVotesNeeded(genesis, block),
    },
    timestamp: instantText(getVoteTime(block, agent)),
  };
}
