/**
 * A scenario's population: group sizes, and each agent's name, traits, capabilities and stay. This
 * file also resolves selectors, and lists external deciders and script modules.
 */
import type { Capability } from '../../engine/protocol/schema/primitives.js';
import { drawBeta } from '../numbers.js';
import { type Stream, Streams, sample } from '../rng.js';
import type { Selector } from './schema/network.js';
import {
  type Drawn,
  getTraitBounds,
  type Personality,
  personalities,
  type Traits,
  traitNames,
} from './schema/personalities.js';
import type { Group, Scenario } from './schema/scenario.js';
import { type External, isExternal, type Strategy } from './schema/strategies.js';

/** Agent as described by the scenario. */
export interface Inhabitant {
  readonly ordinal: number;
  readonly name: string;
  readonly group: Group;
  readonly personalityName: string;
  personality: Personality;
  readonly capabilities: readonly Capability[];
  /** Time span for joining. `leaves`, for permanent departure, is null if the agent stays. */
  readonly joins: TimeSpan;
  readonly leaves: TimeSpan | null;
}

export const nameAgent = (personality: string, ordinal: number): string =>
  `${personality}-${ordinal}`;

export type PopulationSource = Pick<Scenario, 'population' | 'agents'>;

/** Returns each group's size. A group without count and share takes the remaining agents. */
export function groupSizes({ population, agents }: PopulationSource): number[] {
  const sizes = agents.map(({ count, share }) => count ?? shareOf(population, share));
  const given = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  return sizes.map((size) => size ?? Math.max(0, population - given));
}

/** Rounds down with a tolerance: 0.29 of 100 is 29, although the product is slightly smaller. */
function shareOf(population: number, share: number | undefined): number | undefined {
  return share === undefined ? undefined : Math.floor(population * share + 1e-9);
}

/** Returns each group with its size and the ordinal of its first agent. */
export function groupSpans(scenario: PopulationSource) {
  const sizes = groupSizes(scenario);
  let first = 0;
  return scenario.agents.map((group, index) => {
    const size = sizes[index]!;
    first += size;
    return { group, size, first: first - size };
  });
}

export const inhabitants = (scenario: PopulationSource): Inhabitant[] => [
  ...eachInhabitant(scenario),
];

/** Yields a population without keeping it, because there may be a million agents. */
export function* eachInhabitant(scenario: PopulationSource): Iterable<Inhabitant> {
  for (const { group, size, first } of groupSpans(scenario)) {
    const shared = shareAmong(group);
    const producers = Math.min(group.producers, size);
    const every = producers === 0 ? 0 : Math.floor(size / producers);
    for (let place = 0; place < size; place += 1) {
      const ordinal = first + place;
      const personalityName = group.personality[place % group.personality.length]!;
      const produces = every > 0 && place % every === 0 && place / every < producers;
      yield {
        ordinal,
        name: nameAgent(personalityName, ordinal),
        group,
        personalityName,
        personality: shared.personalities.get(personalityName)!,
        capabilities: produces ? shared.producing : group.capabilities,
        ...staying(group, place, size),
      };
    }
  }
}

/** Returns the objects that the members of a group share: personalities, and capabilities. */
function shareAmong({ personality, traits, capabilities }: Group) {
  const fixed = fixedTraits(traits);
  return {
    personalities: new Map<string, Personality>(
      personality.map((name) => [name, { ...personalities[name]!, ...fixed }]),
    ),
    producing: [...new Set<Capability>([...capabilities, 'producer'])],
  };
}

/** Agents' ordinals by id. */
export class Ordinals {
  readonly #ordinals: ReadonlyMap<string, number>;
  /** Last lookup. The parts of a run look up the agent of an event one after another. */
  #last = '';
  #found: number | undefined;

  constructor(agents: readonly { id: string }[]) {
    this.#ordinals = new Map(agents.map(({ id }, ordinal) => [id, ordinal]));
  }

  get(id: string): number | undefined {
    if (id !== this.#last) {
      this.#found = this.#ordinals.get(id);
      this.#last = id;
    }
    return this.#found;
  }
}

export interface TimeSpan {
  readonly startMs: number;
  readonly overMs: number;
}

interface Waves {
  over_ms: number;
  waves: number;
  every_ms: number;
}

/** Default time span for joining. */
const USUAL: TimeSpan = { startMs: 0, overMs: 2_000 };

/** Returns an agent's stay by the agent's index in its group. */
function staying({ join, leave }: Group, place: number, size: number) {
  const span = (start: number, { over_ms, waves, every_ms }: Waves): TimeSpan => {
    const wave = Math.floor((place * waves) / size);
    return { startMs: start + wave * every_ms, overMs: over_ms };
  };
  return {
    joins: join ? span(join.start_ms, join) : USUAL,
    leaves: leave ? span(leave.at_ms, leave) : null,
  };
}

/** Returns the time by which all of a group's agents have joined. */
export function joinedByMs({ join }: Group): number {
  return join ? endOf(join.start_ms, join) : USUAL.startMs + USUAL.overMs;
}

