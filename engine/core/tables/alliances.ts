/** Alliances in memory: proposed and active ones with their actors, and who is in which. */
import type { AllianceContext, AllianceStatus, RecordOf } from '../../protocol/schema/index.js';
import type { Changes } from '../changes.js';
import { allianceMachine } from '../machines/alliance.js';
import { startActor } from '../machines/directory.js';
import type { Actor } from '../machines/xstate.js';
import type { Outbox } from '../outbox.js';
import type { Deadlines } from './deadlines.js';

type AllianceActor = Actor<typeof allianceMachine>;

export interface StoredAlliance {
  state: AllianceStatus;
  context: AllianceContext;
}

export class Alliances {
  readonly #open = new Map<string, AllianceActor>();
  /** Alliances that count for an agent: its active ones, and those it founded and proposes. */
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

  /** Sends to the alliance's actor, then keeps records, deadlines and memberships in step. */
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

  /** How many count towards an agent's limit. */
  countOf(agentId: string): number {
    return this.#byAgent.get(agentId)?.size ?? 0;
  }

  /** The members of each active alliance of an agent. */
  *activeOf(agentId: string): Iterable<{ id: string; members: readonly string[] }> {
    for (const id of this.#byAgent.get(agentId) ?? []) {
      const alliance = this.get(id);
      if (alliance?.state === 'active') yield { id, members: alliance.context.members };
    }
  }

  /** Who shares an active alliance with an agent, itself left out. */
  alliesOf(agentId: string): Set<string> {
    const allies = new Set<string>();
    for (const { members } of this.activeOf(agentId)) for (const id of members) allies.add(id);
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
