/** ajv validators, compiled once from the schemas: the only place that knows ajv. */
import { Ajv, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { Genesis } from './genesis.js';
import { type RequestBody, unsigned } from './request.js';

/** What is wrong with a value: where (JSON Pointer) and why. */
export interface Problem {
  pointer: string;
  message: string;
}

// Formats are checked by parseInstant and parseDuration, which know the calendar.
const ajv = new Ajv({
  allErrors: false,
  strict: true,
  formats: { 'date-time': true, duration: true },
});

const compiled = Object.fromEntries(
  Object.entries(unsigned).map(([kind, schema]) => [kind, ajv.compile(schema)]),
) as Record<keyof RequestBody, ValidateFunction>;

const genesis = ajv.compile(Genesis);

function problemOf(validate: ValidateFunction, value: unknown): Problem | null {
  if (validate(value)) return null;
  const error = validate.errors?.[0];
  const { missingProperty, additionalProperty } = error?.params ?? {};
  const member: unknown = missingProperty ?? additionalProperty;
  const step = member === undefined ? '' : `/${escaped(String(member))}`;
  return {
    pointer: `${error?.instancePath ?? ''}${step}`,
    message: `${error?.message ?? 'is not valid'}`,
  };
}

/** As a step of a JSON Pointer. */
const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** A check of any schema's values: the first problem, or null. */
export function validator(schema: TSchema): (value: unknown) => Problem | null {
  const validate = ajv.compile(schema);
  return (value) => problemOf(validate, value);
}

/** The first problem of a request body, or null. */
export function bodyProblem(kind: keyof RequestBody, value: unknown): Problem | null {
  return problemOf(compiled[kind], value);
}

/** The first problem of genesis parameters, or null. */
export function genesisProblem(value: unknown): Problem | null {
  return problemOf(genesis, value);
}
