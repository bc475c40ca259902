/**
 * Names in a request that the protocol does not know: members, query parameters, and a personality
 * that no scripted agent has. All are legal; unknown members are signed and logged, so their size
 * is limited. The sender learns of them by a header.
 */

import type { TSchema } from '../../engine/protocol/bundled/typebox.js';
import { canonical } from '../../engine/protocol/canonical.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { builtInPersonalities } from '../../engine/protocol/schema/primitives.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { requestSchemas } from '../../engine/protocol/schema/request.js';
import { nearest, pointerStep } from '../../engine/protocol/text.js';
import { serverBounds } from '../contract/limit-table.js';

/** A name that is not known. */
export interface UnknownName {
  /** A JSON Pointer into the body, or `?` and the name of a query parameter. */
  at: string;
  /** The known name that is probably meant, written likewise; null where none is close. */
  closest: string | null;
}

/** The part of a schema that names the known members. */
interface Shape {
  properties?: Record<string, TSchema>;
  items?: TSchema;
}

interface Count {
  left: number;
  /** Of the member that was too much. */
  pointer: string | null;
  found: UnknownName[];
}

export interface UnknownMembers {
  names: readonly UnknownName[];
  /** Why the request is refused: all together have too many bytes as canonical JSON. */
  refusal: Refusal | null;
}

/** The unknown members of a body, and whether they are too large. */
export function unknownMembers(kind: CommandKind, body: unknown): UnknownMembers {
  const most = serverBounds.unknownMembersBytes;
  const count: Count = { left: most, pointer: null, found: [] };
  countIn(requestSchemas[kind], body, '', count);
  if (kind === 'register') addPersonality(body as { personality?: unknown } | null, count.found);
  const { pointer, found: names } = count;
  if (pointer === null) return { names, refusal: null };
  const values = { pointer, limit: most };
  return { names, refusal: refuse('UNKNOWN_MEMBERS_TOO_LARGE', values, { pointer }) };
}

/** Pointers to the unknown members of a message over the WebSocket, the first few. */
export function unknownPointers(schema: TSchema, message: unknown): string[] {
  const count: Count = { left: Number.POSITIVE_INFINITY, pointer: null, found: [] };
  countIn(schema, message, '', count);
  return count.found.slice(0, MOST_NAMES).map(({ at }) => at.slice(0, MOST_POINTER));
}

function addPersonality(body: { personality?: unknown } | null, found: UnknownName[]): void {
  const personality = body?.personality;
  if (typeof personality !== 'string') return;
  const name = personality.toLowerCase();
  if (builtInPersonalities.some((one) => one === name)) return;
  found.push({ at: '/personality', closest: nearest(name, builtInPersonalities) });
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
      if (count.pointer !== null) continue;
      spend(count, name, member, at);
      const close = nearest(name, Object.keys(properties));
      const closest = close === null ? null : `${at}/${pointerStep(close)}`;
      count.found.push({ at: `${at}/${pointerStep(name)}`, closest });
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

/** The rest of the count after a value; counting stops below zero. */
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

const formFields = ['meme_file', 'caption', 'tags', 'signature'];

/** The fields of a meme's form that are not known, by their names. */
export function unknownFields(names: readonly string[] = []): UnknownName[] {
  return names.map((name) => {
    const close = nearest(name, formFields);
    return { at: `/${pointerStep(name)}`, closest: close === null ? null : `/${close}` };
  });
}

/** Query parameters of a request-target that are not among the known ones. */
export function unknownParameters(target: string, known: readonly string[]): UnknownName[] {
  const from = target.indexOf('?');
  if (from < 0) return [];
  const names = new Set(new URLSearchParams(target.slice(from + 1)).keys());
  return [...names]
    .filter((name) => !known.includes(name))
    .slice(0, MOST_NAMES)
    .map((name) => {
      const close = nearest(name, known);
      return { at: `?${name}`, closest: close === null ? null : `?${close}` };
    });
}

/** Of a header: its names, and the characters of its value. */
const MOST_NAMES = 16;
const MOST_CHARACTERS = 512;
/** Of a pointer over the WebSocket. */
const MOST_POINTER = 128;
/** The last name of a list that was cut. */
const MORE = '...';

/**
 * The value of the header `Folkmoot-Unknown`, which proxies and browsers pass on unchanged: names
 * between commas, each step and parameter percent-encoded, so that nothing in it ends the header or
 * a name. `...` at the end says that there are more.
 */
export function unknownHeader(names: readonly UnknownName[]): string {
  const shown: string[] = [];
  let characters = 0;
  for (const { at } of names) {
    const text = encoded(at);
    characters += text.length + 2;
    if (shown.length === MOST_NAMES || characters > MOST_CHARACTERS - MORE.length) {
      return [...shown, MORE].join(', ');
    }
    shown.push(text);
  }
  return shown.join(', ');
}

function encoded(at: string): string {
  const steps = at.startsWith('?') ? [at.slice(1)] : at.slice(1).split('/');
  const safe = steps.map((step) => encodeURIComponent(step.toWellFormed()));
  return `${at[0]}${safe.join('/')}`;
}
