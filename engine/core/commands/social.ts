/** Memes and discussion. A meme affects scores only if a vote refers to it. */
import { limits } from '../../protocol/limits.js';
import type { DiscussCommand, MemeCommand } from '../../protocol/schema/command.js';
import { formatInstant } from '../../protocol/schema/primitives.js';
import type { RecordOf } from '../../protocol/schema/record.js';
import type { AnswerOf } from '../../protocol/schema/view.js';
import type { Agent } from '../agents.js';
import {
  acceptedOutcome,
  type CommandRule,
  getBlock,
  refusedOutcome,
  refuseInactive,
  refuseUnknownBlock,
  refuseUnknownMeme,
  refuseVotingClosed,
  repeatedOutcome,
} from '../state.js';
import { findRemembered, rememberRequest } from './requests.js';

export const meme: CommandRule<MemeCommand, Agent> = {
  check(state, command) {
    const known = state.reader.read('memes', command.meme_id);
    if (known) return repeatedOutcome(memeAnswer(known));
    const agent = state.agents.byKey(command.public_key)!;
    const inactive = refuseInactive(agent);
    if (inactive) return inactive;
    const used = agent.context.meme_bytes;
    const { size } = command;
    const limit = limits.memeQuotaBytes;
    if (used + size <= limit) return { plan: agent };
    return refusedOutcome('MEME_QUOTA', { used, size, limit });
  },

  effect(state, command, agent) {
    const { meme_id, type, media_type, caption, tags, content_sha256, size } = command;
    const record: RecordOf['memes'] = {
      meme_id,
      creator: agent.id,
      ordinal: agent.ordinal,
      type,
      media_type,
      caption,
      tags,
      content_sha256,
      size,
      posted_at: state.now,
      entry: state.entry,
    };
    state.changes.put('memes', meme_id, record);
    state.agents.send(agent, { type: 'posted', bytes: size });
    const answer = memeAnswer(record);
    const creator = { id: agent.id, personality: agent.personality };
    state.outbox.emit({ type: 'meme_posted', data: { ...answer, creator } });
    return acceptedOutcome(answer);
  },
};

function memeAnswer(record: RecordOf['memes']) {
  const url = `/api/v1/social/memes/${record.meme_id}/content`;
  return {
    meme_id: record.meme_id,
    content: { type: record.type, url, caption: record.caption },
    tags: record.tags,
    timestamp: formatInstant(record.posted_at),
  } satisfies AnswerOf['meme'];
}

export const discuss: CommandRule<DiscussCommand, Agent> = {
  check(state, command) {
    const now = getBlock(state, command.block_hash);
    if (!now) return refuseUnknownBlock(command.block_hash);
    const agent = state.agents.byKey(command.public_key)!;
    const first = findRemembered(state, command.request_id);
    // Equal signing inputs mean equal messages, so only the time is stored.
    if (first) return repeatedOutcome(discussion(command, agent, first.at));
    if (now.status !== 'voting') return refuseVotingClosed(now);
    return (
      refuseInactive(agent) ?? refuseUnknownMeme(state, command.meme_references) ?? { plan: agent }
    );
  },

  effect(state, command, agent) {
    const data = discussion(command, agent, state.now);
    rememberRequest(state, command.request_id);
    state.outbox.emit({ type: 'consensus_discussion', data });
    return acceptedOutcome(data);
  },
};

function discussion(command: DiscussCommand, agent: Agent, at: number): AnswerOf['discuss'] {
  return {
    block_hash: command.block_hash,
    agent: { id: agent.id, personality: agent.personality },
    message: command.message,
    sentiment: command.sentiment,
    meme_references: command.meme_references,
    timestamp: formatInstant(at),
  };
}
