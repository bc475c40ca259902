/** Shared parts of the scenario schema, and descriptions of allowed values for errors and docs. */
import { type TSchema, Type } from '../../../engine/protocol/bundled/typebox.js';
import { definePattern, describePattern } from '../../../engine/protocol/patterns.js';
import { OptionName } from '../../../engine/protocol/schema/block.js';
import { OPTIONS } from '../../../engine/rules/election.js';

export const MOST_AGENTS = 1_000_000;
export const MOST_MS = 86_400_000_000;

export const strictly = { additionalProperties: false } as const;
/** Optional section whose members all have defaults. */
export const section = { ...strictly, default: {} } as const;

export const about = (description: string) => ({ description });

/** Fraction from 0 to 1. */
export const Share = (description: string, standard?: number) =>
  numberFrom(0, 1, `share ${description}`, standard);

export const OneOf = <const Names extends string[]>(
  names: readonly [...Names],
  standard: Names[number],
  description: string,
) => Type.Enum(names, { default: standard, description });

export const Flag = (description: string) => Type.Boolean({ default: false, description });

/** Text that is not empty. */
export const Text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description });

/** Seed: a text, or an integer that stands for its text, such as 1 for '1'. */
export const Seed = (maxLength: number, description: string, standard?: string) =>
  Type.Unsafe<string>(
    Type.Union(
      [
        Type.String({ minLength: 1, maxLength }),
        Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
      ],
      { description, ...(standard === undefined ? {} : { default: standard }) },
    ),
  );

export const OptionNames = (description: string) =>
  Type.Array(OptionName, { minItems: 2, maxItems: OPTIONS, uniqueItems: true, description });

const within = (minimum: number, maximum: number, description: string, standard?: number) => ({
  ...{ minimum, maximum, description },
  ...(standard === undefined ? {} : { default: standard }),
});

export const numberFrom = (...bounds: Parameters<typeof within>) => Type.Number(within(...bounds));

export const integerFrom = (...bounds: Parameters<typeof within>) =>
  Type.Integer(within(...bounds));

/** Uplink rate. One kilobit per second is one bit per millisecond. */
export const UplinkKbps = (description: string) =>
  integerFrom(1, 10_000_000, `uplink bandwidth in kilobits per second, ${description}`);

export const GroupName = (description: string) => Type.String({ pattern: groupNames, description });

const groupNames = definePattern(
  '^[a-z][a-z0-9_-]{0,31}$',
  'a name of 1 to 32 lower-case letters, digits, underscores or hyphens, with a letter first',
);

/** A schema by the keywords that this project uses. */
export interface PlainSchema extends TSchema {
  description?: string;
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: PlainSchema[];
  items?: PlainSchema;
  properties?: Record<string, PlainSchema>;
  required?: string[] | undefined;
  default?: unknown;
  examples?: unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  additionalProperties?: unknown;
}

export function findSchema(schema: TSchema, path: readonly string[]): TSchema | undefined {
  let at: PlainSchema | undefined = schema as PlainSchema;
  for (const step of path) at = /^\d+$/.test(step) && at?.items ? at.items : memberOf(at, step);
  return at;
}

/** Returns a member's schema. Ignores inherited names such as `constructor`. */
export function memberOf(schema: PlainSchema | undefined, name: string): PlainSchema | undefined {
  const { properties = {} } = schema ?? {};
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

export function describeAllowed(schema: TSchema): string {
  const {
    type,
    const: only,
    enum: some,
    anyOf,
    items,
    properties,
    pattern,
  } = schema as PlainSchema;
  if (only !== undefined) return String(only);
  if (some) return `one of ${some.join(', ')}`;
  if (anyOf) return alternatives(anyOf);
  if (properties) return `an object with ${Object.keys(properties).join(', ')}`;
  if (items) return `a list${countRange(schema, 'minItems', 'maxItems')} ${plural(items)}`;
  if (type === 'integer') return `an integer${boundsText(schema, 'minimum', 'maximum')}`;
  if (type === 'number') return `a number${boundsText(schema, 'minimum', 'maximum')}`;
  if (pattern) return describePattern(pattern) ?? `a string matching ${pattern}`;
  if (type === 'string') return `a string${lengthRange(schema)}`;
  if (type === 'null') return 'null';
  return type === 'boolean' ? 'true or false' : type === 'object' ? 'an object' : 'any value';
}

/** Describes a union: by the kinds of its variants, if all have a kind, or by each variant. */
function alternatives(variants: PlainSchema[]): string {
  const kinds = variants.flatMap(({ properties }) => properties?.kind?.const ?? []);
  if (kinds.length < variants.length)
    return variants.map((one) => describeAllowed(one)).join(', or ');
  return `an object of kind ${kinds.join(', ')}`;
}

function plural(items: PlainSchema): string {
  if (items.enum) return `of ${items.enum.join(', ')}`;
  if (items.type === 'string') return 'strings';
  if (items.properties) return 'objects';
  if (items.anyOf) return 'items';
  return describeAllowed(items).replace(/^an? (number|integer|string|list)/, '$1s');
}

function lengthRange(schema: TSchema): string {
  if (boundsText(schema, 'minLength', 'maxLength') === '') return '';
  return `${countRange(schema, 'minLength', 'maxLength')} characters`;
}

/** Formats the bounds of a count, such as ` of 1 to 20`. */
const countRange = (schema: TSchema, least: keyof PlainSchema, most: keyof PlainSchema): string =>
  ` of${boundsText(schema, least, most)
    .replace(/^ (?:from|of)/, '')
    .replace(/(\d+) to \1$/, '$1')}`;

function boundsText(schema: TSchema, least: keyof PlainSchema, most: keyof PlainSchema): string {
  const { [least]: low, [most]: high } = schema as PlainSchema;
  if (low === undefined && high === undefined) return '';
  if (high === undefined) return ` of at least ${low}`;
  return low === undefined ? ` up to ${high}` : ` from ${low} to ${high}`;
}
