/**
 * Events as rows: which columns a table of some types of events has, out of their schema, and the
 * cells of each event. Members of members stand by both names; lists are JSON texts.
 */
import { type Event, type EventType, eventData, type TSchema } from '../../../engine/internal.js';

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
export function columnsOf(types: readonly EventType[]): Column[] {
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
export function cellsOf({ seq, type, data }: Event): Cells {
  const { timestamp, ...rest } = data;
  const cells: Cells = {};
  const agent = ownerOf(data);
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

/** Whose event it is: who proposed, voted, said or posted; whose status or score it tells. */
function ownerOf(data: Event['data']): string | undefined {
  if ('agent_id' in data) return data.agent_id;
  for (const role of ['producer', 'validator', 'agent', 'creator'] as const) {
    const who = (data as Partial<Record<typeof role, { id: string }>>)[role];
    if (who) return who.id;
  }
  return undefined;
}

/** Whether an event is of one of these agents, or tells of an alliance that one is in. */
export function isOf({ data }: Event, agents: ReadonlySet<string>): boolean {
  if ('members' in data) return data.members.some(({ id }) => agents.has(id));
  const owner = ownerOf(data);
  return owner !== undefined && agents.has(owner);
}
