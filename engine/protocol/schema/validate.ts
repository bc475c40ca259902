/**
 * Validates request bodies and genesis parameters, with code that ajv generates at build time.
 * Messages say in words what the schema requires.
 */
import { type Shape, shapes, type Validate, validators } from '../bundled/validators.js';
import { describePattern } from '../patterns.js';
import { excerpt, nearest, pointerStep } from '../text.js';
import { type Refusal, refuse } from './reason.js';
import type { RequestBody } from './request.js';

/** A validation problem and its position (JSON Pointer). */
export interface Problem {
  pointer: string;
  message: string;
  /** Excerpt of the invalid value; absent for a missing or unknown member. */
  value?: string;
}

/**
 * Returns the first problem that a validator finds, or null.
 *
 * @param schema schema of the validator or its shape, which names the known members.
 */
export function findProblem(validate: Validate, schema: Shape, value: unknown): Problem | null {
  if (validate(value)) return null;
  const errors = validate.errors ?? [];
  const { instancePath: place = '', params = {} } = errors[0] ?? {};
  const { missingProperty, additionalProperty } = params;
  const member: unknown = missingProperty ?? additionalProperty;
  const found = valueAt(value, place);
  if (member === undefined) {
    return { pointer: place, message: requirementOf(errors, found), value: excerpt(found) };
  }
  const name = String(member);
  const shape = schemaAt(schema, place);
  const message =
    missingProperty === undefined ? unknown(name, shape) : missing(name, found, shape);
  return { pointer: `${place}/${pointerStep(name)}`, message };
}

export function refuseMember({ pointer, message: problem, value }: Problem): Refusal {
  const where = pointer || 'body';
  return value === undefined
    ? refuse('MEMBER_PROBLEM', { where, problem }, { pointer })
    : refuse('MEMBER_INVALID', { where, value, problem }, { pointer });
}

type Failure = NonNullable<Validate['errors']>[number];

/** Says what a value must be. A failed union reports the failures of its alternatives first. */
function requirementOf(errors: readonly Failure[], found: unknown): string {
  const [first] = errors;
  if (!first) return 'is not valid';
  const alternatives = errors.filter(({ keyword }) => keyword !== 'anyOf');
  const isUnion = alternatives.length < errors.length;
  const here = alternatives.every(({ instancePath }) => instancePath === first.instancePath);
  if (!isUnion || !here) return requirement(first, found);
  const texts = new Set(alternatives.map((failure) => requirement(failure, found)));
  return [...texts].join(', or ');
}

const typeTexts: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  integer: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

const comparisons: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'more than',
  '<': 'less than',
};

const boundTexts: Readonly<Record<string, readonly [bound: string, unit: string]>> = {
  minLength: ['at least', 'character'],
  maxLength: ['at most', 'character'],
  minItems: ['at least', 'item'],
  maxItems: ['at most', 'item'],
  minProperties: ['at least', 'member'],
  maxProperties: ['at most', 'member'],
};

function requirement({ keyword, params, message }: Failure, found: unknown): string {
  const { type, pattern, allowedValues, allowedValue, comparison, limit } = params;
  const bound = boundTexts[keyword];
  if (bound) {
    const [text, unit] = bound;
    return `must have ${text} ${limit} ${unit}${limit === 1 ? '' : 's'}, not ${sizeOf(found)}`;
  }
  if (keyword === 'type') {
    return `must be ${String(type)
      .split(',')
      .map((one) => typeTexts[one] ?? one)
      .join(' or ')}`;
  }
  if (keyword === 'pattern') {
    const allowed = describePattern(String(pattern));
    return allowed === null ? 'has an invalid form' : `must be ${allowed}`;
  }
  if (keyword === 'enum') return `must be one of ${namesOf(allowedValues as unknown[])}`;
  if (keyword === 'const') return `must be ${JSON.stringify(allowedValue)}`;
  if (keyword === 'uniqueItems') {
    return `must not repeat an item; items ${params.j} and ${params.i} are equal`;
  }
  const side = comparisons[String(comparison)];
  return side === undefined ? (message ?? 'is not valid') : `must be ${side} ${limit}`;
}

const namesOf = (values: readonly unknown[]) => values.map((one) => JSON.stringify(one)).join(', ');

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return [...value].length;
  return Object.keys(value as object).length;
}

/** Describes an unknown member in an object that allows no unknown members. */
function unknown(name: string, shape: Shape): string {
  const { properties = {}, patternProperties = {} } = shape;
  const [pattern] = Object.keys(patternProperties);
  const allowed = pattern === undefined ? null : describePattern(pattern);
  if (allowed !== null) return `has an invalid name; expected ${allowed}`;
  const known = Object.keys(properties);
  const near = nearest(name, known);
  const advice = near === null ? '' : `, or rename it to ${near}`;
  return `is unknown; leave it out${advice} (known: ${known.join(', ')})`;
}

/** Number of unknown members that are compared with a missing member's name. */
const MOST_COMPARED = 64;

/** Describes a missing member, and names an unknown member that is probably a misspelling of it. */
function missing(name: string, around: unknown, { properties = {} }: Shape): string {
  const strange: string[] = [];
  // Parsed JSON inherits no enumerable members.
  for (const one in typeof around === 'object' ? around : {}) {
    if (!Object.hasOwn(properties, one)) strange.push(one);
    if (strange.length === MOST_COMPARED) break;
  }
  const near = nearest(name, strange);
  return near === null ? 'is missing; add it' : `is missing; add it, or rename ${near}`;
}

/** Returns the steps of a JSON Pointer. */
const stepsOf = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Returns the value at a JSON Pointer, which must exist. */
function valueAt(value: unknown, pointer: string): unknown {
  return stepsOf(pointer).reduce<unknown>(
    (around, step) => (around as Record<string, unknown> | null)?.[step],
    value,
  );
}

/** Returns the schema for a JSON Pointer; empty if the schema does not define the position. */
function schemaAt(schema: Shape, pointer: string): Shape {
  let at = schema;
  for (const step of stepsOf(pointer)) {
    const inner = [at, ...(at.anyOf ?? [])].map((one) => memberSchema(one, step));
    at = inner.find((one) => one !== undefined) ?? {};
  }
  return at;
}

function memberSchema(shape: Shape, step: string): Shape | undefined {
  const { properties, patternProperties, items } = shape;
  if (properties && Object.hasOwn(properties, step)) return properties[step];
  return items ?? Object.values(patternProperties ?? {})[0];
}

export function findBodyProblem(kind: keyof RequestBody, value: unknown): Problem | null {
  return findProblem(validators[kind]!, shapes[kind]!, value);
}

export function findGenesisShapeProblem(value: unknown): Problem | null {
  return findProblem(validators.genesis!, shapes.genesis!, value);
}
