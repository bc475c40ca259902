/** Creates the agents of a scenario: who each is, with its key, its strategy and its own rng. */
import { Streams } from '../rng.js';
import { inhabitants } from '../scenario/population.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { signatoryOf, unsignedSignatoryOf } from './keys.js';
import type { ScriptedAgent, Strategy } from './port/agent.js';
import { loadScript } from './script/index.js';
import { builtIn } from './strategies/index.js';

export interface CreatedAgents {
  agents: ScriptedAgent[];
  /** sha256 of each script module, by its path in the scenario. */
  modules: Record<string, string>;
}

/**
 * @param folder where modules of scripts are found.
 * @throws {ScenarioError} when a script cannot be loaded.
 */
export async function createAgents(
  scenario: Scenario,
  seed: string,
  folder?: string,
): Promise<CreatedAgents> {
  const modules: Record<string, string> = {};
  const strategies = new Map<string, Strategy>();
  for (const { group, strategy } of scenario.agents) {
    if (strategy.kind !== 'script') strategies.set(group, builtIn(strategy));
    else {
      if (folder === undefined) {
        throw new ScenarioError(`script ${strategy.module}: its folder is not known`);
      }
      const loaded = await loadScript(strategy, folder);
      strategies.set(group, loaded.strategy);
      modules[strategy.module] = loaded.sha256;
    }
  }
  const keyOf = scenario.signatures === 'none' ? unsignedSignatoryOf : signatoryOf;
  const streams = new Streams(seed);
  const agents = inhabitants(scenario).map((inhabitant): ScriptedAgent => {
    const { ordinal, capabilities, group } = inhabitant;
    return {
      ...inhabitant,
      by: keyOf(seed, ordinal),
      strategy: strategies.get(group.group)!,
      producer: capabilities.includes('producer'),
      validator: capabilities.includes('validator'),
      joined: false,
      onBreak: false,
      away: false,
      turn: 0,
      votes: 0,
      rng: (purpose) => streams.of(ordinal, purpose),
    };
  });
  return { agents, modules };
}
