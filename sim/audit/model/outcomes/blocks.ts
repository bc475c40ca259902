/** What would become of a proposal or a vote. */
import type { ProposeCommand, VoteCommand } from '../../../../engine/internal.js';
import { proposalAnswer, voteAnswer } from '../events.js';
import { electorateNow } from '../state/electorate.js';
import {
  type Agent,
  type Block,
  duplicate,
  type PredictedOutcome,
  refused,
  type State,
} from '../state/state.js';
import { hasEquivocated, voteOf, weightAt } from '../state/votes.js';
import { unknownMeme } from './social.js';

const MOST_OPEN = 8;

export function judgeProposal(
  state: State,
  by: Agent,
  command: ProposeCommand,
): PredictedOutcome | null {
  const { head, genesis } = state;
  const known = state.blocks.get(command.block_hash);
  if (known) return duplicate(proposalAnswer(known));
  if (!by.producer) return refused('NOT_PRODUCER');
  if (by.status !== 'active') return refused('NOT_ACTIVE');
  if (command.parent_hash !== head.hash) {
    return refused('STALE_PARENT', { head_hash: head.hash, height: head.height });
  }
  if (by.open) return refused('OPEN_BLOCK', { block_hash: by.open.hash });
  if (state.open.size >= MOST_OPEN && !weakestOpen(state, by)) return refused('TOO_MANY_OPEN');
  if (electorateNow(state).heads < genesis.min_validators) return refused('NO_VALIDATORS');
  const seen = new Set<string>();
  for (const { hash, signer } of command.transactions) {
    const name = `${hash} ${signer}`;
    if (seen.has(name) || state.transactions.has(name)) return refused('DUPLICATE_TX', { hash });
    seen.add(name);
  }
  return command.failed_transaction >= 0 ? refused('MISMATCH') : null;
}

/** The block that gives way when all places are taken; null when none has to, or none does. */
export function weakestOpen({ open }: State, by: Agent): Block | null {
  if (open.size < MOST_OPEN) return null;
  let weakest: Block | null = null;
  // In order of proposal: of equal ones the last.
  for (const block of open.values()) {
    const { overall } = block.producer.scores;
    if (!weakest || overall <= weakest.producer.scores.overall) weakest = block;
  }
  return weakest && weakest.producer.scores.overall < by.scores.overall ? weakest : null;
}

export function judgeVote(state: State, by: Agent, command: VoteCommand): PredictedOutcome | null {
  const block = state.blocks.get(command.block_hash);
  if (!block) return refused('UNKNOWN_BLOCK');
  const earlier = voteOf(block, by);
  if (earlier === command.decision) return duplicate(voteAnswer(state, block, by));
  if (!by.validator) return refused('NOT_VALIDATOR');
  if (weightAt(block, by.number) === 0) return refused('NOT_IN_ELECTORATE');
  if (earlier !== null) {
    const details = { decision: earlier };
    if (hasEquivocated(block, by)) return refused('ALREADY_VOTED', details);
    return { result: 'equivocation', reason: 'ALREADY_VOTED', details };
  }
  return (
    votingClosed(block) ??
    (by.status === 'active' ? null : refused('NOT_ACTIVE')) ??
    unknownMeme(state, command.meme_references)
  );
}

export function votingClosed({ status, height }: Block): PredictedOutcome | null {
  return status === 'voting' ? null : refused('VOTING_CLOSED', { block_status: status, height });
}
