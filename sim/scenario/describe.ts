/** Says in words what a schema allows: for errors, and for the reference in the docs. */
import type { TSchema } from '../../engine/index.js';

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
  for (const step of path) at = /^\d+$/.test(step) && at?.items ? at.items : at?.properties?.[step];
  return at;
}

export function allowed(schema: TSchema): string {
  const { type, const: only, enum: some, anyOf, items, properties, pattern } = schema as Plain;
  if (only !== undefined) return String(only);
  if (some) return `one of ${some.join(', ')}`;
  if (anyOf) return anyOf.map((one) => allowed(one)).join(', or ');
  if (properties) return `some of the members ${Object.keys(properties).join(', ')}`;
  if (items) return `a list${range(schema, 'minItems', 'maxItems')} of ${plural(items)}`;
  if (type === 'integer') return `a whole number${range(schema, 'minimum', 'maximum')}`;
  if (type === 'number') return `a number${range(schema, 'minimum', 'maximum')}`;
  if (pattern) return `a text that fits ${pattern}`;
  if (type === 'string') return `a text${range(schema, 'minLength', 'maxLength')}`;
  return type === 'boolean' ? 'true or false' : type === 'object' ? 'members of any name' : 'any';
}

function plural(items: Plain): string {
  return items.properties || items.anyOf ? 'members' : allowed(items);
}

function range(schema: TSchema, least: keyof Plain, most: keyof Plain): string {
  const { [least]: low, [most]: high } = schema as Plain;
  if (low === undefined && high === undefined) return '';
  if (high === undefined) return ` from ${low}`;
  return low === undefined ? ` up to ${high}` : ` from ${low} to ${high}`;
}
