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
import { between, type Raw, share, sometimes } from './terms.js';

/** A scenario as a file would hold it, and what became of it. */
export interface Drawn {
  raw: Raw;
  scenario: Scenario;
}

export function draw(number: number): Drawn {
  const streams = new Streams(`swarm/${number}`);
  const chance = (part: string): Stream => streams.of('world', part);
  // Half of them are calm: there, a network that makes no progress has failed.
  const calm = chance('temper').chance(500);
  const groups = drawGroups(chance('agents'), calm);
  const period = chance('period').pick([500, 1_000, 3_000, 10_000]) * (calm ? 4 : 1);
  const raw: Raw = {
    title: `swarm ${number}`,
    seed: `${number}`,
    signatures: chance('signatures').pick(['verified', 'verified', 'unverified', 'none']),
    limits: chance('limits').pick(['off', 'off', 'spec']),
    agents: groups,
    producers: drawProducing(chance('producers'), calm),
    social: drawSocial(chance('social')),
    topology: drawTopology(chance('topology')),
    links: drawLinks(chance('links'), calm),
    consensus: drawConsensus(chance('consensus'), groups, period, calm),
    length: { ...drawEnd(chance('length'), calm), virtual_ms: 80 * period },
    patience_periods: between(chance('patience'), 10, calm ? 40 : 20),
    faults: drawFaults(chance('faults'), groups, period, calm),
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
function drawEnd(chance: Stream, calm: boolean): Raw {
  const blocks = between(chance, 3, 12);
  return calm ? { until: { measure: 'finalized', reaches: blocks } } : { blocks };
}

function drawProducing(chance: Stream, calm: boolean): Raw {
  const least = between(chance, calm ? 1 : 0, 3);
  return {
    schedule: chance.pick(['open', 'round_robin', 'random']),
    block_interval_ms: calm ? between(chance, 500, 2_000) : between(chance, 100, 6_000),
    transactions: { least, most: least + between(chance, 0, 4) },
    senders: chance.pick(['own', 'neighbours']),
    memes: share(chance),
    insist: chance.chance(300),
  };
}

function drawSocial(chance: Stream): Raw {
  const rate = () => ({ rate: chance.pick([0, 0.5, 1, 3]) });
  return {
    memes: rate(),
    discussion: rate(),
    alliances: {
      ...rate(),
      duration_ms: between(chance, 60_000, 200_000),
      most: between(chance, 1, 5),
      invited: between(chance, 1, 8),
    },
    breaks: rate(),
    occasion_ms: between(chance, 1_000, 30_000),
  };
}

function drawTopology(chance: Stream): Raw {
  return {
    kind: chance.pick(['complete', 'ring', 'small_world', 'scale_free', 'groups']),
    degree: 2 * between(chance, 1, 6),
    rewired: share(chance),
  };
}

function drawLinks(chance: Stream, calm: boolean): Raw {
  const most = calm ? 100 : 1_000;
  return {
    latency: {
      distribution: chance.pick(['constant', 'uniform', 'normal', 'exponential']),
      mean_ms: between(chance, 1, most),
      spread_ms: between(chance, 0, most),
    },
    loss: sometimes(chance, 500, () => between(chance, 0, calm ? 30 : 400) / 1_000) ?? 0,
    duplication: sometimes(chance, 500, () => share(chance)) ?? 0,
  };
}

function drawConsensus(chance: Stream, groups: readonly Raw[], period: number, calm: boolean): Raw {
  // Every group votes.
  const validators = groups.reduce((sum, { count }) => sum + (count as number), 0);
  return {
    policy: chance.pick(policies),
    weights: chance.pick(weightings),
    voting_period_ms: period,
    min_validators: calm || chance.chance(700) ? 1 : between(chance, 1, validators),
    dormant_after: chance.pick([0, 0, 0, 1, 2, 5]),
    participation: calm ? chance.int(60) / 100 : share(chance),
    consistency: chance.pick(['conformity', 'off']),
    dormant_share: chance.pick([0, 0.3333, 0.3333, 0.5, 1]),
    leak_periods: chance.pick([0, 1, 3, 20]),
  };
}
