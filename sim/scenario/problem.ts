/** What is wrong with a scenario. */

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
export const pathText = (path: readonly string[]): string => path.join('.');
