/** An alliance's life: proposed, active, and three ways to be over. */
import {
  type AllianceContext,
  type AllianceStatus,
  type EventData,
  formatInstant,
} from '../../protocol/schema/index.js';
import type { UnknownEvent } from './directory.js';
import { setup } from './xstate.js';

type AllianceEvent =
  | { type: 'proposed' }
  | { type: 'accept' | 'decline' | 'leave'; agent: string; at: number }
  | { type: 'deadline'; at: number };

type Emitted = { type: 'alliance_update'; data: EventData['alliance_update'] } | UnknownEvent;

const alliance = setup({
  types: {
    context: {} as AllianceContext,
    input: {} as AllianceContext,
    events: {} as AllianceEvent,
    emitted: {} as Emitted,
  },
  guards: {
    lastInvitee: ({ context }) => context.invited.length === 1,
    ends: ({ context, event }) =>
      'agent' in event && (event.agent === context.founder || context.members.length <= 2),
  },
});

/** What an alliance shows of itself; once it is over, no members and no duration. */
export function allianceData(
  status: AllianceStatus,
  context: AllianceContext,
): EventData['alliance_update'] {
  const over = status !== 'proposed' && status !== 'active';
  const members = context.members.map((id) => ({
    id,
    role: id === context.founder ? ('founder' as const) : ('member' as const),
  }));
  const invited = context.invited.map((id) => ({ id, role: 'invited' as const }));
  return {
    alliance_id: context.alliance_id,
    members: over ? [] : [...members, ...invited],
    purpose: context.purpose,
    duration: over ? 'PT0S' : context.duration,
    status,
    timestamp: formatInstant(context.changed_at),
  };
}

const emitStatus = (status: AllianceStatus) =>
  alliance.emit(({ context }) => ({
    type: 'alliance_update',
    data: allianceData(status, context),
  }));

const without = (ids: readonly string[], id: string) => ids.filter((other) => other !== id);

const join = alliance.assign(({ context, event }) =>
  'agent' in event
    ? {
        members: [...context.members, event.agent],
        invited: without(context.invited, event.agent),
        changed_at: event.at,
      }
    : {},
);

const start = alliance.assign(({ context, event }) =>
  'at' in event ? { deadline: event.at + context.duration_ms } : {},
);

const part = alliance.assign(({ context, event }) =>
  'agent' in event
    ? {
        members: without(context.members, event.agent),
        invited: without(context.invited, event.agent),
        gone: [...context.gone, event.agent].sort(),
        changed_at: event.at,
      }
    : {},
);

const stamp = alliance.assign(({ event }) => ('at' in event ? { changed_at: event.at } : {}));

const unknown = alliance.emit(({ context, event }) => ({
  type: 'unknown_event',
  actor: context.alliance_id,
  event: event.type,
}));

export const allianceMachine = alliance.createMachine({
  id: 'alliance',
  context: ({ input }) => input,
  initial: 'proposed',
  states: {
    proposed: {
      on: {
        proposed: { actions: emitStatus('proposed') },
        accept: { target: 'active', actions: [join, start, emitStatus('active')] },
        decline: [
          { guard: 'lastInvitee', target: 'lapsed', actions: [part, emitStatus('lapsed')] },
          { actions: [part, emitStatus('proposed')] },
        ],
        deadline: { target: 'lapsed', actions: [stamp, emitStatus('lapsed')] },
      },
    },
    active: {
      on: {
        accept: { actions: [join, emitStatus('active')] },
        decline: { actions: [part, emitStatus('active')] },
        leave: [
          { guard: 'ends', target: 'dissolved', actions: [part, emitStatus('dissolved')] },
          { actions: [part, emitStatus('active')] },
        ],
        deadline: { target: 'expired', actions: [stamp, emitStatus('expired')] },
      },
    },
    lapsed: { type: 'final' },
    dissolved: { type: 'final' },
    expired: { type: 'final' },
  },
  on: { '*': { actions: unknown } },
});
