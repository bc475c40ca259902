/** Whether the scripts of a scenario can be loaded, before it is run. */
import type { Scenario } from '../../scenario/schema.js';
import { loadScript } from './index.js';

/** @throws {ScenarioError} naming the first module that cannot be loaded. */
export async function checkScripts({ agents }: Scenario, folder: string): Promise<void> {
  for (const { strategy } of agents) {
    if (strategy.kind === 'script') await loadScript(strategy, folder);
  }
}
