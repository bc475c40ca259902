/**
 * Predicted outcomes of requests about agents, blocks, memes and discussions. Requests about
 * alliances are in alliances.ts.
 */
import type {
  DiscussCommand,
  MemeCommand,
  ProposeCommand,
  RegisterCommand,
  StatusCommand,
  VoteCommand,
} from '../../engine/protocol/schema/command.js';
import { getElectorate, getVote, getWeight, hasEquivocated } from './electorate.js';
import {
  memeAnswer,
  proposalAnswer,
  registrationAnswer,
  statusAnswer,
  voteAnswer,
} from './events.js';
import { countedBallot, refusesBallot } from './polls.js';
import {
  type Agent,
  answerBefore,
  type Block,
  createDuplicate,
  createRefusal,
  type PredictedOutcome,
  type State,
} from './state.js';
import { isSame } from './violation.js';

const MOST_OPEN = 8;

export function judgeProposal(
  state: State,
  by: Agent,
  command: ProposeCommand,
): PredictedOutcome | null {
  const { head, genesis } = state;
  const known = state.blocks.get(command.block_hash);
  if (known) return createDuplicate(proposalAnswer(known));
  if (!by.producer) return createRefusal('NOT_PRODUCER');
  if (by.status !== 'active') return createRefusal('NOT_ACTIVE');
  if (command.parent_hash !== head.hash) {
    return createRefusal('STALE_PARENT', { head_hash: head.hash, height: head.height });
  }
  if (by.open) return createRefusal('OPEN_BLOCK', { block_hash: by.open.hash });
  if (state.open.size >= MOST_OPEN && !weakestOpen(state, by))
    return createRefusal('TOO_MANY_OPEN');
  if (getElectorate(state).heads < genesis.min_validators) return createRefusal('NO_VALIDATORS');
  const seen = new Set<string>();
  for (const { hash, signer } of command.transactions) {
    const name = `${hash} ${signer}`;
    if (seen.has(name) || state.transactions.has(name))
      return createRefusal('DUPLICATE_TX', { hash });
    seen.add(name);
  }
  return command.failed_transaction >= 0 ? createRefusal('MISMATCH') : null;
}

/** Returns the block that a new proposal orphans, or null. */
export function weakestOpen({ open }: State, by: Agent): Block | null {
  if (open.size < MOST_OPEN) return null;
  let weakest: Block | null = null;
  // Iterate in proposal order. The last among equal blocks loses.
  for (const block of open.values()) {
    const { overall } = block.producer.scores;
    if (!weakest || overall <= weakest.producer.scores.overall) weakest = block;
  }
  return weakest && weakest.producer.scores.overall < by.scores.overall ? weakest : null;
}

export function judgeVote(state: State, by: Agent, command: VoteCommand): PredictedOutcome | null {
  const block = state.blocks.get(command.block_hash);
  if (!block) return createRefusal('UNKNOWN_BLOCK');
  const earlier = getVote(block, by);
  const ballot = countedBallot(state.genesis, command);
  if (earlier === command.decision && isSame(ballot, block.cast.get(by.number))) {
    return createDuplicate(voteAnswer(state, block, by));
  }
  if (!by.validator) return createRefusal('NOT_VALIDATOR');
  if (getWeight(block, by.number) === 0) return createRefusal('NOT_IN_ELECTORATE');
  if (refusesBallot(state.genesis, block, command)) return createRefusal('SCHEMA');
  if (earlier !== null) {
    const details = { decision: earlier };
    if (hasEquivocated(block, by)) return createRefusal('ALREADY_VOTED', details);
    return { result: 'equivocation', reason: 'ALREADY_VOTED', details };
  }
  return judgeReferences(state, block, by, command.meme_references);
}

/** @param known agent registered with the same key. */
export function judgeRegistration(
  known: Agent | undefined,
  command: RegisterCommand,
): PredictedOutcome | null {
  if (!known) return null;
  const { personality, name, description, capabilities } = command;
  const isSame =
    known.personality === personality &&
    known.name === name &&
    known.description === description &&
    known.validator === capabilities.includes('validator') &&
    known.producer === capabilities.includes('producer');
  if (isSame) return createDuplicate(registrationAnswer(known));
  return createRefusal('AGENT_EXISTS', { agent_id: known.id });
}

export function judgeStatus(
  state: State,
  by: Agent,
  command: StatusCommand,
): PredictedOutcome | null {
  const agent = state.byId.get(command.agent_id);
  if (!agent) return createRefusal('UNKNOWN_AGENT');
  if (agent !== by) return createRefusal('NOT_OWNER');
  if (agent.input === command.input_sha256) return createDuplicate(statusAnswer(agent));
  const isLate = agent.signedAt !== null && command.signed_at <= agent.signedAt;
  return isLate ? createRefusal('REPLAYED') : null;
}

const MEME_QUOTA_BYTES = 64 * 1024 * 1024;

export function judgeMeme(state: State, by: Agent, command: MemeCommand): PredictedOutcome | null {
  const known = state.memes.get(command.meme_id);
  if (known) return createDuplicate(memeAnswer(known));
  if (by.status !== 'active') return createRefusal('NOT_ACTIVE');
  return by.memeBytes + command.size > MEME_QUOTA_BYTES ? createRefusal('QUOTA') : null;
}

export function judgeDiscussion(
  state: State,
  by: Agent,
  command: DiscussCommand,
  at: number,
): PredictedOutcome | null {
  const block = state.blocks.get(command.block_hash);
  if (!block) return createRefusal('UNKNOWN_BLOCK');
  const before = answerBefore(state, command.request_id, at);
  if (before) return createDuplicate(before);
  return judgeReferences(state, block, by, command.meme_references);
}

function judgeReferences(
  { memes }: State,
  { status, height }: Block,
  by: Agent,
  references: readonly string[],
): PredictedOutcome | null {
  if (status !== 'voting') return createRefusal('VOTING_CLOSED', { block_status: status, height });
  if (by.status !== 'active') return createRefusal('NOT_ACTIVE');
  const unknown = references.find((id) => !memes.has(id));
  return unknown === undefined ? null : createRefusal('UNKNOWN_MEME', { meme_id: unknown });
}
