/** Whether the scripts of a scenario can be loaded, before it is run. */
import { Scripts } from '../scripts.js';

/**
 * Loading a module runs what stands at its top.
 * @param modules their paths in the scenario.
 * @throws {ScenarioError} naming the first module that cannot be loaded.
 */
export async function checkScripts(modules: readonly string[], folder: string): Promise<void> {
  const scripts = new Scripts();
  try {
    for (const module of modules) {
      const strategy = { kind: 'script', module, parameters: {} } as const;
      await scripts.strategyOf({ group: null, strategy }, folder);
    }
  } finally {
    scripts.close();
  }
}
