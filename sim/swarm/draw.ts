/**
 * Draws a complete scenario from a number, which alone determines all settings. The scenarios are
 * small, so a run takes well under a second.
 */
import { weightings } from '../../engine/protocol/schema/genesis.js';
import { type Stream, Streams } from '../rng.js';
import { completeScenario } from '../scenario/complete.js';
import { latencyLawNames, latencyLaws } from '../scenario/schema/latency.js';
import type { Fault } from '../scenario/schema/network.js';
import {
  getTraitBounds,
  personalityNames,
  type Traits,
  traitNames,
} from '../scenario/schema/personalities.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { External, Strategy } from '../scenario/schema/strategies.js';

/** Drawn scenario, as written in a file and as completed. */
export interface DrawnScenario {
  raw: Raw;
  scenario: Scenario;
}

export function draw(number: number): DrawnScenario {
  const streams = new Streams(`swarm/${number}`);
  const rng = (part: string): Stream => streams.of('world', part);
  // Half the scenarios are calm, so that lack of progress is a failure.
  const calm = rng('temper').chance(0.5);
  const drawn = drawGroups(rng('agents'), calm);
  const staying = calm ? drawn : withStays(rng('stays'), drawn);
  const { links: uplink, groups } = drawUplinks(rng('uplinks'), staying);
  const period = rng('period').pick([500, 1_000, 3_000, 10_000]) * (calm ? 4 : 1);
  const raw: Raw = {
    title: `swarm ${number}`,
    seed: `${number}`,
    signatures: rng('signatures').pick(['verified', 'verified', 'unverified', 'none']),
    limits: rng('limits').pick(['off', 'off', 'spec']),
    agents: groups,
    producers: drawProducing(rng('producers'), calm),
    social: drawSocial(rng('social')),
    topology: drawTopology(rng('topology')),
    links: { ...drawLinks(rng('links'), groups, calm), ...uplink },
    consensus: drawConsensus(rng('consensus'), groups, period, calm),
    length: { ...drawEnd(rng('length'), calm), virtual_ms: 80 * period },
    patience_periods: between(rng('patience'), 10, calm ? 40 : 20),
    faults: drawFaults(rng('faults'), groups, period, calm),
  };
  try {
    return { raw, scenario: completeScenario(raw) };
  } catch (cause) {
    // An invalid drawn scenario is a bug in this module.
    const why = (cause as Error).message;
    throw new Error(`swarm seed ${number} draws an invalid scenario: ${why}`, { cause });
  }
}

/** Draws the end. In calm scenarios, blocks that expire during a fault must not end the run. */
function drawEnd(rng: Stream, calm: boolean): Raw {
  const blocks = between(rng, 3, 12);
  return calm ? { until: { measure: 'finalized', reaches: blocks } } : { blocks };
}

function drawProducing(rng: Stream, calm: boolean): Raw {
  const least = between(rng, calm ? 1 : 0, 3);
  return {
    schedule: rng.pick(['open', 'round_robin', 'random']),
    block_interval_ms: calm ? between(rng, 500, 2_000) : between(rng, 100, 6_000),
    transactions: { least, most: least + between(rng, 0, 4) },
    senders: rng.pick(['own', 'neighbours']),
    memes: share(rng),
    insist: rng.chance(0.3),
  };
}

function drawSocial(rng: Stream): Raw {
  const rate = () => ({ rate: rng.pick([0, 0.5, 1, 3]) });
  return {
    memes: rate(),
    discussion: rate(),
    alliances: {
      ...rate(),
      duration_ms: between(rng, 60_000, 200_000),
      most: between(rng, 1, 5),
      invited: between(rng, 1, 8),
    },
    breaks: rate(),
    occasion_ms: between(rng, 1_000, 30_000),
  };
}

/** Topologies, without `edges`, which needs a file. */
const topologies = ['complete', 'ring', 'small_world', 'scale_free', 'erdos_renyi', 'groups'];

