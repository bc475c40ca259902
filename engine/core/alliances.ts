/** Proposed and active alliances with their actors, and each agent's alliances. */

import type { EventData } from '../protocol/schema/event.js';
import { type AllianceStatus, formatInstant } from '../protocol/schema/primitives.js';
import type { AllianceContext, RecordOf } from '../protocol/schema/record.js';
import type { Deadlines } from './agents.js';
import { type Actor, setup } from './bundled/xstate.js';
import { type Changes, type Outbox, startActor, type UnknownEvent } from './changes.js';

type AllianceActor = Actor<typeof allianceMachine>;

export interface StoredAlliance {
  state: AllianceStatus;
  context: AllianceContext;
}

export class Alliances {
  readonly #open = new Map<string, AllianceActor>();
  /** Alliances that count toward an agent's limit: active alliances and its own proposals. */
  readonly #byAgent = new Map<string, Set<string>>();
  readonly #outbox: Outbox;
  readonly #deadlines: Deadlines;

  constructor(outbox: Outbox, deadlines: Deadlines) {
    this.#outbox = outbox;
    this.#deadlines = deadlines;
  }

  propose(input: AllianceContext, changes: Changes): StoredAlliance {
    const id = input.alliance_id;
    const actor = startActor(allianceMachine, id, this.#outbox, { input });
    this.#open.set(id, actor);
    this.#join(id, [input.founder]);
    changes.put('open', ['alliance', id], {});
    return this.send(id, { type: 'proposed' }, changes);
  }

  restore({ state, context }: RecordOf['alliances']): void {
    const id = context.alliance_id;
    const actor = startActor(allianceMachine, id, this.#outbox, { state, context });
    this.#open.set(id, actor);
    this.#join(id, context.members);
    this.#deadlines.set(id, context.deadline);
  }

  get(id: string): StoredAlliance | undefined {
    const actor = this.#open.get(id);
    return actor && stored(actor);
  }

  /** Sends an event to an alliance, then updates records, deadlines and memberships. */
  send(id: string, event: Parameters<AllianceActor['send']>[0], changes: Changes): StoredAlliance {
    const actor = this.#open.get(id);
    if (!actor) throw new Error(`alliance ${id} is not open`);
    const before = stored(actor).context.members;
    actor.send(event);
    const after = stored(actor);
    this.#leave(id, before);
    changes.put('alliances', id, after);
    if (after.state === 'proposed' || after.state === 'active') {
      this.#join(id, after.context.members);
      this.#deadlines.set(id, after.context.deadline);
    } else {
      this.#open.delete(id);
      this.#deadlines.remove(id);
      changes.drop('open', ['alliance', id]);
    }
    return after;
  }

  /** Returns the number of alliances that count toward an agent's limit. */
  countOf(agentId: string): number {
    return this.#byAgent.get(agentId)?.size ?? 0;
  }

  /** Returns the active alliances among those with these ids. Default: all. */
  active(ids: Iterable<string> = this.#open.keys()): AllianceContext[] {
    const active: AllianceContext[] = [];
    for (const id of ids) {
      const { value, context } = this.#open.get(id)!.getSnapshot();
      if (value === 'active') active.push(context);
    }
    return active;
  }

  /** Returns the agents that share an active alliance with an agent. */
  alliesOf(agentId: string): Set<string> {
    const allies = new Set<string>();
    for (const { members } of this.active(this.#byAgent.get(agentId) ?? [])) {
      for (const id of members) allies.add(id);
    }
    allies.delete(agentId);
    return allies;
  }

  #join(id: string, members: readonly string[]): void {
    for (const agentId of members) {
      const of = this.#byAgent.get(agentId);
      if (of) of.add(id);
      else this.#byAgent.set(agentId, new Set([id]));
    }
  }

  #leave(id: string, members: readonly string[]): void {
    for (const agentId of members) {
      const of = this.#byAgent.get(agentId);
      of?.delete(id);
      if (of?.size === 0) this.#byAgent.delete(agentId);
    }
  }
}

function stored(actor: AllianceActor): StoredAlliance {
  const { value, context } = actor.getSnapshot();
  return { state: value as AllianceStatus, context };
}

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

/** Builds an alliance's public data. An ended alliance has no members and no duration. */
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

const allianceMachine = alliance.createMachine({
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
