/** Validators, compiled from the schemas by ajv at first use. */
import { Ajv, type ValidateFunction } from '../bundled/ajv.js';
import type { TSchema } from '../bundled/typebox.js';
import { pointerStep } from '../pointer.js';
import { isTag } from '../unicode/unicode.js';
import { Genesis } from './genesis.js';
import { TAG_PATTERN } from './primitives.js';
import { type RequestBody, unsigned } from './request.js';

/** What is wrong with a value: where (JSON Pointer) and why. */
export interface Problem {
  pointer: string;
  message: string;
}

/** The platform's patterns, but for what depends on its version of Unicode. */
function pattern(source: string, flags: string) {
  return source === TAG_PATTERN
    ? { test: isTag, toString: () => 'tag' }
    : new RegExp(source, flags);
}
pattern.code = 'new RegExp';

// Formats are checked by parseInstant, isDuration and durationMs, which know the calendar.
const ajv = new Ajv({
  allErrors: false,
  strict: true,
  // That schemas are schemas is for tests to say: the check takes 80 ms of each start.
  validateSchema: false,
  code: { regExp: pattern },
  formats: { 'date-time': true, duration: true },
});

const compiled = new Map<TSchema, ValidateFunction>();

/** Compiling takes milliseconds: a process pays for the schemas that it meets. */
function compile(schema: TSchema): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const validate = ajv.compile(schema);
  compiled.set(schema, validate);
  return validate;
}

function problemOf(validate: ValidateFunction, value: unknown): Problem | null {
  if (validate(value)) return null;
  const error = validate.errors?.[0];
  const { missingProperty, additionalProperty } = error?.params ?? {};
  const member: unknown = missingProperty ?? additionalProperty;
  const step = member === undefined ? '' : `/${pointerStep(String(member))}`;
  return {
    pointer: `${error?.instancePath ?? ''}${step}`,
    message: `${error?.message ?? 'is not valid'}${allowedOf(error?.params)}`,
  };
}

/** The values that would have been right, where they can be told. */
function allowedOf({ allowedValues, allowedValue }: Record<string, unknown> = {}): string {
  const allowed = Array.isArray(allowedValues) ? allowedValues : allowedValue ? [allowedValue] : [];
  return allowed.length === 0 ? '' : `: ${allowed.map((one) => JSON.stringify(one)).join(', ')}`;
}

/** A check of any schema's values: the first problem, or null. */
export function validator(schema: TSchema): (value: unknown) => Problem | null {
  return (value) => problemOf(compile(schema), value);
}

/** The first problem of a request body, or null. */
export function bodyProblem(kind: keyof RequestBody, value: unknown): Problem | null {
  return problemOf(compile(unsigned[kind]), value);
}

/** The first problem of genesis parameters, or null. */
export function genesisProblem(value: unknown): Problem | null {
  return problemOf(compile(Genesis), value);
}
