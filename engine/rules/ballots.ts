/**
 * Checks ballots against a rule's schema: a subset of JSON Schema, interpreted as data. A module
 * brings its own schema, so the build cannot generate a validator for it.
 */
import { canonical } from '../protocol/canonical.js';
import { pointerStep } from '../protocol/text.js';

/**
 * Subset of JSON Schema. Unknown members of an object are always refused. The schemas of `anyOf`
 * have different types, so the type of a value selects the only schema that it can fit.
 */
export type BallotSchema = TypedSchema | { type?: undefined; anyOf: readonly TypedSchema[] };

type TypedSchema =
  | { type: 'string'; minLength?: number; maxLength?: number; enum?: readonly string[] }
  | { type: 'integer'; minimum: number; maximum: number }
  | {
      type: 'array';
      items: BallotSchema;
      minItems?: number;
      maxItems: number;
      uniqueItems?: boolean;
    }
  | {
      type: 'object';
      properties: Readonly<Record<string, BallotSchema>>;
      required?: readonly string[];
      additionalProperties: false;
    }
  | {
      /** A map from names, such as options, to values. */
      type: 'object';
      maxProperties: number;
      additionalProperties: BallotSchema;
    };

/** Largest ballot, as bytes of JSON. */
export const BALLOT_BYTES = 2_048;

/** Returns true if two ballots are the same JSON value, or both are absent. */
export const isSameBallot = (one: unknown, other: unknown): boolean =>
  one === other ||
  (one !== undefined && other !== undefined && canonical(one) === canonical(other));

/** A problem in a ballot: its position below the ballot, and what the schema requires. */
export interface BallotProblem {
  pointer: string;
  problem: string;
}

/** Returns the first problem in a value, or null. */
export function findBallotProblem(
  schema: BallotSchema,
  value: unknown,
  pointer = '',
): BallotProblem | null {
  const problem = (text: string): BallotProblem => ({ pointer, problem: text });
  switch (schema.type) {
    case 'string':
      return findStringProblem(schema, value, problem);
    case 'integer': {
      const { minimum, maximum } = schema;
      const isInside =
        Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
      return isInside ? null : problem(`must be an integer from ${minimum} to ${maximum}`);
    }
    case 'array':
      return findArrayProblem(schema, value, pointer);
    case 'object':
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return problem('must be an object');
      }
      return findMemberProblem(schema, value as Record<string, unknown>, pointer);
    default: {
      const type = typeOf(value);
      const fitting = schema.anyOf.find((one) => one.type === type);
      if (fitting) return findBallotProblem(fitting, value, pointer);
      return problem(`must be ${schema.anyOf.map((one) => typeNames[one.type]).join(' or ')}`);
    }
  }
}

const typeNames: Record<TypedSchema['type'], string> = {
  string: 'a string',
  integer: 'an integer',
  array: 'an array',
  object: 'an object',
};

/** Returns the type of the schemas that a value can fit. */
function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'number' ? 'integer' : typeof value;
}

function findStringProblem(
  { minLength = 0, maxLength = BALLOT_BYTES, enum: allowed }: BallotSchema & { type: 'string' },
  value: unknown,
  problem: (text: string) => BallotProblem,
): BallotProblem | null {
  if (typeof value !== 'string') return problem('must be a string');
  if (allowed && !allowed.includes(value)) {
    return problem(`must be one of: ${allowed.map((one) => JSON.stringify(one)).join(', ')}`);
  }
  if (value.length >= minLength && value.length <= maxLength) return null;
  return problem(`must have ${minLength} to ${maxLength} characters`);
}

function findArrayProblem(
  { items, minItems = 0, maxItems, uniqueItems }: BallotSchema & { type: 'array' },
  value: unknown,
  pointer: string,
): BallotProblem | null {
  if (!Array.isArray(value)) return { pointer, problem: 'must be an array' };
  if (value.length < minItems || value.length > maxItems) {
    return { pointer, problem: `must have ${minItems} to ${maxItems} items` };
  }
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    const inner = `${pointer}/${index}`;
    const found = findBallotProblem(items, item, inner);
    if (found) return found;
    const text = JSON.stringify(item);
    if (uniqueItems && seen.has(text)) return { pointer: inner, problem: 'repeats an item' };
    seen.add(text);
  }
  return null;
}

function findMemberProblem(
  schema: BallotSchema & { type: 'object' },
  value: Readonly<Record<string, unknown>>,
  pointer: string,
): BallotProblem | null {
  const names = Object.keys(value);
  const named = 'properties' in schema ? schema : null;
  const lacking = named?.required?.find((name) => !Object.hasOwn(value, name));
  if (lacking !== undefined) return { pointer, problem: `must have the member ${lacking}` };
  if ('maxProperties' in schema && names.length > schema.maxProperties) {
    return { pointer, problem: `must have at most ${schema.maxProperties} members` };
  }
  for (const name of names) {
    const inner = `${pointer}/${pointerStep(name)}`;
    const of =
      'properties' in schema ? propertyOf(schema.properties, name) : schema.additionalProperties;
    if (of === undefined) return { pointer: inner, problem: 'is not known; leave it out' };
    const found = findBallotProblem(of, value[name], inner);
    if (found) return found;
  }
  return null;
}

