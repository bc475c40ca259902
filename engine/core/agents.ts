/**
 * Registered agents, by ordinal, key and id. An agent's actor starts at its first status change,
 * because most agents never change their status.
 */

import TinyQueue from 'tinyqueue';
import type { EventData } from '../protocol/schema/event.js';
import { formatInstant, type Status } from '../protocol/schema/primitives.js';
import {
  type AgentContext,
  type AgentProfile,
  type RecordOf,
  type StandingField,
  standingFields,
} from '../protocol/schema/record.js';
import { type Actor, emit, setup } from './bundled/xstate.js';
import { type Changes, type Outbox, startActor, type UnknownEvent } from './changes.js';

/** An agent in memory. Only the store contains its name and description. */
export interface Agent {
  readonly ordinal: number;
  readonly id: string;
  readonly publicKey: string;
  readonly personality: string;
  /** The agent as events name it. */
  readonly who: { id: string; personality: string };
  readonly validator: boolean;
  readonly producer: boolean;
  readonly registeredAt: number;
  /** The first 8 hex digits of the id, for sorting. */
  readonly idOrder: number;
  readonly status: Status;
  readonly dormant: boolean;
  readonly context: AgentContext;
}

type AgentActor = Actor<typeof agentMachine>;

/** Context of an agent that has only registered. */
export const firstContext = ({
  agent_id,
  registered_at,
}: Pick<AgentProfile, 'agent_id' | 'registered_at'>): AgentContext => ({
  agent_id,
  blocks_produced: 0,
  changed_at: registered_at,
  dormant: false,
  expected_duration: '',
  input_sha256: '',
  meme_bytes: 0,
  previous: 'active',
  reason: '',
  signed_at: 0,
});

class Row implements Agent {
  readonly publicKey: string;
  readonly ordinal: number;
  readonly validator: boolean;
  status: Status;
  #who: Agent['who'] | null = null;
  readonly id: string;
  readonly personality: string;
  readonly producer: boolean;
  readonly registeredAt: number;
  /** The first 8 hex digits of the id, as a signed integer. */
  readonly #idOrder: number;
  actor: AgentActor | null = null;
  /** Context since the first change; null before it, when the context follows from the row. */
  changed: AgentContext | null;

  constructor(profile: AgentProfile, status: Status, changed: AgentContext | null) {
    this.ordinal = profile.ordinal;
    this.id = profile.agent_id;
    this.publicKey = profile.public_key;
    this.personality = profile.personality;
    this.validator = profile.capabilities.includes('validator');
    this.producer = profile.capabilities.includes('producer');
    this.registeredAt = profile.registered_at;
    this.#idOrder = Number.parseInt(this.id.slice(ID_START, ID_START + 8), 16) | 0;
    this.status = status;
    this.changed = changed;
  }

  /** Name in events. It is kept, because every vote of the agent needs it. */
  get who() {
    this.#who ??= { id: this.id, personality: this.personality };
    return this.#who;
  }

  get idOrder(): number {
    return this.#idOrder >>> 0;
  }

  get dormant(): boolean {
    return this.changed?.dormant ?? false;
  }

  get context(): AgentContext {
    return this.changed ?? firstContext({ agent_id: this.id, registered_at: this.registeredAt });
  }
}

/** A change of dormancy, for which there is no event. */
export interface DormancyChange {
  /** Ordinal of the agent. */
  agent: number;
  dormant: boolean;
}

const noAgents: readonly DormancyChange[] = [];

export class Agents {
  readonly #all: Row[] = [];
  readonly #byKey = new Map<string, Row>();
  #lastKey = '';
  #last: Agent | undefined;
  readonly #byId = new Map<string, Row>();
  readonly #changed = new Set<number>();
  #dormancyChanges: DormancyChange[] = [];
  readonly #outbox: Outbox;
  /** Agents with status active, by capability. */
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

