/**
 * Checks on interventions beyond the schema: moments, agents, values, modules, and contradictions
 * between interventions. Conditions and traits are checked here for the whole scenario.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Static, Value } from '../../engine/protocol/bundled/typebox.js';
import { limits } from '../../engine/protocol/limits.js';
import { fileInside } from './files.js';
import {
  momentText,
  Names,
  NETWORK_END,
  resolveWhom,
  settable,
  settablePaths,
} from './interventions.js';
import { type Finding, finding, invalid, type Problem } from './problem.js';
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
  names: Names;
  folder: string | undefined;
  /** Index in the list of interventions. */
  place: number;
}

/** Path inside the intervention, such as `whom.0.group`; empty for the whole intervention. */
type Wrong = readonly [member: string, what: Finding] | null;

export function findInterventionsProblem(
  scenario: Scenario,
  folder: string | undefined,
): Problem | null {
  const { interventions } = scenario;
  if (interventions.length === 0) return null;
  const names = new Names(scenario);
  for (const [place, one] of interventions.entries()) {
    const looking = { scenario, names, folder, place };
    const check = checks[one.kind] as (intervention: Intervention, looking: Looking) => Wrong;
    const found = findMomentProblem(one, looking) ?? check(one, looking);
    if (!found) continue;
    const [member, what] = found;
    const inside = member === '' ? [] : member.split('.');
    return { path: ['interventions', String(place), ...inside], ...what };
  }
  return contradiction(scenario, names);
}

function findMomentProblem(one: Intervention, { scenario }: Looking): Wrong {
  const given = moments.filter((moment) => one[moment] !== undefined);
  if (given.length !== 1) return ['', expectedOne(given, moments)];
  const { virtual_ms = Number.POSITIVE_INFINITY, blocks } = scenario.length;
  if (one.at_ms !== undefined && one.at_ms >= virtual_ms) {
    return ['at_ms', invalid(one.at_ms, `less than length.virtual_ms, ${virtual_ms}`)];
  }
  if (one.at_height !== undefined && blocks !== undefined && one.at_height >= blocks) {
    return ['at_height', invalid(one.at_height, `less than length.blocks, ${blocks}`)];
  }
  if (one.at_condition === undefined) return null;
  const groups = scenario.agents.map(({ group }) => group);
  const found = findConditionProblem(one.at_condition, 'at_condition', groups);
  return found && [found.path.join('.'), withoutPath(found)];
}

type Checks = { [K in InterventionKind]: (one: InterventionOf<K>, looking: Looking) => Wrong };

const checks: Checks = {
  mute: ({ meme, whom }, looking) =>
    oneOf({ meme, whom }) ?? (whom === undefined ? null : findWhomProblem(whom, looking)),
  silence: ({ whom }, looking) => findWhomProblem(whom, looking),
  remove: ({ whom }, looking) => findWhomProblem(whom, looking),
  dissolve: () => null,
  redraw: () => null,
  drop: ({ block, alliance }, looking) =>
    oneOf({ block, alliance }) ?? (block === undefined ? null : findBlockProblem(block, looking)),
  vote({ agent, block }, looking) {
    const { names } = looking;
    const found = findAgentProblem(agent, 'agent', names) ?? findBlockProblem(block, looking);
    if (found) return found;
    const { name, capabilities } = names.all[names.ordinalOf(agent)]!;
    if (capabilities.includes('validator')) return null;
    return ['agent', finding('NOT_VALIDATOR', { name })];
  },
  strategy({ whom, strategy }, looking) {
    const found = findWhomProblem(whom, looking);
    if (found) return found;
    const groups = looking.scenario.agents.map(({ group }) => group);
    if (strategy.kind === 'censor' && !groups.includes(strategy.against)) {
      return ['strategy.against', invalid(strategy.against, `one of ${groups.join(', ')}`)];
    }
    if (strategy.kind !== 'script' || looking.folder === undefined) return null;
    const script = fileInside(strategy.module, looking.folder, 'a module');
    return 'why' in script ? ['strategy.module', script.what] : null;
  },
  traits({ whom, traits }, looking) {
    if (Object.keys(traits).length === 0) return ['traits', invalid('{}', 'one or more traits')];
    const found = findTraitsProblem({ agents: [{ traits }] });
    if (!found) return findWhomProblem(whom, looking);
    return [found.path.slice(2).join('.'), withoutPath(found)];
  },
  set({ path, value }) {
    const schema = settable(path);
    if (!schema) return ['path', invalid(path, `one of ${settablePaths().join(', ')}`)];
    if (!Value.Check(schema, value)) {
      return ['value', invalid(formatValue(value), describeAllowed(schema))];
    }
    const { least = 0, most = 0 } = value as { least?: number; most?: number };
    return least <= most ? null : ['value.least', invalid(least, `at most ${most}`)];
  },
  link({ between, loss, factor }, { names }) {
    for (const [index, end] of between.entries()) {
      const found = end === NETWORK_END ? null : findAgentProblem(end, `between.${index}`, names);
      if (found) return found;
    }
    const [a, b] = between.map((end) => names.ordinalOf(end));
    if (a === b) return ['between', invalid(between.join(' and '), 'two different ends')];
    if (loss !== undefined || factor !== undefined) return null;
    return ['', finding('NO_CHANGE', { expected: 'loss, factor or both' })];
  },
};

