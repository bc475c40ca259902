/**
 * Unknown names in a request: members, query parameters, and personalities without scripted agents.
 * Members that the network's decision rule does not read are also unknown. All such names are
 * legal. Unknown members are signed and logged, so their size is limited. A response header lists
 * unknown names.
 */

import type { TSchema } from '../../engine/protocol/bundled/typebox.js';
import { canonical } from '../../engine/protocol/canonical.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { builtInPersonalities } from '../../engine/protocol/schema/primitives.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { requestSchemas } from '../../engine/protocol/schema/request.js';
import { nearest, pointerStep } from '../../engine/protocol/text.js';
import { serverBounds } from '../contract/limit-table.js';

export interface UnknownName {
  /** A JSON Pointer into the body, or `?` and the name of a query parameter. */
  at: string;
  /** Closest known name, in the same notation; null if no known name is similar. */
  closest: string | null;
  /** Names that are known at this position; empty if any name is allowed. */
  known: readonly string[];
}

/** Schema members that name the known members. */
interface Shape {
  properties?: Record<string, TSchema>;
  items?: TSchema;
}

interface Count {
  /** Members of the body that the network's rule does not read. */
  unread: readonly string[];
  left: number;
  /** The member that exceeded the limit. */
  pointer: string | null;
  found: UnknownName[];
}

export interface UnknownMembers {
  names: readonly UnknownName[];
  /** Refusal if the members together exceed the limit on canonical JSON bytes. */
  refusal: Refusal | null;
}

/**
 * Finds the unknown members in a body, and checks their size.
 *
 * @param unread members that the network's decision rule does not read.
 */
export function unknownMembers(
  kind: CommandKind,
  body: unknown,
  unread: readonly string[] = [],
): UnknownMembers {
  const most = serverBounds.unknownMembersBytes;
  const count: Count = { unread, left: most, pointer: null, found: [] };
  countIn(requestSchemas[kind], body, '', count);
  if (kind === 'register') addPersonality(body as { personality?: unknown } | null, count.found);
  const { pointer, found: names } = count;
  if (pointer === null) return { names, refusal: null };
  const values = { pointer, limit: most };
  return { names, refusal: refuse('UNKNOWN_MEMBERS_TOO_LARGE', values, { pointer }) };
}

/** Returns pointers to the first unknown members in a WebSocket message. */
export function unknownPointers(schema: TSchema, message: unknown): string[] {
  const count: Count = { unread: [], left: Number.POSITIVE_INFINITY, pointer: null, found: [] };
  countIn(schema, message, '', count);
  return count.found.slice(0, MOST_NAMES).map(({ at }) => at.slice(0, MOST_POINTER));
}

function addPersonality(body: { personality?: unknown } | null, found: UnknownName[]): void {
  const personality = body?.personality;
  if (typeof personality !== 'string') return;
  const name = personality.toLowerCase();
  if (builtInPersonalities.some((one) => one === name)) return;
  const closest = nearest(name, builtInPersonalities);
  found.push({ at: '/personality', closest, known: [] });
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
  // Parsed JSON inherits no enumerable members.
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    const isUnread = at === '' && count.unread.includes(name);
    if (isUnread || !Object.hasOwn(properties, name)) {
      if (count.pointer !== null) continue;
      spend(count, name, member, at);
      const known = Object.keys(properties).filter((one) => !count.unread.includes(one));
      const close = nearest(name, known);
      const closest = close === null ? null : `${at}/${pointerStep(close)}`;
      count.found.push({ at: `${at}/${pointerStep(name)}`, closest, known });
    } else if (typeof member === 'object') {
      countIn(properties[name]!, member, `${at}/${name}`, count);
    }
  }
}

function spend(count: Count, name: string, member: unknown, at: string): void {
  // The size includes the colon and the comma before the member.
  count.left -= canonical(name).length + 2;
  count.left = afterValue(member, count.left);
  if (count.left < 0) count.pointer = `${at}/${pointerStep(name)}`;
}

/** Returns the number of bytes left after a value. Counting stops below zero. */
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

export function unknownFields(names: readonly string[] = []): UnknownName[] {
  return names.map((name) => {
    const close = nearest(name, formFields);
    const closest = close === null ? null : `/${close}`;
    return { at: `/${pointerStep(name)}`, closest, known: formFields };
  });
}

export function unknownParameters(target: string, known: readonly string[]): UnknownName[] {
  const from = target.indexOf('?');
  if (from < 0) return [];
  const names = new Set(new URLSearchParams(target.slice(from + 1)).keys());
  return [...names]
    .filter((name) => !known.includes(name))
    .slice(0, MOST_NAMES)
    .map((name) => {
      const close = nearest(name, known);
      return { at: `?${name}`, closest: close === null ? null : `?${close}`, known };
    });
}

/** Limits for the header: names and characters. */
const MOST_NAMES = 16;
const MOST_CHARACTERS = 512;
/** Length limit for a pointer in a WebSocket message. */
const MOST_POINTER = 128;
/** Last name in a truncated list. */
const MORE = '...';

/**
 * Formats the header `Folkmoot-Unknown`: comma-separated names, each segment percent-encoded, so
 * that no name can end the header or contain a separator. `...` at the end stands for more names.
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

/** Limits for a refusal's message, which is shorter than the header. */
const MOST_SHOWN = 3;
const MOST_SHOWN_CHARACTERS = 64;

/** Extends a SCHEMA refusal's message with its unknown names, and with the names to use instead. */
export function withUnknownNames(refusal: Refusal, names: readonly UnknownName[]): Refusal {
  // The message already names a misspelling of the missing member.
  const { reason, pointer, message } = refusal;
  const notable = names.filter(({ known, closest }) => known.length > 0 && closest !== pointer);
  if (reason !== 'SCHEMA' || notable.length === 0) return refusal;
  const texts = notable.slice(0, MOST_SHOWN).map(describeUnknown);
  const rest = notable.length > MOST_SHOWN ? [MORE] : [];
  const other = notable.find(({ closest }) => closest === null);
  const known = other ? `; known: ${other.known.join(', ')}` : '';
  return { ...refusal, message: `${message}; unknown: ${[...texts, ...rest].join(', ')}${known}` };
}

function describeUnknown({ at, closest }: UnknownName): string {
  const shown = encoded(at).slice(0, MOST_SHOWN_CHARACTERS);
  return closest === null ? shown : `${shown} (did you mean ${closest}?)`;
}
