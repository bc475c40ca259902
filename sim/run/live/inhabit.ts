/** Puts the agents of a scenario before a door: a live world, each called for the first time. */
import type { ScriptedAgent } from '../../agents/port/agent.js';
import type { Observer } from '../../measure/index.js';
import { mix, Streams } from '../../rng.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type { Door } from '../../world/gateway/gateway.js';
import { Faults } from '../../world/links/faults.js';
import { graphOf } from '../../world/links/graph.js';
import { Links } from '../../world/links/links.js';
import { LiveWorld } from '../../world/live.js';
import { begin, castOf } from '../cast.js';

export interface LiveOptions {
  /** Instead of the scenario's. Keys follow from it, so the same agents come again. */
  seed?: string;
  /** How many times as fast as wall time the agents' time passes. */
  speed?: number;
  /** Where script modules are found. */
  folder?: string;
}

export interface Inhabited<O extends Observer> {
  agents: readonly ScriptedAgent[];
  world: LiveWorld;
  observer: O;
  faults: Faults;
  modules: Record<string, string>;
}

/** @throws {ScenarioError} when a script cannot be loaded. */
export async function inhabit<O extends Observer>(
  door: Door,
  scenario: Scenario,
  { seed = scenario.seed, speed = 1, folder }: LiveOptions,
  observerOf: (agents: readonly ScriptedAgent[], startMs: number) => O,
): Promise<Inhabited<O>> {
  const { agents, modules } = await castOf(scenario, seed, folder);
  drawAnew(agents, seed, door.seq);
  const startMs = door.now();
  const streams = new Streams(seed);
  const seedNumber = mix(streams.of('world', 'latency').int(2 ** 31));
  const faults = new Faults(scenario, seed, startMs);
  const observer = observerOf(agents, startMs);
  const world = new LiveWorld({
    scenario,
    networkId: door.networkId,
    agents,
    neighbours: graphOf(scenario, streams.of('world', 'graph')),
    faults,
    links: new Links(scenario.links, seedNumber, faults),
    seedNumber,
    startMs,
    observer,
    head: door.head,
    door,
    speed,
  });
  begin(agents, world, faults, seed);
  return { agents, world, observer, faults, modules };
}

/**
 * On a network that was begun before, agents draw by the place in the log where they come in:
 * otherwise they would make the transactions again that are final already.
 */
function drawAnew(agents: readonly ScriptedAgent[], seed: string, seq: number): void {
  if (seq === 0) return;
  const streams = new Streams(`${seed}/${seq}`);
  for (const agent of agents) agent.chance = (purpose) => streams.of(agent.ordinal, purpose);
}