function oneOf(members: Record<string, unknown>): Wrong {
  const names = Object.keys(members);
  const given = names.filter((name) => members[name] !== undefined);
  return given.length === 1 ? null : ['', expectedOne(given, names)];
}

const expectedOne = (given: readonly string[], names: readonly string[]): Finding =>
  finding('EXPECTED_ONE', { given: given.join(' and ') || 'none', names: names.join(', ') });

const withoutPath = ({ code, text }: Problem): Finding => ({ code, text });

function findWhomProblem(whom: readonly Whom[], { scenario, names, place }: Looking): Wrong {
  const groups = scenario.agents.map(({ group }) => group);
  for (const [index, selector] of whom.entries()) {
    const at = `whom.${index}`;
    const { agent, group, alliance, count, share } = selector;
    const ways = { agent, group, alliance };
    const given = (Object.keys(ways) as (keyof typeof ways)[]).filter(
      (way) => ways[way] !== undefined,
    );
    if (given.length > 1) return [at, expectedOne(given, Object.keys(ways))];
    const drawn = count !== undefined || share !== undefined;
    if (drawn && (agent !== undefined || alliance !== undefined)) {
      const expected = ['a group', 'all agents'];
      return [at, expectedOne([given[0]!, count === undefined ? 'share' : 'count'], expected)];
    }
    if (count !== undefined && share !== undefined) {
      return [at, expectedOne(['count', 'share'], ['count', 'share'])];
    }
    if (group !== undefined && !groups.includes(group)) {
      return [`${at}.group`, invalid(group, `one of ${groups.join(', ')}`)];
    }
    const found = agent === undefined ? null : findAgentProblem(agent, `${at}.agent`, names);
    if (found) return found;
  }
  if (whom.some(({ alliance }) => alliance !== undefined)) return null;
  const options = { place, seed: scenario.seed, membersOf: () => [] };
  if (resolveWhom(scenario, names, whom, options).length > 0) return null;
  return ['whom', finding('NO_AGENTS', {})];
}

function findAgentProblem(agent: Named, member: string, names: Names): Wrong {
  if (names.ordinalOf(agent) >= 0) return null;
  const last = names.all.at(-1)!;
  const known = `an ordinal up to ${last.ordinal}, or a name from ${names.all[0]!.name}`;
  return [member, invalid(agent, `${known} to ${last.name}`)];
}

/**
 * Checks a block's number. A run that ends after a number of closed blocks has at most that many
 * blocks, plus those still in voting.
 */
