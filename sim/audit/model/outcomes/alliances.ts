/** What would become of the requests about alliances. */
import type {
  AllianceLeaveCommand,
  AllianceProposeCommand,
  AllianceRespondCommand,
} from '../../../../engine/internal.js';
import { isOver } from '../alliances.js';
import { answerBefore } from '../state/requests.js';
import {
  type Agent,
  duplicate,
  type PredictedOutcome,
  refused,
  type State,
} from '../state/state.js';

const MOST_ALLIANCES = 5;

export function judgeFounding(
  state: State,
  by: Agent,
  { alliance_id, target_ids }: AllianceProposeCommand,
): PredictedOutcome | null {
  const known = state.alliances.get(alliance_id);
  if (known) return duplicate(known.founding);
  if (by.status !== 'active') return refused('NOT_ACTIVE');
  for (const id of target_ids) {
    if (id === by.id) return refused('SCHEMA');
    if (!state.byId.has(id)) return refused('UNKNOWN_TARGET', { agent_id: id });
  }
  return tooMany(by);
}

export function judgeAnswer(
  state: State,
  by: Agent,
  command: AllianceRespondCommand,
  at: number,
): PredictedOutcome | null {
  const alliance = state.alliances.get(command.alliance_id);
  if (!alliance) return refused('UNKNOWN_ALLIANCE');
  const before = answerBefore(state, command.request_id, at);
  if (before) return duplicate(before);
  if (alliance.answered.has(by)) return refused('ALREADY_ANSWERED');
  if (!alliance.invited.includes(by)) return refused('NOT_INVITED');
  if (isOver(alliance)) return refused('ALLIANCE_CLOSED', { status: alliance.status });
  if (by.status !== 'active') return refused('NOT_ACTIVE');
  return command.accepted ? tooMany(by) : null;
}

export function judgeLeave(
  state: State,
  by: Agent,
  command: AllianceLeaveCommand,
  at: number,
): PredictedOutcome | null {
  const alliance = state.alliances.get(command.alliance_id);
  if (!alliance) return refused('UNKNOWN_ALLIANCE');
  const before = answerBefore(state, command.request_id, at);
  if (before) return duplicate(before);
  if (!alliance.members.includes(by)) return refused('NOT_MEMBER');
  if (alliance.status === 'proposed') return refused('NOT_FORMED');
  if (isOver(alliance)) return refused('ALLIANCE_CLOSED', { status: alliance.status });
  return by.status === 'active' ? null : refused('NOT_ACTIVE');
}

const tooMany = (by: Agent): PredictedOutcome | null =>
  by.commitments >= MOST_ALLIANCES ? refused('TOO_MANY_ALLIANCES') : null;
