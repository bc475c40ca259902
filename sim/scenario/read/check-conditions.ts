/** What a condition can have wrong beyond its shape, wherever it stands. */
import type { Static } from '../../../engine/internal.js';
import type { Problem } from '../problem.js';
import type { Condition } from '../schema/length.js';

/**
 * Each bound may be there once; whose reputation it is, only where it is one.
 * @param groups the names of all groups.
 */
export function conditionProblem(
  { measure, group, reaches, at_least, at_most }: Static<typeof Condition>,
  path: string,
  groups: readonly string[],
): Problem | null {
  const problem = (at: string, text: string): Problem => ({ path: at.split('.'), text });
  const bounds = [reaches, at_least, at_most].filter((bound) => bound !== undefined);
  if (bounds.length !== 1) {
    const found = bounds.length === 0 ? 'has no bound' : `has ${bounds.length} bounds`;
    return problem(path, `${found}; expected one of reaches, at_least, at_most`);
  }
  if (group === undefined) return null;
  if (measure !== 'reputation_mean') {
    return problem(`${path}.group`, `is for reputation_mean; ${measure} is of the network`);
  }
  if (groups.includes(group)) return null;
  return problem(`${path}.group`, `is ${group}; expected one of ${groups.join(', ')}`);
}
