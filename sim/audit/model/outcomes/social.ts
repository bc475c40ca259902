/** What would become of a meme, or of a word about a block. */
import type { DiscussCommand, MemeCommand } from '../../../../engine/internal.js';
import { memeAnswer } from '../events.js';
import { answerBefore } from '../state/requests.js';
import {
  type Agent,
  duplicate,
  type PredictedOutcome,
  refused,
  type State,
} from '../state/state.js';

const MEME_QUOTA_BYTES = 64 * 1024 * 1024;

export function judgeMeme(state: State, by: Agent, command: MemeCommand): PredictedOutcome | null {
  const known = state.memes.get(command.meme_id);
  if (known) return duplicate(memeAnswer(known));
  if (by.status !== 'active') return refused('NOT_ACTIVE');
  return by.memeBytes + command.size > MEME_QUOTA_BYTES ? refused('QUOTA') : null;
}

export function judgeDiscussion(
  state: State,
  by: Agent,
  command: DiscussCommand,
  at: number,
): PredictedOutcome | null {
  const block = state.blocks.get(command.block_hash);
  if (!block) return refused('UNKNOWN_BLOCK');
  const before = answerBefore(state, command.request_id, at);
  if (before) return duplicate(before);
  const { status, height } = block;
  if (status !== 'voting') return refused('VOTING_CLOSED', { block_status: status, height });
  if (by.status !== 'active') return refused('NOT_ACTIVE');
  return unknownMeme(state, command.meme_references);
}

export function unknownMeme(
  { memes }: State,
  references: readonly string[],
): PredictedOutcome | null {
  const unknown = references.find((id) => !memes.has(id));
  return unknown === undefined ? null : refused('UNKNOWN_MEME', { meme_id: unknown });
}
