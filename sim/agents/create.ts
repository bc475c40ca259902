/** Creates the agents of a scenario with their keys, strategies and random streams. */
import type { Signatory } from '../../engine/protocol/compose.js';
import type { Capability } from '../../engine/protocol/schema/primitives.js';
import { agentId } from '../../engine/protocol/signing.js';
import { type Stream, Streams, type Subject } from '../rng.js';
import type { ReadElection } from '../scenario/files.js';
import {
  drawnTraits,
  drawsTraits,
  eachInhabitant,
  groupSpans,
  type Inhabitant,
  listStrategies,
  nameAgent,
  type PlacedStrategy,
  type TimeSpan,
} from '../scenario/population.js';
import { scenarioError } from '../scenario/problem.js';
import type { Personality } from '../scenario/schema/personalities.js';
import type { Group, Scenario } from '../scenario/schema/scenario.js';
import { isExternal } from '../scenario/schema/strategies.js';
import type { Deciders } from './deciders/deciders.js';
import { Deliberations, mockStrategy } from './deliberation/deliberations.js';
import {
  deriveSignatory,
  deriveUnrecordedSignatory,
  deriveUnsignedSignatory,
  type ScriptedAgent,
  type Strategy,
} from './port.js';
import { createBallots, createCulture } from './preferences.js';
import type { GivenModules, Scripts } from './script/scripts.js';
import { createBuiltIn } from './strategies.js';

export interface CreatedAgents {
  agents: ScriptedAgent[];
  /** Strategies set by interventions, by intervention index in the scenario. */
  changed: ReadonlyMap<number, Strategy>;
  /** Scripts in use, or null. The caller closes them at the end of the run. */
  scripts: Scripts | null;
  /** Null without deliberations. */
  deliberations: Deliberations | null;
}

export interface CreateOptions {
  seed: string;
  /** Base folder for script modules. */
  folder?: string | undefined;
  /** Time limit per script call. */
  scriptMs?: number | undefined;
  /** Modules that the caller has prepared. */
  modules?: GivenModules | undefined;
  /** External deciders. If absent, strategies that need a decider are refused. */
  deciders?: Deciders | null | undefined;
  /** False for a run without a log. Its requests are not signed. */
  recorded?: boolean;
  /** Election data, by file path in the scenario. */
  elections: ReadonlyMap<string, ReadElection>;
}

/** @throws {ScenarioError} if a script cannot be loaded. */
export async function createAgents(
  scenario: Scenario,
  options: CreateOptions,
): Promise<CreatedAgents> {
  const { seed, scriptMs, modules, recorded = true } = options;
  const all = listStrategies(scenario);
  const scripts = all.some(({ strategy }) => strategy.kind === 'script')
    ? new (await import('./script/scripts.js')).Scripts(scriptMs, modules)
    : null;
  const deliberations = scenario.deliberation ? new Deliberations(scenario, seed) : null;
  const spans = groupSpans(scenario);
  const firstOf = new Map(spans.map(({ group, first }) => [group.group, first]));
  const strategies = new Map<string, Strategy>();
  const changed = new Map<number, Strategy>();
  try {
    for (const placed of all) {
      const own = await createStrategy(placed, { ...options, scripts, firstOf });
      const strategy = deliberations?.wrap(own, placed.strategy) ?? own;
      if (isOfGroup(placed)) strategies.set(placed.group, strategy);
      else changed.set(Number(placed.path[1]), strategy);
    }
    const agents = agentsOf(scenario, { seed, recorded }, strategies);
    return { agents, changed, scripts, deliberations };
  } catch (error) {
    scripts?.close();
    throw error;
  }
}

/** False for a strategy that an intervention sets. */
const isOfGroup = ({ path }: PlacedStrategy): boolean => path[0] === 'agents';

interface Found extends Pick<CreateOptions, 'folder' | 'deciders' | 'elections'> {
  scripts: Scripts | null;
  /** Ordinal of the first agent of each group. */
  firstOf: ReadonlyMap<string, number>;
}

