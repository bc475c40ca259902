/** What the page is told of a scenario: who is of which group, and when what goes wrong. */
import type { ScenarioShown } from '../../api/contract/shown.js';
import { inhabitants } from '../scenario/population.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { Cast } from './cast.js';

/** Agents beyond which groups are left out: each costs the derivation of a key. */
const MOST_AGENTS = 20_000;

/** `startMs`: when its run began, since 1970. Undefined where it has too many agents. */
export function scenarioShown(
  scenario: Scenario,
  seed: string,
  startMs: number,
): ScenarioShown | undefined {
  if (scenario.population > MOST_AGENTS) return undefined;
  const { idAt } = new Cast(scenario, seed);
  const groups = new Map<string, string[]>(scenario.agents.map(({ group }) => [group, []]));
  for (const { ordinal, group } of inhabitants(scenario)) {
    groups.get(group.group)!.push(idAt(ordinal));
  }
  const faults = scenario.faults.map(({ kind, start_ms, length_ms, whom }) => ({
    kind,
    from: startMs + start_ms,
    to: startMs + start_ms + length_ms,
    groups: [...new Set(whom.flatMap(({ group }) => group ?? [...groups.keys()]))],
  }));
  const { title, question } = scenario;
  return {
    ...{ title, ...(question === undefined ? {} : { question }), faults },
    groups: [...groups].map(([name, agents]) => ({ name, agents })),
  };
}
