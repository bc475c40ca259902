/** Parses request JSON: strict UTF-8, bounded depth, safe numbers and member names. */
import { limits } from './limits.js';
import { type Refusal, refuse } from './schema/reason.js';
import { pointerStep } from './text.js';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);

/** A parsed value, or a problem and its position (JSON Pointer). */
export type JsonResult = { value: unknown } | { pointer: string; message: string };

export function parseJson(given: Uint8Array | string): JsonResult {
  let value: unknown;
  try {
    value = JSON.parse(typeof given === 'string' ? given : decoder.decode(given));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : 'the bytes are not UTF-8';
    return { pointer: '', message: `not JSON: ${why}` };
  }
  return problemIn(value, 1) ?? { value };
}

type Problem = { pointer: string; message: string };

export function refuseJson({ pointer, message: problem }: Problem): Refusal {
  const where = pointer === '' ? '' : ` at ${pointer}`;
  return refuse('JSON_INVALID', { where, problem }, { pointer });
}

/** Builds pointers on return, so that a valid value allocates no text. */
function problemIn(value: unknown, depth: number): Problem | null {
  if (typeof value === 'string') {
    // A lone surrogate cannot be encoded as UTF-8, so it cannot be signed.
    return value.isWellFormed() ? null : here('contains a lone surrogate');
  }
  if (typeof value === 'number') return numberProblem(value);
  if (typeof value !== 'object' || value === null) return null;
  if (depth > limits.jsonDepth) return here(`is nested deeper than ${limits.jsonDepth}`);
  const named = !Array.isArray(value);
  // Parsed objects inherit no enumerable names, and `for in` allocates no list.
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    const problem = (named ? nameProblem(key) : null) ?? problemIn(member, depth + 1);
    if (problem) {
      return { pointer: `/${pointerStep(key)}${problem.pointer}`, message: problem.message };
    }
  }
  return null;
}

const here = (message: string): Problem => ({ pointer: '', message });

function nameProblem(key: string): Problem | null {
  if (forbidden.has(key)) return here('has a reserved name');
  return key.isWellFormed() ? null : here('has a lone surrogate in its name');
}

function numberProblem(value: number): Problem | null {
  if (!Number.isFinite(value)) return here('is not a finite number');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return here('is an integer beyond 2^53-1');
  }
  return null;
}
