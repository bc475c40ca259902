/** Members that are not of the protocol: ignored, but signed and logged; so they are few. */
import {
  type CommandKind,
  canonical,
  pointerStep,
  type Refusal,
  refuse,
  requestSchemas,
  type TSchema,
} from '../../engine/internal.js';
import { serverBounds } from '../contract/limit-table.js';

/** The part of a schema that names the known members. */
interface Shape {
  properties?: Record<string, TSchema>;
  items?: TSchema;
}

interface Count {
  left: number;
  /** Of the member that was too much. */
  pointer: string | null;
}

/** All together have at most so many bytes as canonical JSON, or the request is refused. */
export function unknownMembersProblem(kind: CommandKind, body: unknown): Refusal | null {
  const most = serverBounds.unknownMembersBytes;
  const count: Count = { left: most, pointer: null };
  countIn(requestSchemas[kind], body, '', count);
  if (count.pointer === null) return null;
  const message = `${count.pointer} and the other members that are not of the protocol have more`;
  const { pointer } = count;
  return refuse('SCHEMA', `${message} than ${most} bytes of canonical JSON`, { pointer });
}

function countIn(schema: TSchema, value: unknown, at: string, count: Count): void {
  if (typeof value !== 'object' || value === null || count.pointer !== null) return;
  const { properties, items } = schema as Shape;
  if (items && Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      countIn(items, value[index], `${at}/${index}`, count);
    }
    return;
  }
  if (!properties) return;
  // What was parsed inherits nothing that this would find.
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (!Object.hasOwn(properties, name)) {
      if (count.pointer === null) spend(count, name, member, at);
    } else if (typeof member === 'object') {
      countIn(properties[name]!, member, `${at}/${name}`, count);
    }
  }
}

function spend(count: Count, name: string, member: unknown, at: string): void {
  // With its colon and the comma before it.
  count.left -= canonical(name).length + 2;
  count.left = afterValue(member, count.left);
  if (count.left < 0) count.pointer = `${at}/${pointerStep(name)}`;
}

/** What is left after a value; below zero it stops to count, for who knows how large it is. */
function afterValue(value: unknown, left: number): number {
  if (typeof value === 'string' && value.length > left) return -1;
  if (typeof value !== 'object' || value === null)
    return left - Buffer.byteLength(canonical(value));
  let rest = left - 1;
  for (const [name, member] of Object.entries(value)) {
    if (rest < 0) return rest;
    rest = afterValue(member, rest - 1);
    if (!Array.isArray(value)) rest -= Buffer.byteLength(canonical(name)) + 1;
  }
  return Object.keys(value).length === 0 ? rest - 1 : rest;
}