/** Returns the time by which all of a group's agents have left, or null if they stay. */
export function leftByMs({ leave }: Group): number | null {
  return leave ? endOf(leave.at_ms, leave) : null;
}

const endOf = (start: number, { over_ms, waves, every_ms }: Waves): number =>
  start + (waves - 1) * every_ms + over_ms;

/** Returns the traits that take one value for the whole group. */
export function fixedTraits(traits: Traits = {}): Partial<Personality> {
  return Object.fromEntries(Object.entries(traits).filter(([, one]) => typeof one === 'number'));
}

/** Returns true if a trait is drawn per agent. */
export const drawsTraits = (traits: Traits = {}): boolean =>
  Object.values(traits).some((one) => typeof one !== 'number');

/** @param rngOf returns the agent's stream for a purpose. Each trait uses a separate stream. */
export function drawnTraits(
  traits: Traits,
  rngOf: (purpose: string) => Stream,
): Partial<Personality> {
  const drawn: Partial<Personality> = {};
  for (const name of traitNames) {
    const trait = traits[name];
    if (trait === undefined || typeof trait === 'number') continue;
    const { type, minimum, maximum } = getTraitBounds(name);
    const value = draws[trait.distribution](trait, rngOf(`traits/${name}`));
    const whole = type === 'integer' ? Math.round(value) : value;
    drawn[name] = Math.min(maximum, Math.max(minimum, whole));
  }
  return drawn;
}

/** Draws by distribution. Each distribution's parameters are validated with the scenario. */
const draws: Record<Drawn['distribution'], (trait: Drawn, rng: Stream) => number> = {
  uniform: ({ from = 0, to = 1 }, rng) => from + (to - from) * rng.real(),
  normal: ({ mean, deviation }, rng) => rng.normal(mean, deviation),
  beta: ({ from = 0, to = 1, alpha = 1, beta = 1 }, rng) => {
    return from + (to - from) * drawBeta(alpha, beta, rng);
  },
  choice: ({ values = [], weights }, rng) => rng.choice(values, weights),
};

/** Returns ordinals, ascending. `fault`, the fault's index, selects the random draws. */
export function selectAgents(
  scenario: Scenario,
  whom: readonly Selector[],
  fault: number,
  seed = scenario.seed,
): number[] {
  const streams = new Streams(seed);
  const hit = new Set<number>();
  for (const [place, selector] of whom.entries()) {
    const stream = streams.of('world', `fault/${fault}/${place}`);
    for (const member of drawAgents(scenario, selector, stream)) hit.add(member);
  }
  return [...hit].sort((a, b) => a - b);
}

export function drawAgents(scenario: Scenario, selector: Selector, stream: Stream): number[] {
  const { group, count, share } = selector;
  const pool = membersOf(scenario, group);
  const wanted = count ?? Math.floor(pool.length * (share ?? 1) + 1e-9);
  return sample(pool, wanted, stream);
}

/** Returns ordinals of a group's agents, or of all agents. */
const membersOf = (scenario: Scenario, name: string | undefined): number[] =>
  groupSpans(scenario)
    .filter(({ group }) => name === undefined || group.group === name)
    .flatMap(ordinalsIn);

/** Returns the ordinals of a span. */
export const ordinalsIn = ({ first, size }: { first: number; size: number }): number[] =>
  Array.from({ length: size }, (_, place) => first + place);

/** Strategy and its location in the scenario. */
export interface PlacedStrategy<S = Strategy> {
  /** Name of the group or intervention. */
  group: string;
  /** Path in the scenario. */
  path: string[];
  strategy: S;
}

type Told = Pick<Scenario, 'agents' | 'interventions'>;

/** Lists all strategies in scenario order. */
export function listStrategies({ agents, interventions }: Told): PlacedStrategy[] {
  const own = agents.map(({ group, strategy }, index) => {
    return { group, path: ['agents', String(index), 'strategy'], strategy };
  });
  const brought = interventions.flatMap((one, index) => {
    if (one.kind !== 'strategy') return [];
    const path = ['interventions', String(index), 'strategy'];
    return [{ group: `of intervention ${index}`, path, strategy: one.strategy }];
  });
  return [...own, ...brought];
}

export const listExternals = (scenario: Told): PlacedStrategy<External>[] =>
  listStrategies(scenario).flatMap(({ strategy, ...place }) =>
    isExternal(strategy) ? [{ ...place, strategy }] : [],
  );

/** Names the groups with external deciders, such as `town (http)`; empty without deciders. */
export const describeExternals = (scenario: Told): string =>
  listExternals(scenario)
    .map(({ group, strategy }) => `${group} (${strategy.kind})`)
    .join(', ');

/** Lists the paths of script modules without duplicates. */
export function scriptModules(scenario: Told): string[] {
  const modules = listStrategies(scenario).flatMap(({ strategy }) =>
    strategy.kind === 'script' ? [strategy.module] : [],
  );
  return [...new Set(modules)];
}