function findBlockProblem(block: Named, { scenario: { length } }: Looking): Wrong {
  const most = (length.blocks ?? Number.POSITIVE_INFINITY) + limits.openBlocks;
  if (typeof block === 'string' || block < most) return null;
  return ['block', invalid(block, `less than ${most} (length.blocks is ${length.blocks})`)];
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

function contradiction(scenario: Scenario, names: Names): Problem | null {
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
        return { path: ['interventions', String(place)], ...found };
      }
    }
  }
  return null;
}

/**
 * Checks that a condition has exactly one bound, and names a group only with `reputation_mean`.
 * @param groups names of all groups.
 */
export function findConditionProblem(
  { measure, group, reaches, at_least, at_most }: Static<typeof Condition>,
  path: string,
  groups: readonly string[],
): Problem | null {
  const problem = (at: string, what: Finding): Problem => ({ path: at.split('.'), ...what });
  const bounds = oneOf({ reaches, at_least, at_most });
  if (bounds) return problem(path, bounds[1]);
  if (group === undefined) return null;
  if (measure !== 'reputation_mean') {
    return problem(
      `${path}.group`,
      finding('ONLY_WITH', { condition: `measure reputation_mean, not ${measure}` }),
    );
  }
  if (groups.includes(group)) return null;
  return problem(`${path}.group`, invalid(group, `one of ${groups.join(', ')}`));
}

export function findTraitsProblem({
  agents,
}: {
  agents: readonly Pick<Scenario['agents'][number], 'traits'>[];
}): Problem | null {
  for (const [index, { traits = {} }] of agents.entries()) {
    for (const [name, trait] of Object.entries(traits)) {
      if (typeof trait === 'number') continue;
      const found = findDrawnProblem(trait, name as keyof Traits);
      if (!found) continue;
      const [member, what] = found;
      return { path: ['agents', String(index), 'traits', name, ...member], ...what };
    }
  }
  return null;
}

type Found = [member: string[], what: Finding] | null;

/** Optional parameters: the range for beta, and the weights for choice. */
const optionalMembers: Partial<Record<Drawn['distribution'], readonly string[]>> = {
  beta: ['from', 'to'],
  choice: ['weights'],
};

function findDrawnProblem({ distribution, ...members }: Drawn, name: keyof Traits): Found {
  const needed: readonly string[] = parametersOf[distribution];
  const missing = needed.find((member) => !(member in members));
  if (missing) {
    const expected = `${needed.join(' and ')} with ${distribution}`;
    return [[missing], finding('MISSING', { expected })];
  }
  const known = [...needed, ...(optionalMembers[distribution] ?? [])];
  const foreign = Object.keys(members).find((member) => !known.includes(member));
  if (foreign) {
    const expected = `${known.join(', ')} with ${distribution}`;
    return [[foreign], finding('UNKNOWN_KEY', { expected })];
  }
  return findRangeProblem(members, name) ?? findWeightsProblem(members);
}

function findRangeProblem({ from, to, values }: Partial<Drawn>, name: keyof Traits): Found {
  const { minimum, maximum } = getTraitBounds(name);
  const outside = (value: number) => value < minimum || value > maximum;
  const expected = `a number from ${minimum} to ${maximum}`;
  if (from !== undefined && outside(from)) return [['from'], invalid(from, expected)];
  if (to !== undefined && outside(to)) return [['to'], invalid(to, expected)];
  if (from !== undefined && to !== undefined && from > to) {
    return [['from'], invalid(from, `at most ${to}`)];
  }
  const wrong = (values ?? []).findIndex(outside);
  return wrong < 0 ? null : [['values', String(wrong)], invalid(values![wrong]!, expected)];
}

function findWeightsProblem({ values, weights }: Partial<Drawn>): Found {
  if (values === undefined || weights === undefined) return null;
  if (weights.length === values.length && weights.some((one) => one > 0)) return null;
  const expected = `${values.length} weights, one of them above 0`;
  return [['weights'], invalid(weights.join(', '), expected)];
}
