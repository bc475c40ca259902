/** An agent sets its own availability. Later signed instants win; an older one is a replay. */
import { type AnswerOf, formatInstant, type StatusCommand } from '../../protocol/schema/index.js';
import { accepted, type CommandRule, refused, repeated } from '../outcome.js';
import type { Agent } from '../tables/agents.js';

export const status: CommandRule<StatusCommand, Agent> = {
  check(state, command) {
    const agent = state.agents.byId(command.agent_id);
    if (!agent) return refused('UNKNOWN_AGENT', `no agent has the id ${command.agent_id}`);
    if (agent.publicKey !== command.public_key) {
      return refused('NOT_OWNER', `the signer is not agent ${command.agent_id}`);
    }
    const last = agent.context;
    if (last.input_sha256 === command.input_sha256) return repeated(answer(agent));
    if (last.input_sha256 !== '' && command.signed_at <= last.signed_at) {
      const expected = `a timestamp later than ${formatInstant(last.signed_at)}`;
      return refused('REPLAYED', `the status update is not new: expected ${expected}`);
    }
    return { plan: agent };
  },

  effect(state, command, agent) {
    const { status: wanted, reason, expected_duration, signed_at, input_sha256 } = command;
    if (agent.validator && wanted !== agent.status) state.electorates.electorsChanged();
    const change = { reason, expected_duration, at: state.now, signed_at, input_sha256 };
    state.agents.setStatus(agent, wanted, change);
    return accepted(answer(agent));
  },
};

function answer(agent: Agent): AnswerOf['status'] {
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
