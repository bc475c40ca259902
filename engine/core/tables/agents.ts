/**
 * Registered agents: dense ordinals, found by key or id. Each is a row with its state; its actor is
 * started when something is first sent to it, for most that vote are never sent anything.
 */
import type { AgentContext, AgentProfile, RecordOf, Status } from '../../protocol/schema/index.js';
import type { Changes } from '../changes.js';
import { agentMachine, type StatusChange, statusEvent } from '../machines/agent.js';
import { startActor } from '../machines/directory.js';
import type { Actor } from '../machines/xstate.js';
import type { Outbox } from '../outbox.js';

/** What is held of an agent; name and description stay in the store. */
export interface Agent {
  readonly ordinal: number;
  readonly id: string;
  readonly publicKey: string;
  readonly personality: string;
  readonly validator: boolean;
  readonly producer: boolean;
  readonly registeredAt: number;
  /** As its actor has them. */
  readonly status: Status;
  readonly context: AgentContext;
}

type AgentActor = Actor<typeof agentMachine>;
type Row = { -readonly [K in keyof Agent]: Agent[K] } & { actor: AgentActor | null };

/** An agent that fell dormant, or woke: no event tells it. */
export interface Turned {
  /** Its ordinal. */
  agent: number;
  dormant: boolean;
}

const nobody: readonly Turned[] = Object.freeze([]);

export class Agents {
  readonly #all: Row[] = [];
  readonly #byKey = new Map<string, Agent>();
  readonly #byId = new Map<string, Agent>();
  readonly #changed = new Set<number>();
  #turned: Turned[] = [];
  readonly #outbox: Outbox;
  /** Agents in status active, by capability. */
  activeValidators = 0;
  activeProducers = 0;
  /** Active validators that are not dormant. */
  awakeValidators = 0;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  get count(): number {
    return this.#all.length;
  }

  byKey = (key: string): Agent | undefined => this.#byKey.get(key);
  byId = (id: string): Agent | undefined => this.#byId.get(id);
  /** @throws when there is none: ordinals come only from our own records. */
  at(ordinal: number): Agent {
    const agent = this.#all[ordinal];
    if (!agent) throw new Error(`no agent has the ordinal ${ordinal}`);
    return agent;
  }

  register(profile: AgentProfile): Agent {
    const context: AgentContext = {
      agent_id: profile.agent_id,
      blocks_produced: 0,
      changed_at: profile.registered_at,
      dormant: false,
      expected_duration: '',
      input_sha256: '',
      meme_bytes: 0,
      previous: 'active',
      reason: '',
      signed_at: 0,
    };
    const agent = this.#add(profile, { state: 'active', context });
    this.#outbox.emit(statusEvent('active', context));
    this.#changed.add(agent.ordinal);
    return agent;
  }

  restore(profile: AgentProfile, stored: RecordOf['agent_states']): void {
    this.#add(profile, stored);
  }

  setStatus(agent: Agent, status: Status, change: StatusChange): void {
    this.send(agent, { type: `set_${status}`, previous: agent.status, ...change });
  }

  /** Sends to the agent's actor and marks its record as changed. */
  send({ ordinal }: Agent, event: Parameters<AgentActor['send']>[0]): void {
    const row = this.#all[ordinal]!;
    const { id, status, context } = row;
    row.actor ??= startActor(agentMachine, id, this.#outbox, { state: status, context });
    this.#count(row, -1);
    row.actor.send(event);
    const snapshot = row.actor.getSnapshot();
    row.status = snapshot.value as Status;
    row.context = snapshot.context;
    this.#count(row, 1);
    this.#changed.add(ordinal);
    if (event.type === 'slept' || event.type === 'acted') {
      this.#turned.push({ agent: ordinal, dormant: event.type === 'slept' });
    }
  }

  /** Who fell dormant or woke since it was asked last, in order. */
  takeTurned(): readonly Turned[] {
    if (this.#turned.length === 0) return nobody;
    const turned = this.#turned;
    this.#turned = [];
    return turned;
  }

  save(changes: Changes): void {
    if (this.#changed.size === 0) return;
    for (const ordinal of [...this.#changed].sort((a, b) => a - b)) {
      const { id, context, status } = this.at(ordinal);
      changes.put('agent_states', id, { context, state: status });
    }
    this.#changed.clear();
  }

  #add(profile: AgentProfile, { state, context }: RecordOf['agent_states']): Agent {
    const row: Row = {
      ordinal: profile.ordinal,
      id: profile.agent_id,
      publicKey: profile.public_key,
      personality: profile.personality,
      validator: profile.capabilities.includes('validator'),
      producer: profile.capabilities.includes('producer'),
      registeredAt: profile.registered_at,
      status: state,
      context,
      actor: null,
    };
    this.#all[row.ordinal] = row;
    this.#byKey.set(row.publicKey, row);
    this.#byId.set(row.id, row);
    this.#count(row, 1);
    return row;
  }

  #count({ status, validator, producer, context }: Agent, step: 1 | -1): void {
    if (status !== 'active') return;
    if (validator) this.activeValidators += step;
    if (validator && !context.dormant) this.awakeValidators += step;
    if (producer) this.activeProducers += step;
  }
}