function drawTopology(rng: Stream): Raw {
  const kind = rng.pick(topologies);
  const probability = sometimes(rng, 0.5, () => share(rng));
  return {
    kind,
    degree: 2 * between(rng, 1, 6),
    rewired: share(rng),
    ...(kind === 'erdos_renyi' && probability !== undefined ? { probability } : {}),
  };
}

function drawLinks(rng: Stream, groups: readonly Raw[], calm: boolean): Raw {
  return {
    latency: drawLatency(rng, calm ? 100 : 1_000),
    between: sometimes(rng, 0.3, () => drawBetween(rng, groups, calm)) ?? [],
    loss: sometimes(rng, 0.5, () => between(rng, 0, calm ? 30 : 400) / 1_000) ?? 0,
    duplication: sometimes(rng, 0.5, () => share(rng)) ?? 0,
  };
}

/** Uplinks in kilobits per second, from several seconds per message to no delay. */
const uplinks = [1, 8, 64, 1_000, 200_000, 10_000_000];

/** Limits the uplinks of all agents or of some groups. Most scenarios set no limit. */
function drawUplinks(rng: Stream, groups: readonly Raw[]): { links: Raw; groups: Raw[] } {
  const drawn = (probability: number): Raw => {
    const uplink_kbps = sometimes(rng, probability, () => rng.pick(uplinks));
    return uplink_kbps === undefined ? {} : { uplink_kbps };
  };
  const own = rng.chance(0.2) ? 0.5 : 0;
  return { links: drawn(0.15), groups: groups.map((group) => ({ ...group, ...drawn(own) })) };
}

function drawBetween(rng: Stream, groups: readonly Raw[], calm: boolean): Raw[] {
  const places = [...groups.map(({ group }) => group), 'network'];
  return Array.from({ length: between(rng, 1, 4) }, () => ({
    from: rng.pick(places),
    to: rng.pick(places),
    one_way: rng.chance(0.3),
    latency: drawLatency(rng, calm ? 100 : 1_000),
  }));
}

/** Laws that need no file. */
const drawnLaws = latencyLawNames.filter((name) => latencyLaws[name].own !== 'file');

function drawLatency(rng: Stream, most: number): Raw {
  const distribution = rng.pick(drawnLaws);
  const shape = sometimes(rng, 0.5, () => 1.5 + rng.int(200) / 100);
  return {
    distribution,
    mean_ms: between(rng, 1, most),
    spread_ms: between(rng, 0, most),
    ...(latencyLaws[distribution].own === 'shape' && shape !== undefined ? { shape } : {}),
  };
}

/** Policies that the auditor predicts with its own formulas. Their order determines the draws. */
export const drawnPolicies = ['bft', 'majority', 'veto'] as const;

function drawConsensus(rng: Stream, groups: readonly Raw[], period: number, calm: boolean): Raw {
  // Agents in all groups are validators.
  const validators = groups.reduce((sum, { count }) => sum + (count as number), 0);
  return {
    policy: rng.pick(drawnPolicies),
    weights: rng.pick(weightings),
    voting_period_ms: period,
    min_validators: calm || rng.chance(0.7) ? 1 : between(rng, 1, validators),
    dormant_after: rng.pick([0, 0, 0, 1, 2, 5]),
    participation: calm ? rng.int(60) / 100 : share(rng),
    consistency: rng.pick(['conformity', 'off']),
    dormant_share: rng.pick([0, 0.3333, 0.3333, 0.5, 1]),
    leak_periods: rng.pick([0, 1, 3, 20]),
  };
}

/** Size factor for the first group in calm scenarios, which makes this group decide votes. */
const CALM_MULTIPLE = 6;

