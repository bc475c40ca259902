/** What is known of the scenario of a kept run, beside its log. */
import type { ServerOptions } from '../../../api/index.js';
import type { KeptNetwork } from '../../../engine/internal.js';
import { say } from '../../output/output.js';

/** Of a run that `sim --out` kept; what is said of it beside its log may be missing, or damaged. */
export async function keptScenario(
  folder: string,
  network: KeptNetwork,
): Promise<Pick<ServerOptions, 'scenario' | 'run'>> {
  const { keptRun, scenarioShown } = await import('../../../sim/shown/index.js');
  const { keptResult } = await import('../../../sim/fork/kept.js');
  const { START_MS } = await import('../../../sim/run/options.js');
  try {
    const result = keptResult(folder);
    if (!result) return {};
    const scenario = scenarioShown(result.scenario, result.seed, START_MS);
    return { ...(scenario ? { scenario } : {}), run: keptRun(folder, result, network) };
  } catch (error) {
    say(`folkmoot: its scenario is not shown: ${(error as Error).message}`);
    return {};
  }
}
