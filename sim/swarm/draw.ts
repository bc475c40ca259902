/**
 * Draws a whole scenario from a number: whatever can be set is set by chance, and the number alone
 * gives the scenario. All of them are small: a run takes well under a second.
 */
import { policies, weightings } from '../../engine/internal.js';
import { type Stream, Streams } from '../rng.js';
import { completeScenario } from '../scenario/read/complete.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { drawFaults } from './draw-faults.js';
import { drawGroups } from './draw-groups.js';
import { withStays } from './draw-stays.js';
import { between, type Raw, share, sometimes } from './terms.js';

/** A scenario as a file would hold it, and what became of it. */
export interface Drawn {
  raw: Raw;
  scenario: Scenario;
}

export function draw(number: number): Drawn {
  const streams = new Streams(`swarm/${number}`);
  const rng = (part: string): Stream => streams.of('world', part);
  // Half of them are calm: there, a network that makes no progress has failed.
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
    // Not a user's scenario but ours: a bug.
    const why = (cause as Error).message;
    throw new Error(`swarm seed ${number} draws what is no scenario: ${why}`, { cause });
  }
}

/** Blocks that expire under a fault must not end a run of which progress is expected. */
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

/** Links of a file are not drawn. */
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

/** Kilobits a second: from a message in some seconds to a message in no time. */
const uplinks = [1, 8, 64, 1_000, 200_000, 10_000_000];

/** The uplinks of all, and of some groups; most have no limit. */
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

/** Measured ones are files: a swarm draws none. */
const distributions = ['constant', 'uniform', 'normal', 'exponential', 'lognormal', 'pareto'];

function drawLatency(rng: Stream, most: number): Raw {
  const distribution = rng.pick(distributions);
  const shape = sometimes(rng, 0.5, () => 1.5 + rng.int(200) / 100);
  return {
    distribution,
    mean_ms: between(rng, 1, most),
    spread_ms: between(rng, 0, most),
    ...(distribution === 'pareto' && shape !== undefined ? { shape } : {}),
  };
}

function drawConsensus(rng: Stream, groups: readonly Raw[], period: number, calm: boolean): Raw {
  // Every group votes.
  const validators = groups.reduce((sum, { count }) => sum + (count as number), 0);
  return {
    policy: rng.pick(policies),
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
