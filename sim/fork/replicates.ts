/**
 * Is it luck? The run with what is made otherwise and without it, over many seeds: a sweep of two
 * cells, whose runs have the same seeds in both, so that what chance does to both cancels.
 */
import { ScenarioError } from '../scenario/problem.js';
import { completeScenario } from '../scenario/read/complete.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { type Plan, planLoaded } from '../sweep/index.js';
import type { KeptRun } from './kept.js';

/**
 * @param added how many interventions at the end of the list the fork added.
 * @throws {ScenarioError} for what is of one seed alone, such as a hash.
 */
export function planFork(
  { source }: Pick<KeptRun, 'source'>,
  scenario: Scenario,
  { added, replicates }: { added: number; replicates: number },
): Plan {
  const first = scenario.interventions.length - added;
  checkNames(scenario, first);
  const factors = Array.from({ length: added }, (_, index) => ({
    path: `interventions.${first + index}.acts`,
    name: index === 0 ? 'intervention' : `intervention_${index + 1}`,
    values: [false, true],
  }));
  const raw = {
    ...scenario,
    sweep: {
      design: 'list',
      factors,
      replicates,
      baseline: Object.fromEntries(factors.map(({ name }) => [name, false])),
      responses: ['finalized_share', 'rejected_share', 'agreement', 'finality_mean_ms'],
    },
  };
  return planLoaded({ scenario: completeScenario(raw, source), raw, folder: source });
}

/** An id follows from a seed; a number can be in each. */
function checkNames({ interventions }: Scenario, first: number): void {
  for (const one of interventions.slice(first)) {
    const { block, meme, alliance } = one as Record<string, unknown>;
    const id = [block, meme, alliance].find((named) => typeof named === 'string');
    if (id === undefined) continue;
    const why = `${id} is of one seed; expected its number, which can be in each`;
    throw new ScenarioError(`--replicates: ${why}`);
  }
}