/** Creates a strategy. A script of an intervention reports no measures. */
async function createStrategy(
  placed: PlacedStrategy,
  { scripts, folder, deciders, elections, firstOf }: Found,
): Promise<Strategy> {
  const { group, strategy } = placed;
  if (isExternal(strategy)) {
    if (deciders) return deciders.strategyOf({ group, strategy });
    throw scenarioError('NEEDS_VIRTUAL_TIME', { group, kind: strategy.kind });
  }
  if (strategy.kind === 'ballots') {
    return createBallots({ strategy, election: elections.get(strategy.file)!, firstOf });
  }
  if (strategy.kind === 'culture') return createCulture(strategy);
  if (strategy.kind === 'mock') return mockStrategy;
  if (strategy.kind !== 'script') return createBuiltIn(strategy);
  if (folder === undefined) throw scenarioError('UNKNOWN_FOLDER', { file: strategy.module });
  return scripts!.strategyOf({ group: isOfGroup(placed) ? group : null, strategy }, folder);
}

function agentsOf(
  scenario: Scenario,
  { seed, recorded }: { seed: string; recorded: boolean },
  strategies: ReadonlyMap<string, Strategy>,
): ScriptedAgent[] {
  const signed = recorded ? deriveSignatory : deriveUnrecordedSignatory;
  const keyOf = scenario.signatures === 'none' ? deriveUnsignedSignatory : signed;
  const streams = new Streams(seed);
  const agents: ScriptedAgent[] = [];
  for (const inhabitant of eachInhabitant(scenario)) {
    const { ordinal, group } = inhabitant;
    const strategy = strategies.get(group.group)!;
    agents.push(new ScenarioAgent(inhabitant, { by: keyOf(seed, ordinal), strategy, streams }));
  }
  return agents;
}

/**
 * An agent of a scenario. What many agents share is in shared objects, and few are derived. The
 * members that every vote reads come first, so that they share two cache lines.
 */
class ScenarioAgent implements ScriptedAgent {
  readonly ordinal: number;
  readonly joinsMs: number;
  leavesMs: number | null;
  strategy: Strategy;
  readonly validator: boolean;
  streams: Streams;
  personality: Personality;
  readonly group: Group;
  readonly by: Signatory;
  votes = 0;
  onBreak = false;
  joined = false;
  left = false;
  away = false;
  turn = 0;
  proposals = 0;
  occasions = 0;
  timers: ScriptedAgent['timers'] = null;
  readonly producer: boolean;
  readonly id: string;
  readonly personalityName: string;
  readonly capabilities: readonly Capability[];

  constructor(
    { ordinal, group, personalityName, personality, capabilities, joins, leaves }: Inhabitant,
    { by, strategy, streams }: Pick<ScriptedAgent, 'by' | 'strategy' | 'streams'>,
  ) {
    this.ordinal = ordinal;
    this.id = agentId(by.publicKey);
    this.by = by;
    this.group = group;
    this.personalityName = personalityName;
    this.capabilities = capabilities;
    this.producer = capabilities.includes('producer');
    this.validator = capabilities.includes('validator');
    this.strategy = strategy;
    this.streams = streams;
    const { traits } = group;
    const rngOf = (purpose: string) => streams.of(ordinal, purpose);
    this.personality =
      traits && drawsTraits(traits)
        ? { ...personality, ...drawnTraits(traits, rngOf) }
        : personality;
    this.joinsMs = this.#draw(joins, 'joining');
    this.leavesMs = leaves && this.#draw(leaves, 'leaving');
  }

  get name(): string {
    return nameAgent(this.personalityName, this.ordinal);
  }

  rng(purpose: string, subject?: Subject, round?: number): Stream {
    const { streams, ordinal } = this;
    return subject ? streams.about(ordinal, purpose, subject, round) : streams.of(ordinal, purpose);
  }

  /** Draws a time. Its stream is not kept, because nothing else draws from it. */
  #draw({ startMs, overMs }: TimeSpan, purpose: string): number {
    return startMs + (overMs === 0 ? 0 : this.streams.once(this.ordinal, purpose).int(overMs));
  }
}
