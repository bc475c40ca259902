/** Validates request bodies and genesis parameters, with code that ajv generates at build time. */
import { type Validate, validators } from '../bundled/validators.js';
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

/** Returns the first problem that a validator finds, or null. */
export function findProblem(validate: Validate, value: unknown): Problem | null {
  if (validate(value)) return null;
  const error = validate.errors?.[0];
  const { missingProperty, additionalProperty } = error?.params ?? {};
  const member: unknown = missingProperty ?? additionalProperty;
  const place = error?.instancePath ?? '';
  const found = valueAt(value, place);
  if (member === undefined) {
    const message = `${error?.message ?? 'is not valid'}${allowedOf(error?.params)}`;
    return { pointer: place, message, value: excerpt(found) };
  }
  const message =
    missingProperty === undefined ? 'is not known; leave it out' : missing(String(member), found);
  return { pointer: `${place}/${pointerStep(String(member))}`, message };
}

/** Builds the refusal for a body's first problem. */
export function refuseMember({ pointer, message: problem, value }: Problem): Refusal {
  const where = pointer || 'body';
  return value === undefined
    ? refuse('MEMBER_PROBLEM', { where, problem }, { pointer })
    : refuse('MEMBER_INVALID', { where, value, problem }, { pointer });
}

/** Describes a missing member, and mentions a similar name if the body contains one. */
function missing(name: string, around: unknown): string {
  const near = typeof around === 'object' && around ? nearest(name, Object.keys(around)) : null;
  return near === null ? 'is missing; add it' : `is missing; add it, or rename ${near}`;
}

/** Returns the value at a JSON Pointer, which must exist. */
function valueAt(value: unknown, pointer: string): unknown {
  const steps = pointer.split('/').slice(1);
  return steps.reduce<unknown>(
    (around, step) =>
      (around as Record<string, unknown> | null)?.[
        step.replaceAll('~1', '/').replaceAll('~0', '~')
      ],
    value,
  );
}

/** Lists an enumeration's allowed values. */
function allowedOf({ allowedValues, allowedValue }: Record<string, unknown> = {}): string {
  const allowed = Array.isArray(allowedValues) ? allowedValues : allowedValue ? [allowedValue] : [];
  return allowed.length === 0 ? '' : `: ${allowed.map((one) => JSON.stringify(one)).join(', ')}`;
}

/** Returns the first problem in a request body, or null. */
export function bodyProblem(kind: keyof RequestBody, value: unknown): Problem | null {
  return findProblem(validators[kind]!, value);
}

/** Returns the first problem in genesis parameters, or null. */
export function genesisProblem(value: unknown): Problem | null {
  return findProblem(validators.genesis!, value);
}
