/**
 * Checks of interventions beyond their shape: their moments, agents, values and modules, and pairs
 * of them that contradict each other. Conditions and traits are checked here too, for interventions
 * and for the scenario itself.
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
import type { Problem } from './problem.js';
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
  /** The intervention's place in the list. */
  place: number;
}

/** A member of the intervention, as `whom.0.group`; '' for the whole. */
type Wrong = readonly [member: string, text: string] | null;

/** The first problem, or null. */
export function interventionsProblem(
  scenario: Scenario,
  folder: string | undefined,
): Problem | null {
  const { interventions } = scenario;
  if (interventions.length === 0) return null;
  const names = new Names(scenario);
  for (const [place, one] of interventions.entries()) {
    const looking = { scenario, names, folder, place };
    const check = checks[one.kind] as (intervention: Intervention, looking: Looking) => Wrong;
    const found = momentProblem(one, looking) ?? check(one, looking);
    if (!found) continue;
    const [member, text] = found;
    const inside = member === '' ? [] : member.split('.');
    return { path: ['interventions', String(place), ...inside], text };
  }
  return contradiction(scenario, names);
}

function momentProblem(one: Intervention, { scenario }: Looking): Wrong {
  const given = moments.filter((moment) => one[moment] !== undefined);
  if (given.length !== 1) {
    const found = given.length === 0 ? 'does not say when' : `has ${given.join(' and ')}`;
    return ['', `${found}; expected one of ${moments.join(', ')}`];
  }
  const { virtual_ms = Number.POSITIVE_INFINITY, blocks } = scenario.length;
  if (one.at_ms !== undefined && one.at_ms >= virtual_ms) {
    const end = `the run ends at length.virtual_ms, ${virtual_ms}`;
    return ['at_ms', `is ${one.at_ms}; expected less, for ${end}`];
  }
  if (one.at_height !== undefined && blocks !== undefined && one.at_height >= blocks) {
    const end = `the run ends with length.blocks, ${blocks}`;
    return ['at_height', `is ${one.at_height}; expected less, for ${end}`];
  }
  if (one.at_condition === undefined) return null;
  const groups = scenario.agents.map(({ group }) => group);
  const found = conditionProblem(one.at_condition, 'at_condition', groups);
  return found && [found.path.join('.'), found.text];
}

type Checks = { [K in InterventionKind]: (one: InterventionOf<K>, looking: Looking) => Wrong };

const checks: Checks = {
  mute: ({ meme, whom }, looking) =>
    oneOf({ meme, whom }) ?? (whom === undefined ? null : whomProblem(whom, looking)),
  silence: ({ whom }, looking) => whomProblem(whom, looking),
  remove: ({ whom }, looking) => whomProblem(whom, looking),
  dissolve: () => null,
  redraw: () => null,
  drop: ({ block, alliance }, looking) =>
    oneOf({ block, alliance }) ?? (block === undefined ? null : blockProblem(block, looking)),
  vote({ agent, block }, looking) {
    const { names } = looking;
    const found = agentProblem(agent, 'agent', names) ?? blockProblem(block, looking);
    if (found) return found;
    const { name, capabilities } = names.all[names.ordinalOf(agent)]!;
    if (capabilities.includes('validator')) return null;
    return ['agent', `is ${name}, who is no validator: only validators vote`];
  },
  strategy({ whom, strategy }, looking) {
    const found = whomProblem(whom, looking);
    if (found) return found;
    const groups = looking.scenario.agents.map(({ group }) => group);
    if (strategy.kind === 'censor' && !groups.includes(strategy.against)) {
      return ['strategy.against', `is ${strategy.against}; expected one of ${groups.join(', ')}`];
    }
    if (strategy.kind !== 'script' || looking.folder === undefined) return null;
    const script = fileInside(strategy.module, looking.folder, 'a module');
    return 'why' in script ? ['strategy.module', script.why] : null;
  },
  traits({ whom, traits }, looking) {
    if (Object.keys(traits).length === 0) return ['traits', 'are none; expected one or more'];
    const found = traitsProblem({ agents: [{ traits }] });
    return found ? [found.path.slice(2).join('.'), found.text] : whomProblem(whom, looking);
  },
  set({ path, value }) {
    const schema = settable(path);
    if (!schema) return ['path', `is ${path}; expected one of ${settablePaths().join(', ')}`];
    if (!Value.Check(schema, value)) {
      return ['value', `is ${formatValue(value)}; expected ${describeAllowed(schema)}`];
    }
    const { least = 0, most = 0 } = value as { least?: number; most?: number };
    return least <= most ? null : ['value.least', `is ${least}; expected at most ${most}`];
  },
  link({ between, loss, factor }, { names }) {
    for (const [index, end] of between.entries()) {
      const found = end === NETWORK_END ? null : agentProblem(end, `between.${index}`, names);
      if (found) return found;
    }
    const [a, b] = between.map((end) => names.ordinalOf(end));
    if (a === b) return ['between', 'are one and the same; expected two'];
    if (loss !== undefined || factor !== undefined) return null;
    return ['', 'changes nothing; expected loss, factor or both'];
  },
};

function oneOf(members: Record<string, unknown>): Wrong {
  const names = Object.keys(members);
  const given = names.filter((name) => members[name] !== undefined);
  if (given.length === 1) return null;
  return ['', `has ${given.join(' and ') || 'neither'}; expected one of ${names.join(', ')}`];
}

