/** A key becomes an agent. The same data again is a repeat; other data for the same key is not. */
import {
  type AgentProfile,
  type AnswerOf,
  formatInstant,
  type RegisterCommand,
} from '../../protocol/schema/index.js';
import { accepted, type CommandRule, refused, repeated } from '../outcome.js';
import type { Agent } from '../tables/agents.js';

export const register: CommandRule<RegisterCommand, null> = {
  check(state, command) {
    const agent = state.agents.byKey(command.public_key);
    if (!agent) return { plan: null };
    const profile = state.reader.read('agents', agent.id)!;
    if (sameData(profile, command)) return repeated(answer(agent));
    const message = `the key is registered as ${agent.id} with other data`;
    return refused('AGENT_EXISTS', message, { details: { agent_id: agent.id } });
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
    return accepted(answer(agent));
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

function answer(agent: Agent): AnswerOf['register'] {
  return {
    agent_id: agent.id,
    registration_time: formatInstant(agent.registeredAt),
    status: agent.status,
  };
}
