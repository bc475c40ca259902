/** Who lives in a scenario: the groups' sizes, and each agent's name, traits and capabilities. */
import type { Capability } from '../../engine/internal.js';
import { type Personality, personalities } from './schema/personalities.js';
import type { Group, Scenario } from './schema/scenario.js';
import { type Span, staying } from './staying.js';
import { fixedTraits } from './traits.js';

/** One agent as the scenario describes it. */
export interface Inhabitant {
  ordinal: number;
  name: string;
  group: Group;
  personalityName: string;
  personality: Personality;
  capabilities: Capability[];
  /** Within which time of the run it joins, and leaves for good; null when it stays. */
  joins: Span;
  leaves: Span | null;
}

/** What says who lives there. */
export type Peopled = Pick<Scenario, 'population' | 'agents'>;

/** How many agents each group has; a group without count and share takes the rest. */
export function groupSizes({ population, agents }: Peopled): number[] {
  const sizes = agents.map(({ count, share }) => count ?? shareOf(population, share));
  const given = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  return sizes.map((size) => size ?? Math.max(0, population - given));
}

/** Rounded down; a share such as 0.29 of 100 is 29 although its product is a hair less. */
function shareOf(population: number, share: number | undefined): number | undefined {
  return share === undefined ? undefined : Math.floor(population * share + 1e-9);
}

export function inhabitants(scenario: Peopled): Inhabitant[] {
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
