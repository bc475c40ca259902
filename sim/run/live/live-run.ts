/** Scripted agents on a live network, in wall time. */
import type { MeasuredAgent, Observer } from '../../measure/index.js';
import { ScenarioError } from '../../scenario/problem.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type { Gateway } from '../../world/gateway/gateway.js';
import { LiveWorld } from '../../world/live.js';
import { type Assembly, assemble } from '../assemble.js';

/** How agents act on a live network. */
export interface LiveOptions {
  /** Instead of the scenario's. Keys follow from it, so the same agents come again. */
  seed?: string;
  /** How many times as fast as wall time the agents' time passes. */
  speed?: number;
  /** Where script modules are found. */
  folder?: string;
  /** What one call of a script may take, in milliseconds of the wall; default: 10 s. */
  scriptMs?: number;
}

/** @throws {ScenarioError} for what can be in virtual time only. */
export function checkLive({ interventions }: Scenario): void {
  if (interventions.length === 0) return;
  const why = 'others live there, and no two runs are the same';
  throw new ScenarioError(`interventions cannot be on a server: ${why}; expected none`);
}

/** @throws {ScenarioError} when a script cannot be loaded, or the scenario has interventions. */
export async function assembleLive<O extends Observer>(
  gateway: Gateway,
  scenario: Scenario,
  { seed = scenario.seed, speed = 1, folder, scriptMs }: LiveOptions,
  observerOf: (agents: readonly MeasuredAgent[], startMs: number) => O,
): Promise<Assembly<LiveWorld, O>> {
  checkLive(scenario);
  return assemble({
    scenario,
    seed,
    folder,
    scriptMs,
    networkId: gateway.networkId,
    seq: gateway.seq,
    startMs: () => gateway.now(),
    observerOf,
    worldOf: (society) => new LiveWorld({ ...society, head: gateway.head, gateway, speed }),
  });
}
