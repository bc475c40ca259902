/**
 * Terms that the parts of the scenario schema share, and the words for the values that a schema
 * allows: for errors and for the reference in the docs.
 */
import { type TSchema, Type } from '../../../engine/protocol/bundled/typebox.js';

export const MOST_AGENTS = 200_000;
export const MOST_MS = 86_400_000_000;

export const strictly = { additionalProperties: false } as const;
/** A section that may be left out: its members have defaults. */
export const section = { ...strictly, default: {} } as const;

export const about = (description: string) => ({ description });

/** A fraction of one. */
export const Share = (description: string, standard?: number) =>
  Type.Number({
    minimum: 0,
    maximum: 1,
    description: `share ${description}`,
    ...(standard === undefined ? {} : { default: standard }),
  });

/** A whole number within bounds. */
export const integerFrom = (
  minimum: number,
  maximum: number,
  description: string,
  standard?: number,
) =>
  Type.Integer({
    minimum,
    maximum,
    description,
    ...(standard === undefined ? {} : { default: standard }),
  });

/** A kilobit a second is a bit a millisecond. */
export const UplinkKbps = (description: string) =>
  integerFrom(1, 10_000_000, `kilobits a second that leave an uplink, ${description}`);

export const GroupName = (description: string) =>
  Type.String({ pattern: '^[a-z][a-z0-9_-]{0,31}$', description });

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
export function findSchema(schema: TSchema, path: readonly string[]): TSchema | undefined {
  let at: Plain | undefined = schema as Plain;
  for (const step of path) at = /^\d+$/.test(step) && at?.items ? at.items : memberOf(at, step);
  return at;
}

/** Not what every object inherits. */
function memberOf(schema: Plain | undefined, name: string): Plain | undefined {
  const { properties = {} } = schema ?? {};
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

export function describeAllowed(schema: TSchema): string {
  const { type, const: only, enum: some, anyOf, items, properties, pattern } = schema as Plain;
  if (only !== undefined) return String(only);
  if (some) return `one of ${some.join(', ')}`;
  if (anyOf) return alternatives(anyOf);
  if (properties) return `some of the members ${Object.keys(properties).join(', ')}`;
  if (items) return `a list${boundsText(schema, 'minItems', 'maxItems')} of ${plural(items)}`;
  if (type === 'integer') return `a whole number${boundsText(schema, 'minimum', 'maximum')}`;
  if (type === 'number') return `a number${boundsText(schema, 'minimum', 'maximum')}`;
  if (pattern) return `a text that fits ${pattern}`;
  if (type === 'string') return `a text${lengthRange(schema)}`;
  if (type === 'null') return 'null';
  return type === 'boolean' ? 'true or false' : type === 'object' ? 'members of any name' : 'any';
}

/** Variants that have a kind are told by it. */
function alternatives(variants: Plain[]): string {
  const kinds = variants.flatMap(({ properties }) => properties?.kind?.const ?? []);
  if (kinds.length < variants.length)
    return variants.map((one) => describeAllowed(one)).join(', or ');
  return `a member kind, one of ${kinds.join(', ')}`;
}

function plural(items: Plain): string {
  if (items.enum) return items.enum.join(', ');
  if (items.type === 'string') return 'texts';
  return items.properties || items.anyOf ? 'members' : describeAllowed(items);
}

function lengthRange(schema: TSchema): string {
  const bounds = boundsText(schema, 'minLength', 'maxLength');
  return bounds === '' ? '' : ` of${bounds.replace(' from', '')} characters`;
}

function boundsText(schema: TSchema, least: keyof Plain, most: keyof Plain): string {
  const { [least]: low, [most]: high } = schema as Plain;
  if (low === undefined && high === undefined) return '';
  if (high === undefined) return ` from ${low}`;
  return low === undefined ? ` up to ${high}` : ` from ${low} to ${high}`;
}
