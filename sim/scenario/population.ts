/**
 * The population of a scenario: the sizes of its groups, each agent's name, traits and
 * capabilities, when it joins and leaves, the agents that a selector picks, and the strategies that
 * come from outside: external deciders and modules of scripts.
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

/** One agent as the scenario describes it. */
export interface Inhabitant {
  ordinal: number;
  name: string;
  group: Group;
  personalityName: string;
  personality: Personality;
  capabilities: Capability[];
  /** Within which time of the run it joins, and leaves for good; null when it stays. */
  joins: TimeSpan;
  leaves: TimeSpan | null;
}

/** What says who lives there. */
export type PopulationSource = Pick<Scenario, 'population' | 'agents'>;

/** How many agents each group has; a group without count and share takes the rest. */
export function groupSizes({ population, agents }: PopulationSource): number[] {
  const sizes = agents.map(({ count, share }) => count ?? shareOf(population, share));
  const given = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  return sizes.map((size) => size ?? Math.max(0, population - given));
}

/** Rounded down; a share such as 0.29 of 100 is 29 although its product is a hair less. */
function shareOf(population: number, share: number | undefined): number | undefined {
  return share === undefined ? undefined : Math.floor(population * share + 1e-9);
}

export function inhabitants(scenario: PopulationSource): Inhabitant[] {
  const sizes = groupSizes(scenario);
  const all: Inhabitant[] = [];
  for (const [index, group] of scenario.agents.entries()) {
    // One for all who are alike: there may be a hundred thousand of them.
    const alike = new Map(
      group.personality.map((name) => [
        name,
        { ...personalities[name]!, ...fixedTraits(group.traits) },
      ]),
    );
    for (let place = 0; place < sizes[index]!; place += 1) {
      all.push(inhabitant(all.length, group, place, sizes[index]!, alike));
    }
  }
  return all;
}

function inhabitant(
  ordinal: number,
  group: Group,
  place: number,
  size: number,
  alike: ReadonlyMap<string, Personality>,
): Inhabitant {
  const personalityName = group.personality[place % group.personality.length]!;
  const capabilities = new Set<Capability>(group.capabilities);
  const producers = Math.min(group.producers, size);
  const every = producers === 0 ? 0 : Math.floor(size / producers);
  if (every > 0 && place % every === 0 && place / every < producers) capabilities.add('producer');
  const name = `${personalityName}-${ordinal}`;
  const personality = alike.get(personalityName)!;
  const about = { ordinal, name, group, personalityName, personality };
  return { ...about, capabilities: [...capabilities], ...staying(group, place, size) };
}

/** From an instant on, for so long. */
export interface TimeSpan {
  readonly startMs: number;
  readonly overMs: number;
}

interface Waves {
  over_ms: number;
  waves: number;
  every_ms: number;
}

/** Who says nothing of it joins within this time. */
const USUAL: TimeSpan = { startMs: 0, overMs: 2_000 };

/** Of the agent at a place in its group, from 0. */
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

/** When the last of a group has joined: all have by then. */
export function joinedByMs({ join }: Group): number {
  return join ? endOf(join.start_ms, join) : USUAL.startMs + USUAL.overMs;
}

/** When the last of a group has left; null when they stay. */
export function leftByMs({ leave }: Group): number | null {
  return leave ? endOf(leave.at_ms, leave) : null;
}

const endOf = (start: number, { over_ms, waves, every_ms }: Waves): number =>
  start + (waves - 1) * every_ms + over_ms;

/** Traits that are the same for a whole group. */
export function fixedTraits(traits: Traits = {}): Partial<Personality> {
  return Object.fromEntries(Object.entries(traits).filter(([, one]) => typeof one === 'number'));
}

/** Whether a group draws any. */
export const drawsTraits = (traits: Traits = {}): boolean =>
  Object.values(traits).some((one) => typeof one !== 'number');

/** @param rngOf the agent's stream for a purpose: each trait has one, none shifts another. */
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

/** Which members a distribution needs is checked on the way in. */
const draws: Record<Drawn['distribution'], (trait: Drawn, rng: Stream) => number> = {
  uniform: ({ from = 0, to = 1 }, rng) => from + (to - from) * rng.real(),
  normal: ({ mean, deviation }, rng) => rng.normal(mean, deviation),
  beta: ({ from = 0, to = 1, alpha = 1, beta = 1 }, rng) => {
    return from + (to - from) * drawBeta(alpha, beta, rng);
  },
  choice: ({ values = [], weights }, rng) => rng.choice(values, weights),
};

/** Ordinals, ascending. `fault` is the fault's place in the scenario: it names the draw. */
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

/** Whom one selector names. */
export function drawAgents(scenario: Scenario, selector: Selector, stream: Stream): number[] {
  const { group, count, share } = selector;
  const pool = membersOf(scenario, group);
  const wanted = count ?? Math.floor(pool.length * (share ?? 1) + 1e-9);
  return sample(pool, wanted, stream);
}

/** Ordinals of a group, or of all. */
function membersOf(scenario: Scenario, group: string | undefined): number[] {
  const ordinals: number[] = [];
  let first = 0;
  for (const [index, size] of groupSizes(scenario).entries()) {
    const named = group === undefined || scenario.agents[index]!.group === group;
    for (let place = 0; named && place < size; place += 1) ordinals.push(first + place);
    first += size;
  }
  return ordinals;
}

/** A strategy of a scenario, wherever it stands. */
interface Placed<S> {
  /** The group, or the intervention, that has it. */
  group: string;
  /** Where it stands. */
  path: string[];
  strategy: S;
}

type Told = Pick<Scenario, 'agents' | 'interventions'>;

/** In the order of the scenario. */
export function listStrategies({ agents, interventions }: Told): Placed<Strategy>[] {
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

export const listExternals = (scenario: Told): Placed<External>[] =>
  listStrategies(scenario).flatMap(({ strategy, ...place }) =>
    isExternal(strategy) ? [{ ...place, strategy }] : [],
  );

/** Each once, by its path in the scenario. */
export function scriptModules({ agents, interventions }: Scenario): string[] {
  const strategies = [
    ...agents.map(({ strategy }) => strategy),
    ...interventions.flatMap((one) => (one.kind === 'strategy' ? [one.strategy] : [])),
  ];
  const modules = strategies.flatMap((one) => (one.kind === 'script' ? [one.module] : []));
  return [...new Set(modules)];
}
