/**
 * Events as table rows. The schema of the event types defines the columns. A nested member's column
 * joins the names with `_`, and a list becomes a JSON string.
 */
import type { TSchema } from '../../../engine/protocol/bundled/typebox.js';
import { agentOf, type EventType } from '../../../engine/protocol/event-types.js';
import { type Event, eventData } from '../../../engine/protocol/schema/event.js';
import { storeError } from '../../../engine/store/messages.js';
import type { Store } from '../../../engine/store/store.js';

/** Column type. `time` is in milliseconds since 1970. */
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

/** Columns for all event types. `agent` is the acting agent, if there is one. */
const common: readonly Column[] = [
  { name: 'seq', kind: 'integer' },
  { name: 'type', kind: 'text' },
  { name: 'timestamp', kind: 'time' },
  { name: 'agent', kind: 'text' },
];

/** Returns the columns for these types, in schema order. */
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

/** Returns an event's cells. Absent members have no cell. */
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

/** Returns true if the event belongs to one of the agents, or an alliance with such an agent. */
function isOf(event: Event, agents: ReadonlySet<string>): boolean {
  const { data } = event;
  if ('members' in data) return data.members.some(({ id }) => agents.has(id));
  const owner = agentOf(event);
  return owner !== undefined && agents.has(owner);
}

interface Selection {
  /** First and last entry, both inclusive. */
  from: number;
  to: number;
  /** Event types. An empty set selects all types. */
  types: ReadonlySet<EventType>;
  agents: ReadonlySet<string>;
}

export interface SelectedEvent {
  event: Event;
  json: string;
}

export interface Sink {
  add(one: SelectedEvent): Promise<void>;
  finish(): Promise<void>;
  abandon(): void;
}

/**
 * Yields the selected events, and null for every other event so that the caller can show progress.
 * @throws {StoreError} `CORRUPT` for a missing or malformed event.
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
  throw storeError('EVENT_MISSING', { seq: expected });
}

function eventOf(json: string, seq: number): Event {
  let found: Partial<Event> | null = null;
  try {
    found = JSON.parse(json) as Partial<Event> | null;
  } catch {
    // Falls through to the error.
  }
  const whole = found?.seq === seq && typeof found.type === 'string';
  if (whole && typeof found?.data?.timestamp === 'string') return found as Event;
  const start = JSON.stringify(json.slice(0, 60));
  throw storeError('EVENT_DAMAGED', { seq, start });
}
