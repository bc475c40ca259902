/** What would become of a registration or a status update. */
import type { RegisterCommand, StatusCommand } from '../../../../engine/internal.js';
import { registrationAnswer, statusAnswer } from '../events.js';
import {
  type Agent,
  duplicate,
  type PredictedOutcome,
  refused,
  type State,
} from '../state/state.js';

/** `known`: who has its key already. */
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
  if (isSame) return duplicate(registrationAnswer(known));
  return refused('AGENT_EXISTS', { agent_id: known.id });
}

export function judgeStatus(
  state: State,
  by: Agent,
  command: StatusCommand,
): PredictedOutcome | null {
  const agent = state.byId.get(command.agent_id);
  if (!agent) return refused('UNKNOWN_AGENT');
  if (agent !== by) return refused('NOT_OWNER');
  if (agent.input === command.input_sha256) return duplicate(statusAnswer(agent));
  const isLate = agent.signedAt !== null && command.signed_at <= agent.signedAt;
  return isLate ? refused('REPLAYED') : null;
}
