/**
 * Parses JSON of others: strict UTF-8, bounded depth, safe numbers, and each member once. Parsers
 * differ in which of two members with one name counts, so a signature over such a text has two
 * meanings.
 */
import { limits } from './limits.js';
import { membersIn, type Problem, repeatedMember } from './repeated-members.js';
import { type Refusal, refuse } from './schema/reason.js';
import { pointerStep } from './text.js';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);

/** A parsed value, or a problem and its position (JSON Pointer). */
export type JsonResult = { value: unknown } | { pointer: string; message: string };

/**
 * @param repeated `last` for requests in a log, which older versions admitted: of members with one
 *   name, the last one counts.
 */
export function parseJson(
  given: Uint8Array | string,
  repeated: 'refuse' | 'last' = 'refuse',
): JsonResult {
  let text: string;
  let value: unknown;
  try {
    text = typeof given === 'string' ? given : decoder.decode(given);
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : 'the bytes are not UTF-8';
    return { pointer: '', message: `not JSON: ${why}` };
  }
  seen.members = 0;
  seen.characters = 0;
  const problem = problemIn(value, 1);
  if (problem) return problem;
  const isLong = text.length - seen.characters >= LEAST_MEMBER;
  if (isLong && repeated === 'refuse' && membersIn(text) !== seen.members) {
    return repeatedMember(text, limits.jsonDepth);
  }
  return { value };
}

export function refuseJson({ pointer, message: problem }: Problem): Refusal {
  const where = pointer === '' ? '' : ` at ${pointer}`;
  return refuse('JSON_INVALID', { where, problem }, { pointer });
}

/**
 * Sums of `problemIn`: the members of a value, and the fewest characters in which a text can write
 * the value. A text with fewer than five more characters has no room for a member that the value
 * lacks. Most votes are such texts, and need no second pass.
 */
const seen = { members: 0, characters: 0 };
const LEAST_MEMBER = '"":0,'.length;

/** Builds pointers on return, so that a valid value allocates no text. */
function problemIn(value: unknown, depth: number): Problem | null {
  if (typeof value === 'string') {
    seen.characters += value.length + 2;
    // A lone surrogate cannot be encoded as UTF-8, so it cannot be signed.
    return value.isWellFormed() ? null : here('contains a lone surrogate');
  }
  // The bracket or brace, or the first digit. The comma or end after a value counts below.
  seen.characters += 1;
  if (typeof value === 'number') return findNumberProblem(value);
  if (typeof value !== 'object' || value === null) return null;
  if (depth > limits.jsonDepth) return here(`is nested deeper than ${limits.jsonDepth}`);
  const named = !Array.isArray(value);
  // Parsed objects inherit no enumerable names, and `for in` allocates no list.
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    seen.characters += 1;
    if (named) {
      seen.members += 1;
      seen.characters += key.length + 3;
    }
    const problem = (named ? findNameProblem(key) : null) ?? problemIn(member, depth + 1);
    if (problem) {
      return { pointer: `/${pointerStep(key)}${problem.pointer}`, message: problem.message };
    }
  }
  return null;
}

const here = (message: string): Problem => ({ pointer: '', message });

function findNameProblem(key: string): Problem | null {
  if (forbidden.has(key)) return here('has a reserved name');
  return key.isWellFormed() ? null : here('has a lone surrogate in its name');
}

function findNumberProblem(value: number): Problem | null {
  if (!Number.isFinite(value)) return here('is not a finite number');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return here('is an integer beyond 2^53-1');
  }
  return null;
}