  /**
   * Finds an agent. Caches the last key and agent, because a command looks up its agent several
   * times. Comparing a string with itself takes no time.
   */
  byKey = (key: string): Agent | undefined => {
    if (key === this.#lastKey) return this.#last;
    const found = this.#byKey.get(key);
    if (!found) return undefined;
    this.#lastKey = key;
    this.#last = found;
    return found;
  };
  byId = (id: string): Agent | undefined => this.#byId.get(id);
  /** @throws {Error} for an unknown ordinal, which is a bug. */
  at(ordinal: number): Row {
    const agent = this.#all[ordinal];
    if (!agent) throw new Error(`no agent has the ordinal ${ordinal}`);
    return agent;
  }

  register(profile: AgentProfile): Agent {
    const agent = this.#add(new Row(profile, 'active', null));
    this.#outbox.emit('agent_status', statusEvent('active', agent.context).data);
    this.#changed.add(agent.ordinal);
    return agent;
  }

  restore(profile: AgentProfile, stored: RecordOf['agent_states']): void {
    this.#add(new Row(profile, stored.state, stored.context));
  }

  setStatus(agent: Agent, status: Status, change: StatusChange): void {
    this.send(agent, { type: `set_${status}`, previous: agent.status, ...change });
  }

  /** Applies an event to an agent, and marks the agent for saving. */
  send({ ordinal }: Agent, event: AgentEvent): void {
    const row = this.#all[ordinal]!;
    this.#count(row, -1);
    if (isStatusEvent(event)) this.#turn(row, event);
    else {
      // The status stays the same. A later status change starts the actor from the changed context.
      row.changed = { ...row.context, ...changeOf(row.context, event) };
      row.actor = null;
    }
    this.#count(row, 1);
    this.#changed.add(ordinal);
    if (event.type === 'slept' || event.type === 'acted') {
      this.#dormancyChanges.push({ agent: ordinal, dormant: event.type === 'slept' });
    }
  }

  /** Sends an event to an agent's actor. */
  #turn(row: Row, event: StatusEventOf): void {
    const { id, status, context } = row;
    row.actor ??= startActor(agentMachine, id, this.#outbox, { state: status, context });
    row.actor.send(event);
    const snapshot = row.actor.getSnapshot();
    row.status = snapshot.value as Status;
    row.changed = snapshot.context;
  }

  /** Returns the changes of dormancy since the last call, in order. */
  takeTurned(): readonly DormancyChange[] {
    if (this.#dormancyChanges.length === 0) return noAgents;
    const turned = this.#dormancyChanges;
    this.#dormancyChanges = [];
    return turned;
  }

  save(changes: Changes): void {
    if (this.#changed.size === 0) return;
    for (const ordinal of [...this.#changed].sort((a, b) => a - b)) {
      const { id, context, status, changed } = this.at(ordinal);
      // Without a log, the first state follows from the profile.
      if (!changes.logged && changed === null) continue;
      changes.put('agent_states', id, { context, state: status });
    }
    this.#changed.clear();
  }

  #add(row: Row): Row {
    this.#all[row.ordinal] = row;
    this.#byKey.set(row.publicKey, row);
    this.#byId.set(row.id, row);
    this.#count(row, 1);
    return row;
  }

  #count({ status, validator, producer, dormant }: Agent, step: 1 | -1): void {
    if (status !== 'active') return;
    if (validator) this.activeValidators += step;
    if (validator && !dormant) this.awakeValidators += step;
    if (producer) this.activeProducers += step;
  }
}

const ID_START = 'agent_'.length;

/** Largest number of agents whose positions fit beside 8 hex digits in a double. */
const MOST_SORTED = 2 ** 21;

/** Sorts agents by id, by the first digits as numbers: strings would take ten times as long. */
export function sortById(agents: readonly Agent[]): Agent[] {
  if (agents.length > MOST_SORTED) return [...agents].sort((a, b) => (a.id < b.id ? -1 : 1));
  const keys = new Float64Array(agents.length);
  for (let at = 0; at < keys.length; at += 1) keys[at] = agents[at]!.idOrder * MOST_SORTED + at;
  keys.sort();
  const sorted: Agent[] = [];
  for (const key of keys) sorted.push(agents[key % MOST_SORTED]!);
  // Only agents with equal first digits are still in the wrong order.
  for (let end = 1; end < sorted.length; end += 1) {
    for (let at = end; at > 0 && sorted[at]!.id < sorted[at - 1]!.id; at -= 1) {
      [sorted[at - 1], sorted[at]] = [sorted[at]!, sorted[at - 1]!];
    }
  }
  return sorted;
}

interface StatusChange {
  reason: string;
  expected_duration: string;
  at: number;
  signed_at: number;
  input_sha256: string;
}

type StatusEventOf = StatusChange & { type: `set_${Status}`; previous: Status };

/** Events that change an agent's context in the same way in every state. */
type QuietEvent =
  | { type: 'slept' }
  | { type: 'acted' }
  | { type: 'produced' }
  | { type: 'posted'; bytes: number };

type AgentEvent = StatusEventOf | QuietEvent;

const isStatusEvent = (event: AgentEvent): event is StatusEventOf => 'signed_at' in event;

function changeOf(context: AgentContext, event: QuietEvent): Partial<AgentContext> {
  if (event.type === 'posted') return { meme_bytes: context.meme_bytes + event.bytes };
  if (event.type === 'produced') return { blocks_produced: context.blocks_produced + 1 };
  return { dormant: event.type === 'slept' };
}

interface StatusEvent {
  type: 'agent_status';
  data: EventData['agent_status'];
}

type Emitted = StatusEvent | UnknownEvent;

const agent = setup({
  types: {
    context: {} as AgentContext,
    input: {} as AgentContext,
    events: {} as StatusEventOf,
    emitted: {} as Emitted,
  },
});

const statusEvent = (status: Status, context: AgentContext): StatusEvent => ({
  type: 'agent_status',
  data: {
    agent_id: context.agent_id,
    expected_duration: context.expected_duration,
    reason: context.reason,
    status,
    timestamp: formatInstant(context.changed_at),
  },
});

const emitStatus = (status: Status) => agent.emit(({ context }) => statusEvent(status, context));

const change = agent.assign(({ context, event }) => {
  if (!('signed_at' in event)) return context;
  const { reason, expected_duration, at, previous, signed_at, input_sha256 } = event;
  return { reason, expected_duration, previous, changed_at: at, signed_at, input_sha256 };
});

const agentMachine = agent.createMachine({
  id: 'agent',
  context: ({ input }) => input,
  initial: 'active',
  states: { active: {}, inactive: {}, maintenance: {} },
  on: {
    set_active: { target: '.active', actions: [change, emitStatus('active')] },
    set_inactive: { target: '.inactive', actions: [change, emitStatus('inactive')] },
    set_maintenance: { target: '.maintenance', actions: [change, emitStatus('maintenance')] },
    '*': {
      actions: emit(({ context, event }) => ({
        type: 'unknown_event',
        actor: context.agent_id,
        event: event.type,
      })),
    },
  },
});

interface Due {
  deadline: number;
  id: string;
}

/** Compares deadlines in the order in which they fire. */
export const compareDeadlines = (a: Due, b: Due) =>
  a.deadline - b.deadline || (a.id < b.id ? -1 : 1);

export class Deadlines {
  #heap = new TinyQueue<Due>([], compareDeadlines);
  /** Next deadline; undefined if it must be found again. */
  #next: Readonly<Due> | null | undefined = null;
  /** Current deadline by id. A heap item with a different deadline is stale. */
  readonly #current = new Map<string, number>();

  set(id: string, deadline: number): void {
    if (this.#current.get(id) === deadline) return;
    this.#next = undefined;
    this.#current.set(id, deadline);
    this.#heap.push({ deadline, id });
    // Without a rebuild, an alliance that ends early leaves a stale item for up to 30 days.
    if (this.#heap.length > 2 * this.#current.size + 64) this.#rebuild();
  }

  remove(id: string): void {
    this.#next = undefined;
    this.#current.delete(id);
  }

  /** Returns the next deadline without removing it. */
  next(): Readonly<Due> | null {
    if (this.#next === undefined) this.#next = this.#earliest();
    return this.#next;
  }

  #earliest(): Readonly<Due> | null {
    for (;;) {
      const top = this.#heap.peek();
      if (!top) return null;
      if (this.#current.get(top.id) === top.deadline) return top;
      this.#heap.pop();
    }
  }

  #rebuild(): void {
    const due = [...this.#current].map(([id, deadline]) => ({ id, deadline }));
    this.#heap = new TinyQueue(due, compareDeadlines);
  }
}

/** Scores are integers: 1,000,000 is a score of 100. */
export const SCALE = 1_000_000;

/** Column of each field of a standing. Numbers are faster to look up than names. */
export const column = Object.fromEntries(
  standingFields.map((field, index) => [field, index]),
) as Record<StandingField, number>;
const WIDTH = standingFields.length;
const HALF = SCALE / 2;
const counts = new Set<StandingField>(['penalty', 'missed', 'judged']);
const initial = standingFields.map((field) => (counts.has(field) ? 0 : HALF));

export class Standings {
  #values = new Int32Array(64 * WIDTH);
  /** Ordinals of the changed rows, and 1 for each of these rows. */
  #changed: number[] = [];
  #isChanged = new Uint8Array(64);

  add(ordinal: number, row: readonly number[] = initial): void {
    const end = (ordinal + 1) * WIDTH;
    if (end > this.#values.length) {
      const grown = new Int32Array(Math.max(end, this.#values.length * 2));
      grown.set(this.#values);
      this.#values = grown;
      const marks = new Uint8Array(grown.length / WIDTH);
      marks.set(this.#isChanged);
      this.#isChanged = marks;
    }
    this.#values.set(row, ordinal * WIDTH);
  }

  get(ordinal: number, field: number): number {
    return this.#values[ordinal * WIDTH + field]!;
  }

  set(ordinal: number, field: number, value: number): void {
    this.#values[ordinal * WIDTH + field] = value;
    this.touch(ordinal);
  }

  /** Marks a row for saving. */
  touch(ordinal: number): void {
    if (this.#isChanged[ordinal] === 1) return;
    this.#isChanged[ordinal] = 1;
    this.#changed.push(ordinal);
  }

  save(changes: Changes): void {
    if (this.#changed.length === 0) return;
    for (const ordinal of this.#changed.sort((a, b) => a - b)) {
      this.#isChanged[ordinal] = 0;
      changes.putStanding(ordinal, this.#values, WIDTH);
    }
    this.#changed = [];
  }
}
