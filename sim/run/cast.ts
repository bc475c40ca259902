/** Makes the agents of a scenario, and calls each for the first time. */
import { agentId } from '../../engine/protocol/signing.js';
import { firstTurnAt, takeTurn } from '../agents/actions/turns.js';
import { signatoryOf, unsignedSignatoryOf } from '../agents/keys.js';
import type { ScriptedAgent, Strategy } from '../agents/port/agent.js';
import type { World } from '../agents/port/world.js';
import { loadScript } from '../agents/script/index.js';
import { builtIn } from '../agents/strategies/index.js';
import type { MeasuredAgent } from '../measure/index.js';
import { type Stream, Streams } from '../rng.js';
import { inhabitants } from '../scenario/population.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Faults } from '../world/links/faults.js';

/** Agents join within this time. */
const JOIN_MS = 2_000;

export interface Cast {
  agents: ScriptedAgent[];
  /** sha256 of each script module, by its path in the scenario. */
  modules: Record<string, string>;
}

/**
 * @param folder where modules of scripts are found.
 * @throws {ScenarioError} when a script cannot be loaded.
 */
export async function castOf(scenario: Scenario, seed: string, folder?: string): Promise<Cast> {
  const modules: Record<string, string> = {};
  const strategies = new Map<string, Strategy>();
  for (const { group, strategy } of scenario.agents) {
    if (strategy.kind !== 'script') strategies.set(group, builtIn(strategy));
    else {
      if (folder === undefined) {
        throw new ScenarioError(`script ${strategy.module}: its folder is not known`);
      }
      const loaded = await loadScript(strategy, folder);
      strategies.set(group, loaded.strategy);
      modules[strategy.module] = loaded.sha256;
    }
  }
  const keyOf = scenario.signatures === 'none' ? unsignedSignatoryOf : signatoryOf;
  const streams = new Streams(seed);
  const agents = inhabitants(scenario).map((inhabitant): ScriptedAgent => {
    const { ordinal, capabilities, group } = inhabitant;
    return {
      ...inhabitant,
      by: keyOf(seed, ordinal),
      strategy: strategies.get(group.group)!,
      producer: capabilities.includes('producer'),
      validator: capabilities.includes('validator'),
      joined: false,
      onBreak: false,
      away: false,
      turn: 0,
      votes: 0,
      chance: (purpose) => streams.of(ordinal, purpose),
    };
  });
  return { agents, modules };
}

/** The first calls: joining, producing, and whatever faults call for. */
export function begin(
  agents: readonly ScriptedAgent[],
  world: World,
  faults: Faults,
  seed: string,
) {
  const streams = new Streams(seed);
  const joining = streams.of('world', 'joining');
  for (const agent of agents) {
    world.wake(agent.ordinal, world.startMs + joining.int(JOIN_MS), { what: 'join' });
    if (agent.producer) takeTurn(agent, world, firstTurnAt(agent, world));
  }
  for (const { members, end } of faults.of('crash')) {
    for (const member of members) world.wake(member, end, { what: 'restart' });
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

/** Leaves and returns, spaced by chance around their means; at the end it is back. */
function comeAndGo(agent: number, world: World, churn: Churn, stream: Stream): void {
  const around = (mean: number) => Math.ceil(mean / 2) + stream.int(mean);
  let at = churn.start + stream.int(churn.stay_ms);
  while (at < churn.end) {
    const back = Math.min(at + around(churn.away_ms), churn.end);
    world.wake(agent, at, { what: 'leave' });
    world.wake(agent, back, { what: 'return' });
    at = back + around(churn.stay_ms);
  }
}

export function measured(agents: readonly ScriptedAgent[]): MeasuredAgent[] {
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
