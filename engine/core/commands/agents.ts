/**
 * Registration and status. A second registration of a key is a duplicate if its data is identical,
 * and is refused if its data differs.
 */

import type { RegisterCommand, StatusCommand } from '../../protocol/schema/command.js';
import { formatInstant } from '../../protocol/schema/primitives.js';
import type { AgentProfile } from '../../protocol/schema/record.js';
import type { AnswerOf } from '../../protocol/schema/view.js';
import type { Agent } from '../agents.js';
import { acceptedOutcome, type CommandRule, refusedOutcome, repeatedOutcome } from '../state.js';

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