const propertyOf = (properties: Readonly<Record<string, BallotSchema>>, name: string) =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

/** Maximum nesting of a schema. */
const DEPTH = 8;

/** Returns the first problem in a schema that a module brings, or null. */
export function findSchemaProblem(value: unknown, where = 'ballot', depth = 0): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `${where} must be an object`;
  }
  if (depth > DEPTH) return `${where} must have at most ${DEPTH} levels`;
  const schema = value as Record<string, unknown>;
  const { type, anyOf } = schema;
  if (anyOf !== undefined) return findAnyOfProblem(schema, where, depth);
  if (!isSchemaType(type)) return `${where}.type must be string, integer, array or object`;
  const known = members[type];
  const stray = Object.keys(schema).find((name) => name !== 'type' && !Object.hasOwn(known, name));
  if (stray !== undefined) return `${where}.${stray} is not known; leave it out`;
  for (const [name, [kind, required]] of Object.entries(known)) {
    const member = schema[name];
    if (member === undefined ? required : !kinds[kind](member)) {
      return `${where}.${name} must be ${kind}`;
    }
  }
  if (type === 'array') return findSchemaProblem(schema.items, `${where}.items`, depth + 1);
  return type === 'object' ? findObjectSchemaProblem(schema, where, depth) : null;
}

function findAnyOfProblem(
  { anyOf, ...others }: Readonly<Record<string, unknown>>,
  where: string,
  depth: number,
): string | null {
  const [stray] = Object.keys(others);
  if (stray !== undefined) return `${where}.${stray} cannot be used with anyOf`;
  if (!Array.isArray(anyOf) || anyOf.length < 2) {
    return `${where}.anyOf must list two or more schemas`;
  }
  const types = new Set<unknown>();
  for (const [index, schema] of anyOf.entries()) {
    const inner = `${where}.anyOf.${index}`;
    const found = findSchemaProblem(schema, inner, depth + 1);
    if (found) return found;
    const { type } = schema as BallotSchema;
    if (type === undefined || types.has(type)) {
      return `${inner}.type must differ from the types of the other schemas`;
    }
    types.add(type);
  }
  return null;
}

function findObjectSchemaProblem(
  schema: Readonly<Record<string, unknown>>,
  where: string,
  depth: number,
): string | null {
  const { properties, additionalProperties, maxProperties, required = [] } = schema;
  if (properties === undefined) {
    if (maxProperties === undefined) return `${where} must have properties or maxProperties`;
    if (schema.required !== undefined) return `${where}.required needs properties`;
    return findSchemaProblem(additionalProperties, `${where}.additionalProperties`, depth + 1);
  }
  if (additionalProperties !== false) return `${where}.additionalProperties must be false`;
  if (maxProperties !== undefined) return `${where}.maxProperties cannot be used with properties`;
  for (const [name, property] of Object.entries(properties as object)) {
    const found = findSchemaProblem(property, `${where}.properties.${name}`, depth + 1);
    if (found) return found;
  }
  const missing = (required as string[]).find((name) => !Object.hasOwn(properties as object, name));
  return missing === undefined ? null : `${where}.required names no property: ${missing}`;
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const isTexts = (value: unknown) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
const isRecord = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const kinds = {
  'a natural number': isCount,
  'an integer': Number.isSafeInteger,
  'a list of strings': isTexts,
  'true or false': (value: unknown) => typeof value === 'boolean',
  'an object': isRecord,
  'false or a schema': (value: unknown) => value === false || isRecord(value),
} satisfies Record<string, (value: unknown) => boolean>;

/** Members of each type of schema: their kind, and whether they are required. */
const members: Record<
  TypedSchema['type'],
  Record<string, readonly [keyof typeof kinds, boolean]>
> = {
  string: {
    minLength: ['a natural number', false],
    maxLength: ['a natural number', false],
    enum: ['a list of strings', false],
  },
  integer: { minimum: ['an integer', true], maximum: ['an integer', true] },
  array: {
    items: ['an object', true],
    minItems: ['a natural number', false],
    maxItems: ['a natural number', true],
    uniqueItems: ['true or false', false],
  },
  object: {
    properties: ['an object', false],
    required: ['a list of strings', false],
    maxProperties: ['a natural number', false],
    additionalProperties: ['false or a schema', true],
  },
};

const isSchemaType = (value: unknown): value is TypedSchema['type'] =>
  typeof value === 'string' && Object.hasOwn(members, value);
