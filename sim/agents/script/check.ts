/** Whether the scripts of a scenario can be loaded, before it is run. */
import type { Scenario } from '../../scenario/schema/scenario.js';
import { loadScript } from './index.js';

/**
 * Loading a module runs what stands at its top.
 * @throws {ScenarioError} naming the first module that cannot be loaded.
 */
export async function checkScripts({ agents }: Scenario, folder: string): Promise<void> {
  for (const { strategy } of agents) {
    if (strategy.kind === 'script') await loadScript(strategy, folder);
  }
}

/** The modules of a scenario, each once. */
export function scriptsOf({ agents }: Scenario): string[] {
  const modules = agents.flatMap(({ strategy }) =>
    strategy.kind === 'script' ? [strategy.module] : [],
  );
  return [...new Set(modules)];
}
