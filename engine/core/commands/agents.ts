/**
 * Registration, status, memes and discussions. A second registration of a key is a duplicate if its
 * data is identical, and is refused if its data differs.
 */

import { limits } from '../../protocol/limits.js';
import type {
  DiscussCommand,
  MemeCommand,
  RegisterCommand,
  StatusCommand,
} from '../../protocol/schema/command.js';
import { formatInstant } from '../../protocol/schema/primitives.js';
import type { AgentProfile, RecordOf } from '../../protocol/schema/record.js';
import type { AnswerOf } from '../../protocol/schema/view.js';
import type { Agent } from '../agents.js';
import {
  acceptedOutcome,
  type CommandRule,
  findRemembered,
  getBlock,
  refusedOutcome,
  refuseInactive,
  refuseUnknownBlock,
  refuseUnknownMeme,
  refuseVotingClosed,
  rememberRequest,
  repeatedOutcome,
} from '../state.js';

export const register: CommandRule<RegisterCommand, null> = {
  check(state, command) {
    const agent = state.agents.byKey(command.public_key);
    if (!agent) return { plan: null };
    const profile = state.reader.read('agents', agent.id)!;
    if (sameData(profile, command)) return repeatedOutcome(answerRegistration(agent));
    const details = { agent_id: agent.id };
    return refusedOutcome('AGENT_EXISTS', details, { details });
  },

  effect(state, command) {
    const { agent_id, public_key, personality, name, description, capabilities } = command;
    const ordinal = state.agents.count;
    const profile: AgentProfile = {
      agent_id,
      capabilities,
      description,
      name,
      ordinal,
      personality,
      public_key,
      registered_at: state.now,
    };
    state.changes.put('agents', agent_id, profile);
    state.changes.put('agent_numbers', ordinal, { agent_id });
    state.standings.add(ordinal);
    state.standings.touch(ordinal);
    const agent = state.agents.register(profile);
    if (agent.validator) state.electorates.electorsChanged();
    return acceptedOutcome(answerRegistration(agent));
  },
};

function sameData(profile: AgentProfile, command: RegisterCommand): boolean {
  const set = (values: readonly string[]) => [...values].sort().join();
  return (
    profile.personality === command.personality &&
    profile.name === command.name &&
    profile.description === command.description &&
    set(profile.capabilities) === set(command.capabilities)
  );
}

function answerRegistration(agent: Agent): AnswerOf['register'] {
  return {
    agent_id: agent.id,
    registration_time: formatInstant(agent.registeredAt),
    status: agent.status,
  };
}

export const status: CommandRule<StatusCommand, Agent> = {
  check(state, command) {
    const { agent_id } = command;
    const agent = state.agents.byId(agent_id);
    if (!agent) return refusedOutcome('AGENT_UNKNOWN', { id: agent_id });
    if (agent.publicKey !== command.public_key) {
      return refusedOutcome('AGENT_NOT_OWNED', { agent_id });
    }
    const last = agent.context;
    if (last.input_sha256 === command.input_sha256) return repeatedOutcome(answerStatus(agent));
    if (last.input_sha256 !== '' && command.signed_at <= last.signed_at) {
      const timestamp = formatInstant(command.signed_at);
      return refusedOutcome('STATUS_NOT_NEW', { timestamp, last: formatInstant(last.signed_at) });
    }
    return { plan: agent };
  },

  effect(state, command, agent) {
    const { status: wanted, reason, expected_duration, signed_at, input_sha256 } = command;
    if (agent.validator && wanted !== agent.status) state.electorates.electorsChanged();
    const change = { reason, expected_duration, at: state.now, signed_at, input_sha256 };
    state.agents.setStatus(agent, wanted, change);
    return acceptedOutcome(answerStatus(agent));
  },
};

function answerStatus(agent: Agent): AnswerOf['status'] {
  const { previous, reason, expected_duration, changed_at } = agent.context;
  return {
    agent_id: agent.id,
    status: agent.status,
    previous_status: previous,
    reason,
    expected_duration,
    timestamp: formatInstant(changed_at),
  };
}

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
    state.outbox.emit('meme_posted', { ...answer, creator: agent.who });
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
    state.outbox.emit('consensus_discussion', data);
    return acceptedOutcome(data);
  },
};

function discussion(command: DiscussCommand, agent: Agent, at: number): AnswerOf['discuss'] {
  return {
    block_hash: command.block_hash,
    agent: agent.who,
    message: command.message,
    sentiment: command.sentiment,
    meme_references: command.meme_references,
    timestamp: formatInstant(at),
  };
}
