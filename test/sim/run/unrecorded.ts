/** Runs a scenario with and without a log, and returns what must be equal. */
import { type Scenario, type SimOptions, type SimResult, simulate } from 'folkmoot/sim';

/** Members that depend on the log, the machine or the verifier. */
const varying = new Set<keyof SimResult>([
  ...(['digest', 'log_digest', 'verified', 'verifier', 'commits'] as const),
  ...(['wall_ms', 'votes_per_s', 'peak_rss_bytes'] as const),
]);

export const lasting = (result: SimResult) =>
  Object.fromEntries(Object.entries(result).filter(([of]) => !varying.has(of as keyof SimResult)));

/** Returns the result with a log, then without. */
export async function bothWays(
  scenario: Scenario,
  options: Pick<SimOptions, 'seed' | 'folder' | 'audit'> = {},
): Promise<[SimResult, SimResult]> {
  const verifier = scenario.signatures === 'verified' ? 'inline' : 'off';
  const recorded = await simulate(scenario, { ...options, store: 'memory', verifier });
  return [recorded, await simulate(scenario, { ...options, log: 'none' })];
}
