/** Whether the scripts of a scenario can be loaded, before it is run. */
import type { Scenario } from '../../../scenario/schema/scenario.js';
import { Scripts } from '../scripts.js';

/**
 * Loading a module runs what stands at its top.
 * @throws {ScenarioError} naming the first module that cannot be loaded.
 */
export async function checkScripts({ agents }: Scenario, folder: string): Promise<void> {
  const scripts = new Scripts();
  try {
    for (const { group, strategy } of agents) {
      if (strategy.kind === 'script') await scripts.strategyOf({ group, strategy }, folder);
    }
  } finally {
    scripts.close();
  }
}

/** The modules of a scenario, each once. */
export function scriptsOf({ agents }: Scenario): string[] {
  const modules = agents.flatMap(({ strategy }) =>
    strategy.kind === 'script' ? [strategy.module] : [],
  );
  return [...new Set(modules)];
}
