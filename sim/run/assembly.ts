/**
 * Assembles a run in virtual time or on a live network: agents, graph, links, faults, observer and
 * world, with the first events scheduled.
 */
import type { KnownGraph } from '../../api/contract/run.js';
import { type NetworkRule, type RuleGenesis, ruleOf } from '../../engine/rules/network-rule.js';
import { firstTurnAt, takeTurn } from '../agents/actions.js';
import { behaviour } from '../agents/behaviour.js';
import { type CreatedAgents, type CreateOptions, createAgents } from '../agents/create.js';
import type { Deliberations } from '../agents/deliberation/deliberations.js';
import type { ScriptedAgent, World } from '../agents/port.js';
import type { Scripts } from '../agents/script/scripts.js';
import type { ElectionUse } from '../elections/rule-ballots.js';
import type { MeasuredAgent } from '../measure/population.js';
import { mix, type Stream, Streams } from '../rng.js';
import { findOptions, loadData, loadElectionUses, type ScenarioData } from '../scenario/files.js';
import { joinedByMs, leftByMs, Ordinals } from '../scenario/population.js';
import type { Personality } from '../scenario/schema/personalities.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { Faults } from '../world/faults.js';
import { drawnGraph, type Neighbours } from '../world/graph.js';
import { createUplinks, Links } from '../world/links.js';
import type { Observer } from '../world/observer.js';
import type { SocietyOptions } from '../world/society.js';
import { Interventions } from './interventions.js';
import { toGenesisOptions } from './options.js';

interface AssemblyOptions<W extends World, O extends Observer>
  extends Omit<CreateOptions, 'elections'> {
  scenario: Scenario;
  /** True if agents send votes as commands. */
  sendsCommands?: boolean;
  networkId: string;
  /** Genesis parameters of the decision rule. Default: those of the scenario. */
  genesis?: RuleGenesis;
  /** Network's last log entry; 0 after genesis. */
  seq: number;
  /** Returns the Unix start time in milliseconds. Called once all agents exist. */
  startMs(): number;
  observerOf: ObserverOf<O>;
  worldOf(options: SocietyOptions): W;
}

/** Creates the observer of a run. @param ordinals agents' ordinals by id. */
export type ObserverOf<O extends Observer> = (
  agents: readonly MeasuredAgent[],
  startMs: number,
  ordinals: Ordinals,
) => O;

export interface Assembly<W extends World, O extends Observer> {
  agents: readonly ScriptedAgent[];
  world: W;
  observer: O;
  /** Unix time in milliseconds at which all scheduled faults, joins and departures are over. */
  settledAt: number;
  /** Scripts in use, or null. The caller closes them at the end of the run. */
  scripts: Scripts | null;
  neighbours: Neighbours;
  /** Social graph, with the links that pass messages at a given time. */
  graph: KnownGraph;
  /** SHA-256 of each data file, by its path in the scenario. */
  files: Record<string, string>;
  /** Uses of ballots, by file of election data. */
  elections: Record<string, ElectionUse>;
  /** Null without interventions. */
  interventions: Interventions | null;
  /** Null without deliberations. */
  deliberations: Deliberations | null;
}

/** @throws {ScenarioError} if a script or data file cannot be loaded. */
export async function assemble<W extends World, O extends Observer>(
  options: AssemblyOptions<W, O>,
): Promise<Assembly<W, O>> {
  const { seed } = options;
  const data = loadData(options.scenario, options.folder);
  const { elections } = data;
  const producers = findOptions(options.scenario, elections);
  const scenario = { ...options.scenario, producers };
  const rule = createRuleFinder(scenario, options.genesis);
  const uses = elections.size === 0 ? {} : loadElectionUses(scenario, data, rule());
  const created = await createAgents(scenario, { ...options, elections });
  const { agents, scripts, deliberations } = created;
  try {
    drawAnew(agents, seed, options.seq);
    const put = putInWorld({ ...created, data }, { ...options, scenario }, rule);
    return { ...put, elections: uses, agents, scripts, deliberations };
  } catch (error) {
    scripts?.close();
    throw error;
  }
}

interface Created extends CreatedAgents {
  data: ScenarioData;
}

