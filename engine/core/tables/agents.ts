/** Registered agents: dense ordinals, found by key or id, each with its actor. */
import type { Actor } from 'xstate';
import type { AgentContext, AgentProfile, RecordOf, Status } from '../../protocol/schema/index.js';
import type { Changes } from '../changes.js';
import { agentMachine, type StatusChange } from '../machines/agent.js';
import { startActor } from '../machines/directory.js';
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
  readonly actor: Actor<typeof agentMachine>;
}

/** An agent that fell dormant, or woke: no event tells it. */
export interface Turned {
  /** Its ordinal. */
  agent: number;
  dormant: boolean;
}

export const statusOf = (agent: Agent): Status => agent.actor.getSnapshot().value as Status;
export const contextOf = (agent: Agent): AgentContext => agent.actor.getSnapshot().context;

const nobody: readonly Turned[] = Object.freeze([]);

export class Agents {
  readonly #all: Agent[] = [];
  readonly #byKey = new Map<string, Agent>();
  readonly #byId = new Map<string, Agent>();
  readonly #changed = new Set<number>();
  #turned: Turned[] = [];
  readonly #outbox: Outbox;
  /** Agents in status active, by capability. */
  activeValidators = 0;
  activeProducers = 0;

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
    const input: AgentContext = {
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
    const actor = startActor(agentMachine, profile.agent_id, this.#outbox, { input });
    const agent = this.#add(profile, actor);
    this.#count(agent, 1);
    agent.actor.send({ type: 'registered' });
    this.#changed.add(agent.ordinal);
    return agent;
  }

  restore(profile: AgentProfile, stored: RecordOf['agent_states']): void {
    const actor = startActor(agentMachine, profile.agent_id, this.#outbox, stored);
    const agent = this.#add(profile, actor);
    if (stored.state === 'active') this.#count(agent, 1);
  }

  setStatus(agent: Agent, status: Status, change: StatusChange): void {
    const previous = statusOf(agent);
    if (previous === 'active') this.#count(agent, -1);
    if (status === 'active') this.#count(agent, 1);
    this.send(agent, { type: `set_${status}`, previous, ...change });
  }

  /** Sends to the agent's actor and marks its record as changed. */
  send(agent: Agent, event: Parameters<Agent['actor']['send']>[0]): void {
    agent.actor.send(event);
    this.#changed.add(agent.ordinal);
    if (event.type === 'slept' || event.type === 'acted') {
      this.#turned.push({ agent: agent.ordinal, dormant: event.type === 'slept' });
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
      const agent = this.at(ordinal);
      changes.put('agent_states', agent.id, { context: contextOf(agent), state: statusOf(agent) });
    }
    this.#changed.clear();
  }

  #add(profile: AgentProfile, actor: Agent['actor']): Agent {
    const agent: Agent = {
      ordinal: profile.ordinal,
      id: profile.agent_id,
      publicKey: profile.public_key,
      personality: profile.personality,
      validator: profile.capabilities.includes('validator'),
      producer: profile.capabilities.includes('producer'),
      registeredAt: profile.registered_at,
      actor,
    };
    this.#all[agent.ordinal] = agent;
    this.#byKey.set(agent.publicKey, agent);
    this.#byId.set(agent.id, agent);
    return agent;
  }

  #count(agent: Agent, step: 1 | -1): void {
    if (agent.validator) this.activeValidators += step;
    if (agent.producer) this.activeProducers += step;
  }
}
