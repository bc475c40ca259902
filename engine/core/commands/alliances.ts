import { limits } from '../../protocol/limits.js';
import type {
  AllianceLeaveCommand,
  AllianceProposeCommand,
  AllianceRespondCommand,
} from '../../protocol/schema/command.js';
import type { AllianceContext, RecordOf } from '../../protocol/schema/record.js';
import type { Agent } from '../agents.js';
import { allianceData, type StoredAlliance } from '../alliances.js';
import {
  acceptedOutcome,
  type CommandRule,
  findRemembered,
  type Precheck,
  refusedOutcome,
  refuseInactive,
  rememberRequest,
  repeatedOutcome,
  type State,
} from '../state.js';

const shown = ({ state, context }: StoredAlliance) => allianceData(state, context);

/** Builds the response to a duplicate: the alliance as the first request left it. */
function shownThen(known: StoredAlliance, { at, alliance }: RecordOf['requests']) {
  if (!alliance) throw new Error(`no stored response for alliance ${known.context.alliance_id}`);
  const { status, members, invited } = alliance;
  return allianceData(status, { ...known.context, members, invited, changed_at: at });
}

/** Rebuilds the response to the founding request from the request and its time. */
function founding({ target_ids }: AllianceProposeCommand, context: AllianceContext) {
  const { founder, proposed_at } = context;
  const invited = [...target_ids].sort();
  return allianceData('proposed', {
    ...context,
    members: [founder],
    invited,
    changed_at: proposed_at,
  });
}

export const alliancePropose: CommandRule<AllianceProposeCommand, Agent> = {
  check(state, command) {
    const known = allianceNow(state, command.alliance_id);
    // The id is derived from the whole request, so a second request is always a duplicate.
    if (known) return repeatedOutcome(founding(command, known.context));
    const agent = state.agents.byKey(command.public_key)!;
    return (
      refuseInactive(agent) ??
      badTarget(state, agent, command.target_ids) ??
      tooMany(state, agent) ?? { plan: agent }
    );
  },

  effect(state, command, agent) {
    const { alliance_id, purpose, duration, duration_ms, target_ids } = command;
    const context: AllianceContext = {
      alliance_id,
      purpose,
      duration,
      duration_ms,
      founder: agent.id,
      members: [agent.id],
      invited: [...target_ids].sort(),
      gone: [],
      proposed_at: state.now,
      deadline: state.now + limits.allianceInvitationMs,
      changed_at: state.now,
    };
    rememberRequest(state, command.request_id);
    return acceptedOutcome(shown(state.alliances.propose(context, state.changes)));
  },
};

export const allianceRespond: CommandRule<AllianceRespondCommand, Agent> = {
  check(state, command) {
    const agent = state.agents.byKey(command.public_key)!;
    const known = allianceNow(state, command.alliance_id);
    if (!known) return unknownAlliance(command.alliance_id);
    const first = findRemembered(state, command.request_id);
    if (first) return repeatedOutcome(shownThen(known, first));
    const { members, invited, gone } = known.context;
    if (members.includes(agent.id) || gone.includes(agent.id)) {
      return refusedOutcome('INVITATION_ANSWERED', memberAndAlliance(agent, known));
    }
    if (!invited.includes(agent.id)) {
      return refusedOutcome('INVITATION_MISSING', memberAndAlliance(agent, known));
    }
    const problem = over(known) ?? refuseInactive(agent);
    return problem ?? (command.accepted ? tooMany(state, agent) : null) ?? { plan: agent };
  },

  effect(state, command, agent) {
    const type = command.accepted ? 'accept' : 'decline';
    return turn(state, command, { type, agent: agent.id, at: state.now });
  },
};

export const allianceLeave: CommandRule<AllianceLeaveCommand, Agent> = {
  check(state, command) {
    const agent = state.agents.byKey(command.public_key)!;
    const known = allianceNow(state, command.alliance_id);
    if (!known) return unknownAlliance(command.alliance_id);
    const first = findRemembered(state, command.request_id);
    if (first) return repeatedOutcome(shownThen(known, first));
    const member = known.context.members.includes(agent.id);
    if (!member) return refusedOutcome('ALLIANCE_NOT_MEMBER', memberAndAlliance(agent, known));
    if (known.state === 'proposed') {
      return refusedOutcome('ALLIANCE_NOT_FORMED', { id: command.alliance_id });
    }
    return over(known) ?? refuseInactive(agent) ?? { plan: agent };
  },

  effect(state, command, agent) {
    return turn(state, command, { type: 'leave', agent: agent.id, at: state.now });
  },
};

/** Sends an event to the alliance, and returns the alliance after the event. */
function turn(
  state: State,
  command: AllianceRespondCommand | AllianceLeaveCommand,
  event: { type: 'accept' | 'decline' | 'leave'; agent: string; at: number },
) {
  const after = state.alliances.send(command.alliance_id, event, state.changes);
  const { members, invited } = after.context;
  rememberRequest(state, command.request_id, { invited, members, status: after.state });
  state.electorates.alliancesChanged();
  return acceptedOutcome(shown(after));
}

function allianceNow(state: State, id: string): StoredAlliance | undefined {
  return state.alliances.get(id) ?? state.reader.read('alliances', id);
}

function unknownAlliance(id: string): Precheck<never> {
  return refusedOutcome('ALLIANCE_UNKNOWN', { id });
}

const memberAndAlliance = (agent: Agent, { context }: StoredAlliance) => ({
  agent_id: agent.id,
  id: context.alliance_id,
});

function over({ state: status, context }: StoredAlliance): Precheck<never> | null {
  if (status === 'proposed' || status === 'active') return null;
  const values = { id: context.alliance_id, status };
  return refusedOutcome('ALLIANCE_CLOSED', values, { details: { status } });
}

function tooMany(state: State, agent: Agent): Precheck<never> | null {
  const count = state.alliances.countOf(agent.id);
  const limit = limits.activeAlliancesPerAgent;
  if (count < limit) return null;
  return refusedOutcome('ALLIANCES_TOO_MANY', { agent_id: agent.id, count, limit });
}

function badTarget(state: State, agent: Agent, targets: readonly string[]): Precheck<never> | null {
  for (const [index, id] of targets.entries()) {
    const pointer = `/target_ids/${index}`;
    const values = { agent_id: id };
    if (id === agent.id) return refusedOutcome('FOUNDER_INVITED', values, { pointer });
    if (!state.agents.byId(id)) {
      return refusedOutcome('TARGET_UNKNOWN', values, { pointer, details: values });
    }
  }
  return null;
}
