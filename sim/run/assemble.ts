/**
 * The assembly of a run, the same in virtual time and on a live network: agents, their graph, links
 * and faults, whoever measures it, and a world of all of them with its first events.
 */
import { agentId } from '../../engine/protocol/signing.js';
import { behaviour } from '../agents/behaviour.js';
import { createAgents } from '../agents/create.js';
import type { ScriptedAgent } from '../agents/port/agent.js';
import type { World } from '../agents/port/world.js';
import type { MeasuredAgent } from '../measure/index.js';
import { mix, Streams } from '../rng.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { Faults } from '../world/links/faults.js';
import { graphOf } from '../world/links/graph.js';
import { Links } from '../world/links/links.js';
import type { Observer } from '../world/observer.js';
import type { SocietyOptions } from '../world/society/options.js';
import { scheduleFirst } from './first-events.js';

export interface AssemblyOptions<W extends World, O extends Observer> {
  scenario: Scenario;
  seed: string;
  /** Where script modules are found. */
  folder: string | undefined;
  networkId: string;
  /** The network's last log entry: 0 where only genesis is there. */
  seq: number;
  /** When the run begins, milliseconds since 1970: asked once all agents are there. */
  startMs(): number;
  observerOf(agents: readonly MeasuredAgent[], startMs: number): O;
  worldOf(options: SocietyOptions): W;
}

export interface Assembly<W extends World, O extends Observer> {
  agents: readonly ScriptedAgent[];
  world: W;
  observer: O;
  faults: Faults;
  /** sha256 of each script module, by its path in the scenario. */
  modules: Record<string, string>;
}

/** @throws {ScenarioError} when a script cannot be loaded. */
export async function assemble<W extends World, O extends Observer>(
  options: AssemblyOptions<W, O>,
): Promise<Assembly<W, O>> {
  const { scenario, seed, networkId } = options;
  const { agents, modules } = await createAgents(scenario, seed, options.folder);
  drawAnew(agents, seed, options.seq);
  const startMs = options.startMs();
  const streams = new Streams(seed);
  const seedNumber = mix(streams.of('world', 'latency').int(2 ** 31));
  const faults = new Faults(scenario, seed, startMs);
  const observer = options.observerOf(measured(agents), startMs);
  const world = options.worldOf({
    scenario,
    networkId,
    agents,
    behaviour,
    neighbours: graphOf(scenario, streams.of('world', 'graph')),
    faults,
    links: new Links(scenario.links, seedNumber, faults),
    seedNumber,
    startMs,
    observer,
  });
  scheduleFirst(agents, world, faults, seed);
  return { agents, world, observer, faults, modules };
}

/**
 * On a network that was begun before, agents draw by the place in the log where they come in:
 * otherwise they would make the transactions again that are final already.
 */
function drawAnew(agents: readonly ScriptedAgent[], seed: string, seq: number): void {
  if (seq === 0) return;
  const streams = new Streams(`${seed}/${seq}`);
  for (const agent of agents) agent.rng = (purpose) => streams.of(agent.ordinal, purpose);
}

function measured(agents: readonly ScriptedAgent[]): MeasuredAgent[] {
  return agents.map(({ ordinal, by, name, group, personalityName, capabilities }) => ({
    ordinal,
    id: agentId(by.publicKey),
    name,
    group: group.group,
    personality: personalityName,
    strategy: group.strategy.kind,
    capabilities,
  }));
}
