/** Says in words what a schema allows: for errors, and for the reference in the docs. */
import type { TSchema } from '../../../engine/internal.js';

interface Plain extends TSchema {
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: Plain[];
  items?: Plain;
  properties?: Record<string, Plain>;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  additionalProperties?: unknown;
}

/** The schema of a member, or undefined where there is none. */
export function schemaAt(schema: TSchema, path: readonly string[]): TSchema | undefined {
  let at: Plain | undefined = schema as Plain;
  for (const step of path) at = /^\d+$/.test(step) && at?.items ? at.items : memberOf(at, step);
  return at;
}

/** Not what every object inherits. */
function memberOf(schema: Plain | undefined, name: string): Plain | undefined {
  const { properties = {} } = schema ?? {};
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

export function allowed(schema: TSchema): string {
  const { type, const: only, enum: some, anyOf, items, properties, pattern } = schema as Plain;
  if (only !== undefined) return String(only);
  if (some) return `one of ${some.join(', ')}`;
  if (anyOf) return alternatives(anyOf);
  if (properties) return `some of the members ${Object.keys(properties).join(', ')}`;
  if (items) return `a list${range(schema, 'minItems', 'maxItems')} of ${plural(items)}`;
  if (type === 'integer') return `a whole number${range(schema, 'minimum', 'maximum')}`;
  if (type === 'number') return `a number${range(schema, 'minimum', 'maximum')}`;
  if (pattern) return `a text that fits ${pattern}`;
  if (type === 'string') return `a text${lengthRange(schema)}`;
  if (type === 'null') return 'null';
  return type === 'boolean' ? 'true or false' : type === 'object' ? 'members of any name' : 'any';
}

/** Variants that have a kind are told by it. */
function alternatives(variants: Plain[]): string {
  const kinds = variants.flatMap(({ properties }) => properties?.kind?.const ?? []);
  if (kinds.length < variants.length) return variants.map((one) => allowed(one)).join(', or ');
  return `a member kind, one of ${kinds.join(', ')}`;
}

function plural(items: Plain): string {
  if (items.enum) return items.enum.join(', ');
  if (items.type === 'string') return 'texts';
  return items.properties || items.anyOf ? 'members' : allowed(items);
}

function lengthRange(schema: TSchema): string {
  const bounds = range(schema, 'minLength', 'maxLength');
  return bounds === '' ? '' : ` of${bounds.replace(' from', '')} characters`;
}

function range(schema: TSchema, least: keyof Plain, most: keyof Plain): string {
  const { [least]: low, [most]: high } = schema as Plain;
  if (low === undefined && high === undefined) return '';
  if (high === undefined) return ` from ${low}`;
  return low === undefined ? ` up to ${high}` : ` from ${low} to ${high}`;
}
