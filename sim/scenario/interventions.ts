/**
 * Static properties of interventions: the agents that they select, their conditions, the values
 * that they can set, and their descriptions.
 */
import type { Static, TSchema } from '../../engine/protocol/bundled/typebox.js';
import { Streams } from '../rng.js';
import { drawAgents, type Inhabitant, inhabitants } from './population.js';
import { findSchema } from './schema/common.js';
import type {
  ConditionMeasure,
  Condition as Given,
  Intervention,
  InterventionKind,
  InterventionOf,
  Named,
  Whom,
} from './schema/interventions.js';
import { Scenario } from './schema/scenario.js';

/** Network's name as an end of a link. */
export const NETWORK_END = 'network';

/** Agents by ordinal or name. */
export class Names {
  readonly all: readonly Inhabitant[];
  readonly #byName: ReadonlyMap<string, number>;

  constructor(scenario: Scenario) {
    this.all = inhabitants(scenario);
    this.#byName = new Map(this.all.map(({ name, ordinal }) => [name, ordinal]));
  }

  /** Returns -1 for an unknown agent. */
  ordinalOf(agent: Named): number {
    if (typeof agent === 'string') return this.#byName.get(agent) ?? -1;
    return agent < this.all.length ? agent : -1;
  }
}

/** Members by alliance. Alliances exist only during the run. */
export type AllianceMembers = (alliance: Named) => readonly number[];

/** Returns ordinals, ascending. `place`, the intervention's index, selects the random draws. */
export function resolveWhom(
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
          : drawAgents(scenario, selector, stream);
    for (const one of those) found.add(one);
  }
  return [...found].sort((a, b) => a - b);
}

/** Describes an intervention: `mute meme 17`, `vote of lawful-3 on block 5: reject`. */
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

/** Describes an intervention's moment: `at 60000 ms`, `at entry 17`, `at finalized at_least 3`. */
export function momentText(intervention: Intervention): string {
  const { at_ms, at_entry, at_height, at_condition } = intervention;
  if (at_ms !== undefined) return `at ${at_ms} ms`;
  if (at_entry !== undefined) return `at entry ${at_entry}`;
  if (at_height !== undefined) return `at height ${at_height}`;
  return `at ${conditionText(toCondition(at_condition!))}`;
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

/** A condition with either `at_least` or `at_most`. */
export interface Condition {
  measure: ConditionMeasure;
  group?: string;
  at_least?: number;
  at_most?: number;
  held_ms: number;
  held_blocks: number;
}

/** Returns the conditions that end a run. */
export function getConditions({ until = [] }: Scenario['length']): Condition[] {
  return (Array.isArray(until) ? until : [until]).map(toCondition);
}

/** Fills in the optional members. `reaches` is short for `at_least`. */
export function toCondition(given: Static<typeof Given>): Condition {
  const { reaches, held_ms = 0, held_blocks = 0, ...rest } = given;
  return { ...rest, ...(reaches === undefined ? {} : { at_least: reaches }), held_ms, held_blocks };
}

/** Describes a condition: `reputation_mean of town at_most 40 for 60000 ms`. */
export function conditionText(condition: Condition): string {
  const { measure, group, at_least, at_most, held_ms, held_blocks } = condition;
  const whose = group === undefined ? '' : ` of ${group}`;
  const bound = at_least === undefined ? `at_most ${at_most}` : `at_least ${at_least}`;
  const held = [
    ...(held_ms > 0 ? [`${held_ms} ms`] : []),
    ...(held_blocks > 0 ? [`${held_blocks} blocks`] : []),
  ];
  return `${measure}${whose} ${bound}${held.length > 0 ? ` for ${held.join(' and ')}` : ''}`;
}

/** Sections and individual members that `set` can change. */
const settableSections = ['producers', 'social', 'links.loss', 'links.duplication'];
/** Members that can be set only as a whole. */
const settableWhole = ['producers.transactions'];

const settableSchemas = new Map(settableSections.flatMap((path) => leavesOf(path)));

function leavesOf(path: string): [string, TSchema][] {
  const schema = findSchema(Scenario, path.split('.'))!;
  const { properties } = schema as { properties?: Record<string, unknown> };
  if (!properties || settableWhole.includes(path)) return [[path, schema]];
  return Object.keys(properties).flatMap((name) => leavesOf(`${path}.${name}`));
}

export const settable = (path: string): TSchema | undefined => settableSchemas.get(path);

export const settablePaths = (): string[] => [...settableSchemas.keys()];
