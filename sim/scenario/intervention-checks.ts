/**
 * Checks on interventions beyond the schema: moments, agents, values, modules, and contradictions
 * between interventions. Conditions and traits are checked here for the whole scenario.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Static, Value } from '../../engine/protocol/bundled/typebox.js';
import { limits } from '../../engine/protocol/limits.js';
import {
  momentText,
  Names,
  NETWORK_END,
  resolveWhom,
  settable,
  settablePaths,
} from './interventions.js';
import {
  at,
  type Finding,
  finding,
  invalid,
  missing,
  onlyWith,
  type Problems,
  unlessOneOf,
  within,
} from './problem.js';
import { describeAllowed } from './schema/common.js';
import {
  type Condition,
  type Intervention,
  type InterventionKind,
  type InterventionOf,
  moments,
  type Named,
  type Whom,
} from './schema/interventions.js';
import { type Drawn, getTraitBounds, parametersOf, type Traits } from './schema/personalities.js';
import type { Scenario } from './schema/scenario.js';
import { formatValue } from './shape.js';

interface Looking {
  scenario: Scenario;
  groups: readonly string[];
  names: Names;
  folder: string | undefined;
  /** Index in the list of interventions. */
  place: number;
}

export function* interventionProblems(scenario: Scenario, folder: string | undefined): Problems {
  const { interventions } = scenario;
  if (interventions.length === 0) return;
  const names = new Names(scenario);
  const groups = scenario.agents.map(({ group }) => group);
  for (const [place, one] of interventions.entries()) {
    const looking = { scenario, groups, names, folder, place };
    const check = checks[one.kind] as (intervention: Intervention, looking: Looking) => Problems;
    const path = ['interventions', String(place)];
    yield* within(path, momentProblems(one, looking));
    yield* within(path, check(one, looking));
  }
  yield* contradictions(scenario, names);
}

function* momentProblems(one: Intervention, { scenario, groups }: Looking): Problems {
  yield* oneOf(Object.fromEntries(moments.map((moment) => [moment, one[moment]])));
  const { virtual_ms = Number.POSITIVE_INFINITY, blocks = Number.POSITIVE_INFINITY } =
    scenario.length;
  const { at_ms = 0, at_height = 0, at_condition } = one;
  if (at_ms >= virtual_ms) {
    yield at('at_ms', invalid(at_ms, `less than length.virtual_ms, ${virtual_ms}`));
  }
  if (at_height >= blocks) {
    yield at('at_height', invalid(at_height, `less than length.blocks, ${blocks}`));
  }
  if (at_condition) yield* within(['at_condition'], conditionProblems(at_condition, groups));
}

type Checks = { [K in InterventionKind]: (one: InterventionOf<K>, looking: Looking) => Problems };

const checks: Checks = {
  *mute({ meme, whom }, looking) {
    yield* oneOf({ meme, whom });
    if (whom) yield* whomProblems(whom, looking);
  },
  silence: ({ whom }, looking) => whomProblems(whom, looking),
  remove: ({ whom }, looking) => whomProblems(whom, looking),
  dissolve: () => [],
  redraw: () => [],
  *drop({ block, alliance }, looking) {
    yield* oneOf({ block, alliance });
    if (block !== undefined) yield* blockProblems(block, looking);
  },
  *vote({ agent, block }, looking) {
    const { names } = looking;
    yield* agentProblems(agent, 'agent', names);
    yield* blockProblems(block, looking);
    const { name, capabilities } = names.all[names.ordinalOf(agent)]!;
    if (!capabilities.includes('validator')) yield at('agent', finding('NOT_VALIDATOR', { name }));
  },
  strategy: ({ whom }, looking) => whomProblems(whom, looking),
  *traits({ whom, traits }, looking) {
    if (Object.keys(traits).length === 0) yield at('traits', invalid('{}', 'one or more traits'));
    yield* within(['traits'], drawnProblems(traits));
    yield* whomProblems(whom, looking);
  },
  *set({ path, value }) {
    const schema = settable(path);
    if (!schema) return yield at('path', invalid(path, `one of ${settablePaths().join(', ')}`));
    if (!Value.Check(schema, value)) {
      yield at('value', invalid(formatValue(value), describeAllowed(schema)));
    }
    const { least = 0, most = 0 } = value as { least?: number; most?: number };
    if (least > most) yield at('value.least', invalid(least, `at most ${most}`));
  },
  *link({ between, loss, factor }, { names }) {
    for (const [index, end] of between.entries()) {
      if (end !== NETWORK_END) yield* agentProblems(end, `between.${index}`, names);
    }
    const [a, b] = between.map((end) => names.ordinalOf(end));
    if (a === b) yield at('between', invalid(between.join(' and '), 'two different ends'));
    if (loss !== undefined || factor !== undefined) return;
    yield at('', finding('NO_CHANGE', { expected: 'loss, factor or both' }));
  },
};

