/**
 * Problems of a scenario, each at a path such as `agents.town.share`, and the change of values by
 * such paths.
 */

/** A scenario, or a script of it, that cannot be meant: a user can mend it. */
export class ScenarioError extends Error {
  override name = 'ScenarioError';
}

export interface Problem {
  /** Steps from the top: member names, and indexes of lists. */
  path: string[];
  text: string;
}

/** One line: where, and what. */
export function problemText({ path, text }: Problem): string {
  return `${path.length === 0 ? 'the scenario' : pathText(path)} ${text}`;
}

/** As `agents.1.count`. */
const pathText = (path: readonly string[]): string => path.join('.');

/** Another value for a scenario, by its path: `agents.town.share`, `faults.0.length_ms`. */
export type Change = readonly [path: string, value: unknown];

type Tree = Record<string, unknown>;

/**
 * A copy with other values. An element of a list is named by its index, a group also by its name.
 * Sections that are left out are made; whether the path is known shows when defaults are filled in.
 * @throws {ScenarioError} when a path leads through something that has no members.
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

/** The key of a step; in a list, the index of what it names. */
function keyOf(at: unknown, step: string, path: string): string {
  if (typeof at !== 'object' || at === null || step === '__proto__') {
    throw new ScenarioError(`${path} does not exist in the scenario: nothing is inside ${step}`);
  }
  if (!Array.isArray(at)) return step;
  const named = at.findIndex((one) => (one as Tree | null)?.group === step);
  const index = named >= 0 ? named : /^\d{1,4}$/.test(step) ? Number(step) : -1;
  if (index >= 0 && index < at.length) return String(index);
  const names = at.map((one, place) => (one as Tree | null)?.group ?? place).join(', ');
  throw new ScenarioError(`${path} does not exist in the scenario: ${step} is none of ${names}`);
}
