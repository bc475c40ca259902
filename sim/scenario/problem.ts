/** Problems in a scenario, at paths such as `agents.town.share`, and changes to such values. */
import {
  type FailureSource,
  formatMessage,
  type MessageValues,
  withFix,
} from '../../engine/protocol/messages.js';
import { problemMessages, scenarioMessages } from './messages.js';

type ScenarioCode = keyof typeof scenarioMessages;
type ProblemCode = keyof typeof problemMessages;

/** Error in a scenario or in a file that the scenario names. The user can correct it. */
export class ScenarioError extends Error {
  override name = 'ScenarioError';
  /** @internal */
  readonly source: FailureSource = 'user';
  /** Message key, such as `INVALID`. Null for errors outside the message table. @internal */
  code: string | null = null;
  /** Part of the message that says what to do. @internal */
  fix?: string;
  /** First problem with an invalid value, if any. @internal */
  problem: Problem | null = null;
  /** Lines of the message, if it has several. A line can contain a line break. @internal */
  lines?: readonly string[];
}

export function scenarioError<K extends ScenarioCode>(
  code: K,
  values: MessageValues<(typeof scenarioMessages)[K]>,
  { problem = null, ...options }: ErrorOptions & { problem?: Problem | null } = {},
): ScenarioError {
  const { text, fix } = withFix(scenarioMessages[code], values);
  return Object.assign(new ScenarioError(text, options), { code, fix, problem });
}

/**
 * Creates an error with a line for each problem.
 *
 * @param placeOf returns file and line, or the option that set the value.
 */
export function problemError(
  problems: readonly Problem[],
  placeOf?: (problem: Problem) => string,
): ScenarioError {
  const lines = problems.map((problem) => {
    const text = problemText(problem);
    return placeOf === undefined ? text : `${placeOf(problem)}: ${text}`;
  });
  const code = placeOf === undefined ? 'INVALID' : 'INVALID_AT';
  const error = scenarioError(code, { problem: lines.join('\n') }, { problem: problems[0]! });
  return Object.assign(error, { lines });
}

/**
 * Creates an error with a line for each problem, in the order of the file's lines.
 *
 * @param optionOf returns the option that set the invalid value, or null if the file did.
 */
export function fileProblemError(
  problems: readonly Problem[],
  { file, lineOf }: { file: string; lineOf(path: readonly string[]): number },
  optionOf: (problem: Problem) => string | null = () => null,
): ScenarioError {
  const sorted = problems.toSorted((a, b) => lineOf(a.path) - lineOf(b.path));
  return problemError(sorted, (one) => optionOf(one) ?? `${file}:${lineOf(one.path)}`);
}

export interface Problem {
  /** Member names and list indexes, from the top. */
  path: string[];
  code: ProblemCode;
  /** Text that follows the path in a message. */
  text: string;
}

export type Finding = Pick<Problem, 'code' | 'text'>;

export function finding<K extends ProblemCode>(
  code: K,
  values: MessageValues<(typeof problemMessages)[K]>,
): Finding {
  return { code, text: formatMessage<string>(problemMessages[code], values) };
}

/** Most frequent problem: a value outside the allowed range or set. */
export const invalid = (value: string | number, expected: string): Finding =>
  finding('INVALID_VALUE', { value, expected });

/**
 * Problems of a value in order, found one by one. A reader takes the first and finds no other, so a
 * check relies on the checks before it.
 */
export type Problems = Iterable<Problem>;

/** @param path path such as `agents.0.share`; empty for the value itself. */
export const at = (path: string, what: Finding): Problem => ({
  path: path === '' ? [] : path.split('.'),
  ...what,
});

/** Yields the problems of a member at their paths in the whole value. */
export function* within(path: readonly string[], problems: Problems): Problems {
  for (const one of problems) yield { ...one, path: [...path, ...one.path] };
}

export const missing = (expected: string): Finding => finding('MISSING', { expected });
export const onlyWith = (condition: string): Finding => finding('ONLY_WITH', { condition });

/** Requires a value to be one of some names. */
export function* unlessOneOf(path: string, value: string, names: readonly string[]): Problems {
  if (!names.includes(value)) yield at(path, invalid(value, `one of ${names.join(', ')}`));
}

/** Formats a problem as path and text in one line. */
export function problemText({ path, text }: Pick<Problem, 'path' | 'text'>): string {
  return `${path.length === 0 ? 'the scenario' : path.join('.')} ${text}`;
}

/**
 * New value at a path such as `agents.town.share` or `faults.0.length_ms`. Messages name the option
 * that set the value: `--set`, if absent.
 */
export type Change = readonly [path: string, value: unknown, option?: string];

type Tree = Record<string, unknown>;

/**
 * Returns a copy with some values changed. A list item is named by its index. A group can also be
 * named by its name. Missing sections are created. The value null removes a value. The path is
 * validated later, with the rest of the scenario.
 * @throws {ScenarioError} if a path leads through a value without members.
 */
export function withValues(raw: unknown, changes: readonly Change[]): unknown {
  if (changes.length === 0) return raw;
  const copy = structuredClone(raw);
  for (const [path, value] of changes) setValue(copy, path, value);
  return copy;
}

function setValue(root: unknown, path: string, value: unknown): void {
  const steps = path.split('.');
  const last = steps.pop()!;
  let at = root;
  for (const step of steps) {
    const key = keyOf(at, step, path);
    const inner = (at as Tree)[key];
    if (inner === undefined) (at as Tree)[key] = {};
    at = (at as Tree)[key];
  }
  const key = keyOf(at, last, path);
  if (value === null) delete (at as Tree)[key];
  else (at as Tree)[key] = value;
}

/** Returns the key for a path step. In a list, a group name becomes an index. */
function keyOf(at: unknown, step: string, path: string): string {
  if (typeof at !== 'object' || at === null || step === '__proto__') {
    throw scenarioError('NO_MEMBERS', { path, step });
  }
  if (!Array.isArray(at)) return step;
  const named = at.findIndex((one) => (one as Tree | null)?.group === step);
  const index = named >= 0 ? named : /^\d{1,4}$/.test(step) ? Number(step) : -1;
  if (index >= 0 && index < at.length) return String(index);
  const names = at.map((one, place) => (one as Tree | null)?.group ?? place).join(', ');
  throw scenarioError('UNKNOWN_ITEM', { path, step, names });
}