function* oneOf(members: Record<string, unknown>): Problems {
  const names = Object.keys(members);
  const given = names.filter((name) => members[name] !== undefined);
  if (given.length !== 1) yield at('', expectedOne(given, names));
}

const expectedOne = (given: readonly string[], names: readonly string[]): Finding =>
  finding('EXPECTED_ONE', { given: given.join(' and ') || 'none', names: names.join(', ') });

function* whomProblems(
  whom: readonly Whom[],
  { scenario, groups, names, place }: Looking,
): Problems {
  for (const [index, selector] of whom.entries()) {
    const path = `whom.${index}`;
    const { agent, group, alliance, count, share } = selector;
    const ways = { agent, group, alliance };
    const given = (Object.keys(ways) as (keyof typeof ways)[]).filter(
      (way) => ways[way] !== undefined,
    );
    if (given.length > 1) yield at(path, expectedOne(given, Object.keys(ways)));
    const drawn = count !== undefined || share !== undefined;
    if (drawn && (agent !== undefined || alliance !== undefined)) {
      const expected = ['a group', 'all agents'];
      yield at(path, expectedOne([given[0]!, count === undefined ? 'share' : 'count'], expected));
    }
    if (count !== undefined && share !== undefined) {
      yield at(path, expectedOne(['count', 'share'], ['count', 'share']));
    }
    if (group !== undefined) yield* unlessOneOf(`${path}.group`, group, groups);
    if (agent !== undefined) yield* agentProblems(agent, `${path}.agent`, names);
  }
  if (whom.some(({ alliance }) => alliance !== undefined)) return;
  const options = { place, seed: scenario.seed, membersOf: () => [] };
  if (resolveWhom(scenario, names, whom, options).length > 0) return;
  yield at('whom', finding('NO_AGENTS', {}));
}

function* agentProblems(agent: Named, member: string, names: Names): Problems {
  if (names.ordinalOf(agent) >= 0) return;
  const last = names.all.at(-1)!;
  const known = `an ordinal up to ${last.ordinal}, or a name from ${names.all[0]!.name}`;
  yield at(member, invalid(agent, `${known} to ${last.name}`));
}

/**
 * Checks a block's number. A run that ends after a number of closed blocks has at most that many
 * blocks, plus those still in voting.
 */
function* blockProblems(block: Named, { scenario: { length } }: Looking): Problems {
  const most = (length.blocks ?? Number.POSITIVE_INFINITY) + limits.openBlocks;
  if (typeof block === 'string' || block < most) return;
  yield at('block', invalid(block, `less than ${most} (length.blocks is ${length.blocks})`));
}

/** Subject, and the state that an intervention requires it to take: `['block 17', 'dropped']`. */
type Claim = readonly [of: string, is: unknown];

/** Resolves selectors to ordinals before the run. Alliances are not known yet. */
type Of = (whom: readonly Whom[]) => number[];

type Claims = {
  [K in InterventionKind]: (one: InterventionOf<K>, of: Of, names: Names) => Claim[];
};

const claims: Claims = {
  mute: () => [],
  dissolve: () => [],
  redraw: ({ seed }) => [['chance', seed]],
  silence: ({ whom }, of) => of(whom).map((agent) => [`agent ${agent}`, 'silent']),
  remove: ({ whom }, of) => of(whom).map((agent) => [`agent ${agent}`, 'gone']),
  drop: ({ block }) => (block === undefined ? [] : [[`block ${block}`, 'dropped']]),
  vote({ agent, block, decision }, _, names) {
    const voter = names.ordinalOf(agent);
    return [
      [`vote of agent ${voter} on block ${block}`, decision],
      ...(decision === 'none' ? [] : ([[`agent ${voter}`, 'a voter']] as const)),
      [`block ${block}`, 'voted on'],
    ];
  },
  strategy: ({ whom, strategy }, of) =>
    of(whom).map((agent) => [`strategy of agent ${agent}`, strategy]),
  traits: ({ whom, traits }, of) =>
    of(whom).flatMap((agent) =>
      Object.entries(traits).map(([name, value]) => [`${name} of agent ${agent}`, value] as const),
    ),
  set: ({ path, value }) => [[path, value]],
  link({ between, loss, factor }, _, names) {
    const ends = between.map((end) => names.ordinalOf(end)).sort((a, b) => a - b);
    const link = `link of ${ends.join(' and ')}`;
    return [
      ...(loss === undefined ? [] : ([[`loss, ${link}`, loss]] as const)),
      ...(factor === undefined ? [] : ([[`factor, ${link}`, factor]] as const)),
    ];
  },
};