function putInWorld<W extends World, O extends Observer>(
  { agents, changed: strategies, scripts, data }: Created,
  options: AssemblyOptions<W, O>,
  rule: () => NetworkRule,
): Omit<Assembly<W, O>, 'agents' | 'scripts' | 'elections' | 'deliberations'> {
  const { scenario, seed, networkId } = options;
  const startMs = options.startMs();
  const neighbours = drawnGraph(scenario, seed, data.edges);
  const seedNumber = mix(new Streams(seed).of('world', 'latency').int(2 ** 31));
  const faults = new Faults(scenario, seed, startMs);
  const links = new Links(scenario, data, faults);
  const ordinals = new Ordinals(agents);
  const observer = options.observerOf(
    agents.map((agent) => new AgentOfRun(agent)),
    startMs,
    ordinals,
  );
  const interventions =
    scenario.interventions.length === 0
      ? null
      : new Interventions({ scenario, seed, startMs, agents, strategies, faults, links });
  const world = options.worldOf({
    scenario,
    networkId,
    rule,
    agents,
    ordinals,
    behaviour,
    sendsCommands: options.sendsCommands ?? false,
    ...(scripts ? { callLoop: scripts.callLoop } : {}),
    ...(options.deciders ? { asking: options.deciders } : {}),
    neighbours,
    faults,
    links,
    uplinks: createUplinks(scenario, faults),
    ...(interventions ? { intervening: interventions } : {}),
    seedNumber,
    startMs,
    observer,
  });
  scheduleFirst(agents, world, faults, seed);
  return {
    world,
    observer,
    settledAt: settledAt(scenario, faults, startMs),
    neighbours,
    graph: knownGraph(scenario, neighbours, links),
    files: data.files,
    interventions,
  };
}

/** Returns a function that returns the network's rule. A rule is created when it is needed. */
function createRuleFinder(scenario: Scenario, given: RuleGenesis | undefined): () => NetworkRule {
  let genesis = given;
  return () => {
    genesis ??= { ...toGenesisOptions(scenario), policy: scenario.consensus.policy };
    return ruleOf(genesis);
  };
}

export const knownGraph = (
  { topology }: Scenario,
  neighbours: Neighbours,
  links: Links,
): KnownGraph => ({
  topology: topology.kind,
  neighbours,
  passes: (from, to, at) => !links.severs(from, to, at),
});

/**
 * Makes draws on an existing network depend on the log position at the start. Without this, agents
 * would repeat transactions that are already final.
 */
function drawAnew(agents: readonly ScriptedAgent[], seed: string, seq: number): void {
  if (seq === 0) return;
  const streams = new Streams(`${seed}/${seq}`);
  for (const agent of agents) agent.streams = streams;
}

/** Returns the end of faults, joins and departures, from which the run's patience counts. */
function settledAt({ agents }: Scenario, faults: Faults, startMs: number): number {
  const scheduled = agents.flatMap((group) => [
    ...(group.join ? [joinedByMs(group)] : []),
    leftByMs(group) ?? 0,
  ]);
  return Math.max(faults.overAt ?? startMs, ...scheduled.map((ms) => startMs + ms));
}

/** An agent for the measures, with its traits at the start of the run. */
class AgentOfRun implements MeasuredAgent {
  readonly #agent: ScriptedAgent;
  readonly traits: Personality;

  constructor(agent: ScriptedAgent) {
    this.#agent = agent;
    this.traits = agent.personality;
  }

  get ordinal(): number {
    return this.#agent.ordinal;
  }
  get id(): string {
    return this.#agent.id;
  }
  get name(): string {
    return this.#agent.name;
  }
  get group(): string {
    return this.#agent.group.group;
  }
  get personality(): string {
    return this.#agent.personalityName;
  }
  get strategy(): string {
    return this.#agent.group.strategy.kind;
  }
  get capabilities(): readonly string[] {
    return this.#agent.capabilities;
  }
}

/** Schedules joins, departures, production and fault events. */
function scheduleFirst(
  agents: readonly ScriptedAgent[],
  world: World,
  faults: Faults,
  seed: string,
) {
  const streams = new Streams(seed);
  for (const agent of agents) {
    const { ordinal, joinsMs, leavesMs } = agent;
    world.schedule(ordinal, world.startMs + joinsMs, { type: 'join' });
    if (leavesMs !== null) {
      world.schedule(ordinal, world.startMs + leavesMs, { type: 'depart' });
    }
    if (agent.producer) takeTurn(agent, world, firstTurnAt(agent, world));
  }
  for (const { members, end } of faults.of('crash')) {
    for (const member of members) world.schedule(member, end, { type: 'restart' });
  }
  for (const churn of faults.of('churn')) {
    for (const member of churn.members) {
      comeAndGo(member, world, churn, streams.of(member, `churn/${churn.start}`));
    }
  }
}

interface Churn {
  start: number;
  end: number;
  stay_ms: number;
  away_ms: number;
}

/** Schedules absences with random durations around the means. The agent is present at the end. */
function comeAndGo(agent: number, world: World, churn: Churn, stream: Stream): void {
  const around = (mean: number) => Math.ceil(mean / 2) + stream.int(mean);
  let at = churn.start + stream.int(churn.stay_ms);
  while (at < churn.end) {
    const back = Math.min(at + around(churn.away_ms), churn.end);
    world.schedule(agent, at, { type: 'leave' });
    world.schedule(agent, back, { type: 'return' });
    at = back + around(churn.stay_ms);
  }
}
