/** From what a file holds to a scenario with everything filled in, or what is wrong with it. */
import { type Problem, problemText, ScenarioError } from '../problem.js';
import type { Scenario } from '../schema/scenario.js';
import { standardReplicates } from '../schema/sweep.js';
import { check } from './check.js';
import { excessProblem, fillDefaults, shapeProblem } from './shape.js';

export type Completed = { scenario: Scenario } | { problem: Problem };

/** @param folder from where modules of scripts are found; left out, they are not looked for. */
export function complete(raw: unknown, folder?: string): Completed {
  const excess = excessProblem(raw);
  if (excess) return { problem: excess };
  const filled = fillDefaults(withReplicates(structuredClone(raw)));
  const misshapen = shapeProblem(filled);
  if (misshapen) return { problem: misshapen };
  const shaped = filled as Omit<Scenario, 'population'> & { population?: number };
  if (Object.keys(shaped.length).length === 0) shaped.length = { blocks: DEFAULT_BLOCKS };
  const counts = shaped.agents.map(({ count }) => count ?? Number.NaN);
  shaped.population ??= counts.reduce((sum, count) => sum + count, 0);
  const scenario = shaped as Scenario;
  const problem = check(scenario, folder);
  return problem ? { problem } : { scenario };
}

const DEFAULT_BLOCKS = 100;

/** How many they are by default follows from the design. */
function withReplicates(raw: unknown): unknown {
  const sweep = (raw as { sweep?: unknown } | null | undefined)?.sweep;
  if (typeof sweep !== 'object' || sweep === null || Array.isArray(sweep)) return raw;
  if ('replicates' in sweep) return raw;
  const replicates = standardReplicates((sweep as { design?: unknown }).design);
  return Object.assign(raw as object, { sweep: { ...sweep, replicates } });
}

/**
 * Checks a scenario, as a file would hold it, and fills in all defaults.
 *
 * @param folder from where modules of scripts are found; left out, they are not looked for.
 * @throws {ScenarioError} naming path and what is allowed.
 */
export function completeScenario(raw: unknown, folder?: string): Scenario {
  const found = complete(raw, folder);
  if ('scenario' in found) return found.scenario;
  throw new ScenarioError(problemText(found.problem));
}
