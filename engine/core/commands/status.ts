/** An agent sets its own availability. Later signed instants win; an older one is a replay. */
import { type AnswerOf, formatInstant, type StatusCommand } from '../../protocol/schema/index.js';
import { accepted, type CommandRule, refused, repeated } from '../outcome.js';
import { type Agent, contextOf, statusOf } from '../tables/agents.js';

export const status: CommandRule<StatusCommand, Agent> = {
  check(state, command) {
    const agent = state.agents.byId(command.agent_id);
    if (!agent) return refused('UNKNOWN_AGENT', `no agent has the id ${command.agent_id}`);
    if (agent.publicKey !== command.public_key) {
      return refused('NOT_OWNER', `the signer is not agent ${command.agent_id}`);
    }
    const last = contextOf(agent);
    if (last.input_sha256 === command.input_sha256) return repeated(answer(agent));
    if (last.input_sha256 !== '' && command.signed_at <= last.signed_at) {
      const expected = `a timestamp later than ${formatInstant(last.signed_at)}`;
      return refused('REPLAYED', `the status update is not new: expected ${expected}`);
    }
    return { plan: agent };
  },

  effect(state, command, agent) {
    const { status: wanted, reason, expected_duration, signed_at, input_sha256 } = command;
    if (agent.validator && wanted !== statusOf(agent)) state.electorates.electorsChanged();
    const change = { reason, expected_duration, at: state.now, signed_at, input_sha256 };
    state.agents.setStatus(agent, wanted, change);
    return accepted(answer(agent));
  },
};

function answer(agent: Agent): AnswerOf['status'] {
  const { previous, reason, expected_duration, changed_at } = contextOf(agent);
  return {
    agent_id: agent.id,
    status: statusOf(agent),
    previous_status: previous,
    reason,
    expected_duration,
    timestamp: formatInstant(changed_at),
  };
}