function drawGroups(rng: Stream, calm: boolean): Raw[] {
  const names = Array.from({ length: between(rng, 1, 5) }, (_, index) => `g${index}`);
  if (calm) return calmGroups(rng, names);
  const room = Math.floor(60 / names.length);
  const groups = names.map((group) => ({
    group,
    count: between(rng, 1, room),
    personality: drawPersonalities(rng),
    capabilities: rng.pick([['validator'], ['validator'], ['validator', 'producer']]),
    producers: between(rng, 0, 2),
    ...drawTraits(rng),
    strategy: drawStrategy(rng, names),
  }));
  // Without a producer, nothing would happen.
  groups[0]!.producers = Math.max(1, groups[0]!.producers);
  return groups;
}

function calmGroups(rng: Stream, names: readonly string[]): Raw[] {
  const others = names.slice(1).map((group) => ({
    group,
    count: between(rng, 1, 2),
    personality: drawPersonalities(rng),
    ...drawTraits(rng),
    strategy: drawStrategy(rng, names),
  }));
  const outweighed = others.reduce((sum, { count }) => sum + count, 0);
  const least = Math.max(4, CALM_MULTIPLE * outweighed);
  const count = between(rng, least, Math.max(least, 60 - outweighed));
  const main = {
    group: names[0]!,
    count,
    personality: drawPersonalities(rng),
    producers: between(rng, 1, Math.min(4, count)),
    traits: { care: 1, abstains: 0, think_ms: between(rng, 0, 500) },
    strategy: { kind: 'honest' },
  };
  return [main, ...others];
}

function drawPersonalities(rng: Stream): string[] {
  const first = rng.int(personalityNames.length);
  return personalityNames.slice(first, first + between(rng, 1, 4));
}

function drawTraits(rng: Stream): Raw {
  const percent = () => sometimes(rng, 0.2, () => drawn(rng, 0, 100)) ?? rng.int(101);
  const some = () => sometimes(rng, 0.2, () => drawn(rng, 0, 1)) ?? share(rng);
  const thinking = () => sometimes(rng, 0.2, () => drawn(rng, 0, 5_000)) ?? between(rng, 0, 5_000);
  const drawOne = (name: keyof Traits) =>
    getTraitBounds(name).maximum === 100 ? percent() : name === 'think_ms' ? thinking() : some();
  const traits = sometimes(rng, 0.3, () =>
    Object.fromEntries(traitNames.map((name) => [name, drawOne(name)])),
  );
  return traits ? { traits } : {};
}

/** Trait that is drawn per agent. */
function drawn(rng: Stream, least: number, most: number): Raw {
  const distribution = rng.pick(['uniform', 'normal', 'beta', 'choice']);
  const [from, to] = [least, most * share(rng)];
  if (distribution === 'uniform') return { distribution, from, to };
  if (distribution === 'normal') return { distribution, mean: to, deviation: most * share(rng) };
  if (distribution === 'choice') return { distribution, values: [from, to], weights: [1, 2] };
  return { distribution, from, to, alpha: 0.5 + 3 * share(rng), beta: 0.5 + 3 * share(rng) };
}

type Kind = Exclude<Strategy['kind'], 'ballots' | 'culture' | 'mock' | 'script' | External['kind']>;

/**
 * All strategies except scripts and ballots, which need files, cultures, which need options, and
 * external deciders.
 */
const strategies: Record<Kind, (rng: Stream, groups: readonly string[]) => Raw> = {
  personality: () => ({}),
  honest: (rng) => ({ soundness: rng.pick([100, 100, 80, 50]) }),
  equivocator: (rng) => ({ rate: share(rng), gap_ms: between(rng, 0, 3_000) }),
  bloc: (rng) => ({ honest_blocks: rng.chance(0.5) }),
  contrarian: () => ({}),
  follower: (rng) => ({ hears: between(rng, 1, 5), patience_ms: between(rng, 0, 5_000) }),
  lazy: (rng) => ({ effort: share(rng) }),
  flip_flop: () => ({}),
  meme_spammer: (rng) => ({ memes: between(rng, 1, 8), stance: rng.pick(['approve', 'reject']) }),
  sybil: (rng) => ({ approves: share(rng) }),
  silent: () => ({}),
  vote_exhauster: (rng) => ({ every_ms: between(rng, 300, 3_000) }),
  slot_holder: (rng) => ({ every_ms: between(rng, 300, 3_000) }),
  censor: (rng, groups) => ({ against: rng.pick(groups) }),
};

