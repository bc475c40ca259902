/** Memes and discussion: said to influence; counted only when a vote refers to a meme. */
import { limits } from '../../protocol/limits.js';
import {
  type AnswerOf,
  type DiscussCommand,
  formatInstant,
  type MemeCommand,
  type RecordOf,
} from '../../protocol/schema/index.js';
import { accepted, type CommandRule, refused, repeated } from '../outcome.js';
import type { Agent } from '../tables/agents.js';
import { blockNow, notActive, unknownBlock, unknownMeme, votingClosed } from './common.js';
import { remember, remembered } from './requests.js';

export const meme: CommandRule<MemeCommand, Agent> = {
  check(state, command) {
    const known = state.reader.read('memes', command.meme_id);
    if (known) return repeated(memeAnswer(known));
    const agent = state.agents.byKey(command.public_key)!;
    const inactive = notActive(agent);
    if (inactive) return inactive;
    const used = agent.context.meme_bytes;
    if (used + command.size <= limits.memeQuotaBytes) return { plan: agent };
    const expected = `at most ${limits.memeQuotaBytes} in all`;
    return refused('QUOTA', `${used} bytes are used, ${command.size} more were sent; ${expected}`);
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
    return accepted(answer);
  },
};

/** What is shown of a meme. */
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
    const now = blockNow(state, command.block_hash);
    if (!now) return unknownBlock(command.block_hash);
    const agent = state.agents.byKey(command.public_key)!;
    const first = remembered(state, command.request_id);
    // The same signing input is the same message, so only its time has to be looked up.
    if (first) return repeated(discussion(command, agent, first.at));
    if (now.status !== 'voting') return votingClosed(now);
    return notActive(agent) ?? unknownMeme(state, command.meme_references) ?? { plan: agent };
  },

  effect(state, command, agent) {
    const data = discussion(command, agent, state.now);
    remember(state, command.request_id);
    state.outbox.emit({ type: 'consensus_discussion', data });
    return accepted(data);
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