function* contradictions(scenario: Scenario, names: Names): Problems {
  const said = new Map<string, { is: unknown; place: number }>();
  for (const [place, intervention] of scenario.interventions.entries()) {
    if (intervention.acts === false) continue;
    const claimsOf = claims[intervention.kind] as (...of: [Intervention, Of, Names]) => Claim[];
    const options = { place, seed: scenario.seed, membersOf: () => [] };
    const of: Of = (whom) => resolveWhom(scenario, names, whom, options);
    for (const [what, is] of claimsOf(intervention, of, names)) {
      const key = `${momentText(intervention)} ${what}`;
      const before = said.get(key);
      if (!before) said.set(key, { is, place });
      else if (!isDeepStrictEqual(before.is, is)) {
        const found = finding('CONTRADICTION', { other: before.place, subject: what });
        yield at(`interventions.${place}`, found);
      }
    }
  }
}

/**
 * Checks that a condition has exactly one bound, and names a group only with `reputation_mean`.
 * @param groups names of all groups.
 */
export function* conditionProblems(
  { measure, group, reaches, at_least, at_most }: Static<typeof Condition>,
  groups: readonly string[],
): Problems {
  yield* oneOf({ reaches, at_least, at_most });
  if (group === undefined) return;
  if (measure !== 'reputation_mean') {
    yield at('group', onlyWith(`measure reputation_mean, not ${measure}`));
  }
  yield* unlessOneOf('group', group, groups);
}

export function* traitProblems({ agents }: Scenario): Problems {
  for (const [index, { traits }] of agents.entries()) {
    yield* within(['agents', String(index), 'traits'], drawnProblems(traits));
  }
}

function* drawnProblems(traits: Traits = {}): Problems {
  for (const [name, trait] of Object.entries(traits)) {
    if (typeof trait === 'number') continue;
    const { distribution, ...members } = trait;
    yield* within([name], parameterProblems(distribution, members));
    yield* within([name], rangeProblems(members, name as keyof Traits));
    yield* within([name], weightProblems(members));
  }
}

/** Optional parameters: the range for beta, and the weights for choice. */
const optionalMembers: Partial<Record<Drawn['distribution'], readonly string[]>> = {
  beta: ['from', 'to'],
  choice: ['weights'],
};

function* parameterProblems(distribution: Drawn['distribution'], members: object): Problems {
  const needed: readonly string[] = parametersOf[distribution];
  const lacking = needed.find((member) => !(member in members));
  if (lacking) yield at(lacking, missing(`${needed.join(' and ')} with ${distribution}`));
  const known = [...needed, ...(optionalMembers[distribution] ?? [])];
  const foreign = Object.keys(members).find((member) => !known.includes(member));
  if (!foreign) return;
  const expected = `${known.join(', ')} with ${distribution}`;
  yield at(foreign, finding('UNKNOWN_KEY', { expected }));
}

function* rangeProblems({ from, to, values = [] }: Partial<Drawn>, name: keyof Traits): Problems {
  const { minimum, maximum } = getTraitBounds(name);
  const outside = (value: number) => value < minimum || value > maximum;
  const expected = `a number from ${minimum} to ${maximum}`;
  if (from !== undefined && outside(from)) yield at('from', invalid(from, expected));
  if (to !== undefined && outside(to)) yield at('to', invalid(to, expected));
  if (from !== undefined && to !== undefined && from > to) {
    yield at('from', invalid(from, `at most ${to}`));
  }
  const wrong = values.findIndex(outside);
  if (wrong >= 0) yield at(`values.${wrong}`, invalid(values[wrong]!, expected));
}

function* weightProblems({ values, weights }: Partial<Drawn>): Problems {
  if (values === undefined || weights === undefined) return;
  if (weights.length === values.length && weights.some((one) => one > 0)) return;
  const expected = `${values.length} weights, one of them above 0`;
  yield at('weights', invalid(weights.join(', '), expected));
}