function drawStrategy(rng: Stream, groups: readonly string[]): Raw {
  // A third of the groups use the default strategy, so that not all scenarios are attacks.
  const kinds = Object.keys(strategies) as Kind[];
  const kind = sometimes(rng, 1 / 3, () => 'personality' as const) ?? rng.pick(kinds);
  return { kind, ...strategies[kind](rng, groups) };
}

/** Draws parameters by fault kind. */
const faultKinds: Record<Fault['kind'], (rng: Stream) => Raw> = {
  partition: (rng) => ({ direction: rng.pick(['both', 'in', 'out']) }),
  crash: () => ({}),
  pause: () => ({}),
  slow_link: (rng) => ({ factor: between(rng, 2, 50) }),
  clock_skew: (rng) => ({ skew_ms: between(rng, -3_600_000, 3_600_000) }),
  churn: (rng) => ({ stay_ms: between(rng, 1_000, 30_000), away_ms: between(rng, 1_000, 30_000) }),
};

/** Maximum start and length of faults in calm scenarios, in voting periods. */
const CALM = { start: 2, length: 3 };

function drawFaults(rng: Stream, groups: readonly Raw[], period: number, calm: boolean): Raw[] {
  return Array.from({ length: rng.pick([0, 0, 1, 1, 2, 4]) }, () => {
    const kind = rng.pick(Object.keys(faultKinds) as Fault['kind'][]);
    return {
      kind,
      start_ms: rng.int((calm ? CALM.start : 20) * period),
      length_ms: between(rng, 1, (calm ? CALM.length : 60) * period),
      whom: [drawSelector(rng, groups)],
      ...faultKinds[kind](rng),
    };
  });
}

/** Selects a group, all agents, or a non-empty count or share of them. */
function drawSelector(rng: Stream, groups: readonly Raw[]): Raw {
  const group = rng.chance(0.6) ? rng.pick(groups) : null;
  const all = group ? [group] : groups;
  const count = all.reduce((sum, one) => sum + (one.count as number), 0);
  const whom = group ? { group: group.group } : {};
  const how = rng.int(3);
  if (how === 0) return whom;
  if (how === 1) return { ...whom, count: between(rng, 1, count) };
  return { ...whom, share: Math.min(1, (1 + Math.ceil(100 * share(rng))) / 100 + 1 / count) };
}

/** Earliest departure. All agents have joined by this time. */
const LEAST_LEAVE_MS = 40_000;

/**
 * Makes some groups join late, join in waves, or leave before the end. Most groups stay throughout.
 */
function withStays(rng: Stream, groups: readonly Raw[]): Raw[] {
  const waves = () => ({
    over_ms: between(rng, 0, 5_000),
    waves: between(rng, 1, 4),
    every_ms: between(rng, 1, 5_000),
  });
  return groups.map((group) => {
    const join = sometimes(rng, 0.15, () => ({ start_ms: between(rng, 0, 20_000), ...waves() }));
    const at = () => between(rng, LEAST_LEAVE_MS, 70_000);
    const leave = sometimes(rng, 0.15, () => ({ at_ms: at(), ...waves() }));
    return { ...group, ...(join ? { join } : {}), ...(leave ? { leave } : {}) };
  });
}

/** Scenario or section as written in a file. */
export type Raw = Record<string, unknown>;

const between = (rng: Stream, least: number, most: number): number =>
  least + rng.int(most - least + 1);

/** Draws a share from 0 to 1 in hundredths, as a user would write it. */
const share = (rng: Stream): number => rng.int(101) / 100;

/** Returns `make()` with the given probability, or undefined. */
const sometimes = <T>(rng: Stream, probability: number, make: () => T): T | undefined =>
  rng.chance(probability) ? make() : undefined;
