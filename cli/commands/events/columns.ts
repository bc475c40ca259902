/**
 * Events as rows: the columns that a table of some types of events has, out of their schema, and
 * the cells of each event, read in order from a folder. Members of members stand by both names;
 * lists are JSON texts.
 */
import type { TSchema } from '../../../engine/protocol/bundled/typebox.js';
import { agentOf, type EventType } from '../../../engine/protocol/event-types.js';
import { type Event, eventData } from '../../../engine/protocol/schema/event.js';
import { type Store, StoreError } from '../../../engine/store/store.js';

/** `time`: milliseconds since 1970. */
export type ColumnKind = 'text' | 'integer' | 'number' | 'time';

export interface Column {
  name: string;
  kind: ColumnKind;
}

export type Cells = Record<string, string | number>;

interface Shape extends TSchema {
  type?: string;
  properties?: Record<string, Shape>;
}

/** What all events have; `agent` is whose it is, if it is one agent's. */
const common: readonly Column[] = [
  { name: 'seq', kind: 'integer' },
  { name: 'type', kind: 'text' },
  { name: 'timestamp', kind: 'time' },
  { name: 'agent', kind: 'text' },
];

/** Of a table that holds these types, in the order of the schema. */
export function buildColumns(types: readonly EventType[]): Column[] {
  const columns = new Map(common.map((column) => [column.name, column]));
  for (const type of types) {
    for (const column of within(eventData[type] as Shape, '')) {
      if (!columns.has(column.name)) columns.set(column.name, column);
    }
  }
  return [...columns.values()];
}

function within({ properties = {} }: Shape, above: string): Column[] {
  return Object.entries(properties).flatMap(([key, member]): Column[] => {
    const name = `${above}${key}`;
    if (member.properties) return within(member, `${name}_`);
    if (member.type === 'array') return [{ name: `${name}_json`, kind: 'text' }];
    const number = member.type === 'integer' || member.type === 'number';
    return [{ name, kind: number ? (member.type as 'integer' | 'number') : 'text' }];
  });
}

/** The cells of an event; those that it has not are left out. */
export function toCells({ seq, type, data }: Event): Cells {
  const { timestamp, ...rest } = data;
  const cells: Cells = {};
  const agent = agentOf({ type, data });
  Object.assign(cells, { seq, type, timestamp: Date.parse(timestamp) });
  if (agent !== undefined) cells.agent = agent;
  flatten(rest, '', cells);
  return cells;
}

function flatten(value: object, above: string, into: Cells): void {
  for (const [key, inner] of Object.entries(value)) {
    const name = `${above}${key}`;
    if (Array.isArray(inner)) into[`${name}_json`] = JSON.stringify(inner);
    else if (typeof inner === 'object' && inner !== null) flatten(inner, `${name}_`, into);
    else into[name] = inner;
  }
}

/** Whether an event is of one of these agents, or tells of an alliance that one is in. */
function isOf(event: Event, agents: ReadonlySet<string>): boolean {
  const { data } = event;
  if ('members' in data) return data.members.some(({ id }) => agents.has(id));
  const owner = agentOf(event);
  return owner !== undefined && agents.has(owner);
}

interface Selection {
  /** Both inclusive. */
  from: number;
  to: number;
  /** Empty: of all. */
  types: ReadonlySet<EventType>;
  agents: ReadonlySet<string>;
}

export interface SelectedEvent {
  event: Event;
  json: string;
}

/** Where they go. */
export interface Sink {
  add(one: SelectedEvent): Promise<void>;
  /** All of them are there. */
  finish(): Promise<void>;
  /** Leaves nothing behind. */
  abandon(): void;
}

/**
 * Those that fit; null for each that does not, so that whoever counts knows how far it is.
 * @throws {StoreError} `CORRUPT` naming the first event that is missing or is no event.
 */
export function* selectEvents(
  store: Store,
  { from, to, types, agents }: Selection,
): Iterable<SelectedEvent | null> {
  let expected = from;
  for (const { seq, json } of store.events(from, to)) {
    if (seq !== expected) break;
    const event = eventOf(json, seq);
    const fits =
      (types.size === 0 || types.has(event.type)) && (agents.size === 0 || isOf(event, agents));
    yield fits ? { event, json } : null;
    expected += 1;
  }
  if (expected > to) return;
  throw new StoreError('EVENT_MISSING', { seq: expected });
}

function eventOf(json: string, seq: number): Event {
  let found: Partial<Event> | null = null;
  try {
    found = JSON.parse(json) as Partial<Event> | null;
  } catch {
    // It is told below.
  }
  const whole = found?.seq === seq && typeof found.type === 'string';
  if (whole && typeof found?.data?.timestamp === 'string') return found as Event;
  const start = JSON.stringify(json.slice(0, 60));
  throw new StoreError('EVENT_DAMAGED', { seq, start });
}