function whomProblem(whom: readonly Whom[], { scenario, names, place }: Looking): Wrong {
  const groups = scenario.agents.map(({ group }) => group);
  for (const [index, selector] of whom.entries()) {
    const at = `whom.${index}`;
    const { agent, group, alliance, count, share } = selector;
    const ways = { agent, group, alliance };
    const given = (Object.keys(ways) as (keyof typeof ways)[]).filter(
      (way) => ways[way] !== undefined,
    );
    if (given.length > 1) return [at, `has ${given.join(' and ')}; expected one of them`];
    const drawn = count !== undefined || share !== undefined;
    if (drawn && (agent !== undefined || alliance !== undefined)) {
      return [at, `has count or share with ${given[0]}; they are for a group, or for all`];
    }
    if (count !== undefined && share !== undefined) {
      return [at, 'has count and share; expected one of them'];
    }
    if (group !== undefined && !groups.includes(group)) {
      return [`${at}.group`, `is ${group}; expected one of ${groups.join(', ')}`];
    }
    const found = agent === undefined ? null : agentProblem(agent, `${at}.agent`, names);
    if (found) return found;
  }
  if (whom.some(({ alliance }) => alliance !== undefined)) return null;
  const options = { place, seed: scenario.seed, membersOf: () => [] };
  if (resolveWhom(scenario, names, whom, options).length > 0) return null;
  return ['whom', 'names no one: it would be about nobody'];
}

function agentProblem(agent: Named, member: string, names: Names): Wrong {
  if (names.ordinalOf(agent) >= 0) return null;
  const last = names.all.at(-1)!;
  const known = `an ordinal up to ${last.ordinal}, or a name as ${names.all[0]!.name}`;
  return [member, `is ${agent}; expected ${known} or ${last.name}`];
}

/** So many are proposed at most when the run is over: those that have closed, and open ones. */
function blockProblem(block: Named, { scenario: { length } }: Looking): Wrong {
  const most = (length.blocks ?? Number.POSITIVE_INFINITY) + limits.openBlocks;
  if (typeof block === 'string' || block < most) return null;
  const end = `the run ends with length.blocks, ${length.blocks}`;
  return ['block', `is ${block}; expected less than ${most}, for ${end}`];
}

/** What it says of what: `vote 3 17` is `reject`. */
type Claim = readonly [of: string, is: unknown];

/** The ordinals that selectors name before the run. */
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

/** The first, or null. */
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
        const text = `contradicts interventions.${before.place} at one instant: ${what}`;
        return { path: ['interventions', String(place)], text };
      }
    }
  }
  return null;
}

/**
 * Each bound may be there once; whose reputation it is, only where it is one.
 * @param groups the names of all groups.
 */
export function conditionProblem(
  { measure, group, reaches, at_least, at_most }: Static<typeof Condition>,
  path: string,
  groups: readonly string[],
): Problem | null {
  const problem = (at: string, text: string): Problem => ({ path: at.split('.'), text });
  const bounds = [reaches, at_least, at_most].filter((bound) => bound !== undefined);
  if (bounds.length !== 1) {
    const found = bounds.length === 0 ? 'has no bound' : `has ${bounds.length} bounds`;
    return problem(path, `${found}; expected one of reaches, at_least, at_most`);
  }
  if (group === undefined) return null;
  if (measure !== 'reputation_mean') {
    return problem(`${path}.group`, `is for reputation_mean; ${measure} is of the network`);
  }
  if (groups.includes(group)) return null;
  return problem(`${path}.group`, `is ${group}; expected one of ${groups.join(', ')}`);
}

/** The first problem, or null. */
export function traitsProblem({
  agents,
}: {
  agents: readonly Pick<Scenario['agents'][number], 'traits'>[];
}): Problem | null {
  for (const [index, { traits = {} }] of agents.entries()) {
    for (const [name, trait] of Object.entries(traits)) {
      if (typeof trait === 'number') continue;
      const found = drawnProblem(trait, name as keyof Traits);
      if (!found) continue;
      const [member, text] = found;
      return { path: ['agents', String(index), 'traits', name, ...member], text };
    }
  }
  return null;
}

type Found = [member: string[], text: string] | null;

/** Beta may say what 0 and 1 stand for, choice how often each. */
const optionalMembers: Partial<Record<Drawn['distribution'], readonly string[]>> = {
  beta: ['from', 'to'],
  choice: ['weights'],
};

function drawnProblem({ distribution, ...members }: Drawn, name: keyof Traits): Found {
  const needed: readonly string[] = parametersOf[distribution];
  const missing = needed.find((member) => !(member in members));
  if (missing) return [[missing], `is missing; ${distribution} needs ${needed.join(' and ')}`];
  const known = [...needed, ...(optionalMembers[distribution] ?? [])];
  const foreign = Object.keys(members).find((member) => !known.includes(member));
  if (foreign) return [[foreign], `is not of ${distribution}; expected ${known.join(', ')}`];
  return rangeProblem(members, name) ?? weightsProblem(members);
}

function rangeProblem({ from, to, values }: Partial<Drawn>, name: keyof Traits): Found {
  const { minimum, maximum } = getTraitBounds(name);
  const outside = (value: number) => value < minimum || value > maximum;
  const expected = `expected a number from ${minimum} to ${maximum}, as ${name} has`;
  if (from !== undefined && outside(from)) return [['from'], `is ${from}; ${expected}`];
  if (to !== undefined && outside(to)) return [['to'], `is ${to}; ${expected}`];
  if (from !== undefined && to !== undefined && from > to) {
    return [['from'], `is ${from}; expected at most ${to}`];
  }
  const wrong = (values ?? []).findIndex(outside);
  return wrong < 0 ? null : [['values', String(wrong)], `is ${values![wrong]}; ${expected}`];
}

function weightsProblem({ values, weights }: Partial<Drawn>): Found {
  if (values === undefined || weights === undefined) return null;
  if (weights.length === values.length && weights.some((one) => one > 0)) return null;
  return [['weights'], `are ${weights.join(', ')}; expected ${values.length}, one of them above 0`];
}
