/** Creates the agents of a scenario: who each is, with its key, its strategy and its own rng. */
import { type Stream, Streams, type Subject } from '../rng.js';
import { drawnTraits, drawsTraits, inhabitants, type TimeSpan } from '../scenario/population.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { isExternal, type Strategy as Wanted } from '../scenario/schema/strategies.js';
import type { Deciders } from './deciders/deciders.js';
import {
  deriveSignatory,
  deriveUnsignedSignatory,
  type ScriptedAgent,
  type Strategy,
} from './port.js';
import type { Scripts } from './script/scripts.js';
import { createBuiltIn } from './strategies.js';

export interface CreatedAgents {
  agents: ScriptedAgent[];
  /** Strategies that interventions change to, by the intervention's place in the scenario. */
  changed: ReadonlyMap<number, Strategy>;
  /** The scripts that some of them follow, if any do; to be closed at the end of the run. */
  scripts: Scripts | null;
}

export interface CreateOptions {
  seed: string;
  /** Where modules of scripts are found. */
  folder?: string | undefined;
  /** What one call of a script may take. */
  scriptMs?: number | undefined;
  /** Where time waits for whoever decides outside; left out, such strategies are refused. */
  deciders?: Deciders | null | undefined;
}

/** @throws {ScenarioError} when a script cannot be loaded. */
export async function createAgents(
  scenario: Scenario,
  { seed, folder, scriptMs, deciders }: CreateOptions,
): Promise<CreatedAgents> {
  const changes = scenario.interventions.flatMap((one, place) =>
    one.kind === 'strategy' ? [{ key: place, strategy: one.strategy }] : [],
  );
  const all = [...scenario.agents, ...changes];
  const scripted = all.some(({ strategy }) => strategy.kind === 'script');
  const scripts = scripted ? new (await import('./script/scripts.js')).Scripts(scriptMs) : null;
  try {
    const groups = scenario.agents.map(({ group, strategy }) => ({ key: group, strategy }));
    const found = { scripts, folder, deciders };
    const strategies = await strategiesOf(groups, found);
    const changed = await strategiesOf(changes, found);
    return { agents: agentsOf(scenario, seed, strategies), changed, scripts };
  } catch (error) {
    scripts?.close();
    throw error;
  }
}

interface Found extends Pick<CreateOptions, 'folder' | 'deciders'> {
  scripts: Scripts | null;
}

/** By the names of the groups, or places of interventions: these have no measures of their own. */
async function strategiesOf<K extends string | number>(
  wanted: readonly { key: K; strategy: Wanted }[],
  { scripts, folder, deciders }: Found,
): Promise<Map<K, Strategy>> {
  const strategies = new Map<K, Strategy>();
  for (const { key, strategy } of wanted) {
    if (isExternal(strategy)) {
      const name = typeof key === 'string' ? key : `of intervention ${key}`;
      if (!deciders) throw new ScenarioError(needsVirtualTime(name, strategy.kind));
      strategies.set(key, deciders.strategyOf({ group: name, strategy }));
    } else if (strategy.kind !== 'script') strategies.set(key, createBuiltIn(strategy));
    else if (folder !== undefined) {
      const group = typeof key === 'string' ? key : null;
      strategies.set(key, await scripts!.strategyOf({ group, strategy }, folder));
    } else throw new ScenarioError(`script ${strategy.module}: its folder is not known`);
  }
  return strategies;
}

const needsVirtualTime = (group: string, kind: string) =>
  `group ${group} has the strategy ${kind}: others decide for it, and time waits for them, which ` +
  'it does in a simulation only; on a server they can take part as agents of their own';

function agentsOf(
  scenario: Scenario,
  seed: string,
  strategies: ReadonlyMap<string, Strategy>,
): ScriptedAgent[] {
  const keyOf = scenario.signatures === 'none' ? deriveUnsignedSignatory : deriveSignatory;
  const streams = new Streams(seed);
  return inhabitants(scenario).map((inhabitant): ScriptedAgent => {
    const { ordinal, capabilities, group, leaves, personality } = inhabitant;
    const rng = createAgentRng(streams, ordinal);
    return {
      ...inhabitant,
      ...(group.traits && drawsTraits(group.traits)
        ? { personality: { ...personality, ...drawnTraits(group.traits, rng) } }
        : {}),
      by: keyOf(seed, ordinal),
      strategy: strategies.get(group.group)!,
      producer: capabilities.includes('producer'),
      validator: capabilities.includes('validator'),
      joinsMs: drawn(inhabitant.joins, streams.of(ordinal, 'joining')),
      leavesMs: leaves ? drawn(leaves, streams.of(ordinal, 'leaving')) : Number.POSITIVE_INFINITY,
      joined: false,
      left: false,
      onBreak: false,
      away: false,
      turn: 0,
      votes: 0,
      proposals: 0,
      occasions: 0,
      rng,
    };
  });
}

/** An agent's own chance, out of the streams of a run. */
export function createAgentRng(streams: Streams, ordinal: number): ScriptedAgent['rng'] {
  return (purpose: string, subject?: Subject, round?: number) =>
    subject ? streams.about(ordinal, purpose, subject, round) : streams.of(ordinal, purpose);
}

const drawn = ({ startMs, overMs }: TimeSpan, rng: Stream): number =>
  startMs + (overMs === 0 ? 0 : rng.int(overMs));
