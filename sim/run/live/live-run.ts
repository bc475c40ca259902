/** Scripted agents on a live network, in wall time. */
import type { MeasuredAgent, Observer } from '../../measure/index.js';
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

/** @throws {ScenarioError} when a script cannot be loaded. */
export function assembleLive<O extends Observer>(
  gateway: Gateway,
  scenario: Scenario,
  { seed = scenario.seed, speed = 1, folder, scriptMs }: LiveOptions,
  observerOf: (agents: readonly MeasuredAgent[], startMs: number) => O,
): Promise<Assembly<LiveWorld, O>> {
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
