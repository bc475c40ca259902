/** What the page is told of a scenario: who is of which group, and when what goes wrong. */
import type { ScenarioShown } from '../../../api/contract/shown.js';
import { agentId } from '../../../engine/protocol/signing.js';
import { signatoryOf, unsignedSignatoryOf } from '../../../sim/agents/keys.js';
import type { Scenario } from '../../../sim/index.js';
import { inhabitants } from '../../../sim/scenario/population.js';

/** Agents beyond which groups are left out: each costs the derivation of a key. */
const MOST_AGENTS = 20_000;

/** `startMs`: when its run began, since 1970. Undefined where it has too many agents. */
export function scenarioShown(
  scenario: Scenario,
  seed: string,
  startMs: number,
): ScenarioShown | undefined {
  if (scenario.population > MOST_AGENTS) return undefined;
  const keyOf = scenario.signatures === 'none' ? unsignedSignatoryOf : signatoryOf;
  const groups = new Map<string, string[]>(scenario.agents.map(({ group }) => [group, []]));
  for (const { ordinal, group } of inhabitants(scenario)) {
    groups.get(group.group)!.push(agentId(keyOf(seed, ordinal).publicKey));
  }
  const faults = scenario.faults.map(({ kind, start_ms, length_ms, whom }) => ({
    kind,
    from: startMs + start_ms,
    to: startMs + start_ms + length_ms,
    groups: [...new Set(whom.flatMap(({ group }) => group ?? [...groups.keys()]))],
  }));
  const { title, question } = scenario;
  return {
    ...{ title, ...(question === undefined ? {} : { question }), graph: null, faults },
    groups: [...groups].map(([name, agents]) => ({ name, agents })),
  };
}
