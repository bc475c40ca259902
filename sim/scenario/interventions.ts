/** Whom the interventions of a scenario are about, as far as it can be said before the run. */
import { Streams } from '../rng.js';
import { conditionOf, conditionText } from './conditions.js';
import { type Inhabitant, inhabitants } from './population.js';
import type {
  Intervention,
  InterventionKind,
  InterventionOf,
  Named,
  Whom,
} from './schema/interventions/interventions.js';
import type { Scenario } from './schema/scenario.js';
import { drawnOf } from './select.js';

/** The network's end of a link. */
export const NETWORK_END = 'network';

/** Agents by ordinal and by name. */
export class Names {
  readonly all: readonly Inhabitant[];
  readonly #byName: ReadonlyMap<string, number>;

  constructor(scenario: Scenario) {
    this.all = inhabitants(scenario);
    this.#byName = new Map(this.all.map(({ name, ordinal }) => [name, ordinal]));
  }

  /** -1 for nobody. */
  ordinalOf(agent: Named): number {
    if (typeof agent === 'string') return this.#byName.get(agent) ?? -1;
    return agent < this.all.length ? agent : -1;
  }
}

/** Alliances are known when they are there. */
export type AllianceMembers = (alliance: Named) => readonly number[];

/** Ordinals, ascending. `place` is the intervention's place in the scenario: it names the draws. */
export function selectedBy(
  scenario: Scenario,
  names: Names,
  whom: readonly Whom[],
  { place, seed, membersOf }: { place: number; seed: string; membersOf: AllianceMembers },
): number[] {
  const streams = new Streams(seed);
  const found = new Set<number>();
  for (const [index, { agent, alliance, ...selector }] of whom.entries()) {
    const stream = streams.of('world', `intervention/${place}/${index}`);
    const those =
      agent !== undefined
        ? [names.ordinalOf(agent)]
        : alliance !== undefined
          ? membersOf(alliance)
          : drawnOf(scenario, selector, stream);
    for (const one of those) found.add(one);
  }
  return [...found].sort((a, b) => a - b);
}

/** What it is about and does, in words: `mute meme 17`, `vote of lawful-3 on block 5: reject`. */
export function interventionText(intervention: Intervention): string {
  const textOf = texts[intervention.kind] as (one: Intervention) => string;
  return textOf(intervention);
}

const texts: { [K in InterventionKind]: (one: InterventionOf<K>) => string } = {
  mute: ({ meme, whom = [] }) =>
    meme === undefined ? `mute ${whomText(whom)}` : `mute meme ${named(meme)}`,
  silence: ({ whom }) => `silence ${whomText(whom)}`,
  remove: ({ whom }) => `remove ${whomText(whom)}`,
  dissolve: ({ alliance }) => `dissolve alliance ${named(alliance)}`,
  drop: ({ block, alliance }) =>
    block === undefined ? `drop alliance ${named(alliance!)}` : `drop block ${named(block)}`,
  vote: ({ agent, block, decision }) =>
    `vote of ${agentText(agent)} on block ${named(block)}: ${decision}`,
  strategy: ({ whom, strategy }) => `strategy of ${whomText(whom)}: ${strategy.kind}`,
  traits: ({ whom, traits }) => `${Object.keys(traits).join(', ')} of ${whomText(whom)}`,
  set: ({ path, value }) => `${path} = ${JSON.stringify(value)}`,
  redraw: ({ seed }) => `redraw by ${seed}`,
  link: ({ between }) => `link of ${between.map(agentText).join(' and ')}`,
};

/** When it acts, in words: `at 60000 ms`, `at entry 17`, `at finalized at_least 3`. */
export function momentText(intervention: Intervention): string {
  const { at_ms, at_entry, at_height, at_condition } = intervention;
  if (at_ms !== undefined) return `at ${at_ms} ms`;
  if (at_entry !== undefined) return `at entry ${at_entry}`;
  if (at_height !== undefined) return `at height ${at_height}`;
  return `at ${conditionText(conditionOf(at_condition!))}`;
}

const agentText = (agent: Named) => (typeof agent === 'number' ? `agent ${agent}` : agent);

const LONGEST_ID = 16;
const named = (what: Named): string =>
  typeof what === 'number' || what.length <= LONGEST_ID
    ? `${what}`
    : `${what.slice(0, LONGEST_ID)}...`;

function whomText(whom: readonly Whom[]): string {
  const [first, ...others] = whom.map(({ agent, group, alliance, count, share }) => {
    if (agent !== undefined) return agentText(agent);
    if (alliance !== undefined) return `alliance ${named(alliance)}`;
    const some = count ?? (share === undefined ? '' : `${100 * share} %`);
    const who = group ?? 'agents';
    return some === '' ? (group ?? 'all agents') : `${some} of ${who}`;
  });
  return others.length === 0 ? first! : `${first} and ${others.length} more`;
}
