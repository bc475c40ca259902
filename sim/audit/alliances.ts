/** Alliances: the predicted outcome of each request, and the effect of an accepted request. */
import type {
  AllianceLeaveCommand,
  AllianceProposeCommand,
  AllianceRespondCommand,
} from '../../engine/protocol/schema/command.js';
import { onAllianceChange } from './electorate.js';
import { allianceData, emitAlliance } from './events.js';
import {
  type Agent,
  type Alliance,
  answerBefore,
  createDuplicate,
  createRefusal,
  type PredictedOutcome,
  type State,
} from './state.js';

const INVITATION_MS = 60_000;

export const isOver = ({ status }: Alliance) => status !== 'proposed' && status !== 'active';

export function foundAlliance(
  state: State,
  founder: Agent,
  command: AllianceProposeCommand,
  at: number,
): Alliance {
  const alliance: Alliance = {
    id: command.alliance_id,
    founder,
    members: [founder],
    invited: [...command.target_ids].sort().map((id) => state.byId.get(id)!),
    answered: new Set([founder]),
    purpose: command.purpose,
    duration: command.duration,
    durationMs: command.duration_ms,
    status: 'proposed',
    founding: {},
    deadline: 0,
    changedAt: at,
  };
  alliance.founding = allianceData(alliance);
  state.alliances.set(alliance.id, alliance);
  founder.commitments += 1;
  setDeadline(state, alliance, at + INVITATION_MS);
  emitAlliance(state, alliance);
  return alliance;
}

/** Handles an answer to an invitation. The first acceptance activates the alliance. */
export function answerInvitation(
  state: State,
  alliance: Alliance,
  { by, accepted, at }: { by: Agent; accepted: boolean; at: number },
): void {
  alliance.invited = alliance.invited.filter((agent) => agent !== by);
  alliance.answered.add(by);
  alliance.changedAt = at;
  if (accepted) {
    if (alliance.status === 'proposed') activate(state, alliance, at);
    alliance.members.push(by);
    by.alliances.add(alliance);
    by.commitments += 1;
    onAllianceChange(state);
  } else if (alliance.status === 'proposed' && alliance.invited.length === 0) {
    endAlliance(state, alliance, 'lapsed');
  }
  emitAlliance(state, alliance);
}

export function leaveAlliance(state: State, alliance: Alliance, by: Agent, at: number): void {
  release(alliance, by);
  alliance.members = alliance.members.filter((agent) => agent !== by);
  alliance.changedAt = at;
  onAllianceChange(state);
  if (by === alliance.founder || alliance.members.length < 2) {
    endAlliance(state, alliance, 'dissolved');
  }
  emitAlliance(state, alliance);
}

/** Ends an alliance because no invitation was accepted in time, or the agreed duration is over. */
export function allianceDue(state: State, alliance: Alliance, at: number): void {
  alliance.changedAt = at;
  endAlliance(state, alliance, alliance.status === 'proposed' ? 'lapsed' : 'expired');
  emitAlliance(state, alliance);
}

function activate(state: State, alliance: Alliance, at: number): void {
  alliance.status = 'active';
  alliance.founder.alliances.add(alliance);
  setDeadline(state, alliance, at + alliance.durationMs);
}

function endAlliance(state: State, alliance: Alliance, status: Alliance['status']): void {
  for (const member of alliance.members) release(alliance, member);
  alliance.status = status;
  onAllianceChange(state);
}

function release(alliance: Alliance, agent: Agent): void {
  agent.alliances.delete(alliance);
  agent.commitments -= 1;
}

function setDeadline(state: State, alliance: Alliance, due: number): void {
  alliance.deadline = due;
  state.deadlines.push({ due, of: 'alliance', id: alliance.id });
}

const MOST_ALLIANCES = 5;

export function judgeFounding(
  state: State,
  by: Agent,
  { alliance_id, target_ids }: AllianceProposeCommand,
): PredictedOutcome | null {
  const known = state.alliances.get(alliance_id);
  if (known) return createDuplicate(known.founding);
  if (by.status !== 'active') return createRefusal('NOT_ACTIVE');
  for (const id of target_ids) {
    if (id === by.id) return createRefusal('SCHEMA');
    if (!state.byId.has(id)) return createRefusal('UNKNOWN_TARGET', { agent_id: id });
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
  if (!alliance) return createRefusal('UNKNOWN_ALLIANCE');
  const before = answerBefore(state, command.request_id, at);
  if (before) return createDuplicate(before);
  if (alliance.answered.has(by)) return createRefusal('ALREADY_ANSWERED');
  if (!alliance.invited.includes(by)) return createRefusal('NOT_INVITED');
  if (isOver(alliance)) return createRefusal('ALLIANCE_CLOSED', { status: alliance.status });
  if (by.status !== 'active') return createRefusal('NOT_ACTIVE');
  return command.accepted ? tooMany(by) : null;
}

export function judgeLeave(
  state: State,
  by: Agent,
  command: AllianceLeaveCommand,
  at: number,
): PredictedOutcome | null {
  const alliance = state.alliances.get(command.alliance_id);
  if (!alliance) return createRefusal('UNKNOWN_ALLIANCE');
  const before = answerBefore(state, command.request_id, at);
  if (before) return createDuplicate(before);
  if (!alliance.members.includes(by)) return createRefusal('NOT_MEMBER');
  if (alliance.status === 'proposed') return createRefusal('NOT_FORMED');
  if (isOver(alliance)) return createRefusal('ALLIANCE_CLOSED', { status: alliance.status });
  return by.status === 'active' ? null : createRefusal('NOT_ACTIVE');
}

const tooMany = (by: Agent): PredictedOutcome | null =>
  by.commitments >= MOST_ALLIANCES ? createRefusal('TOO_MANY_ALLIANCES') : null;
