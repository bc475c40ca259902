/** Draws the groups of agents of a swarm's scenario. */

import type { Stream } from '../rng.js';
import { personalityNames } from '../scenario/schema/personalities.js';
import type { Strategy } from '../scenario/schema/strategies.js';
import { between, type Raw, share, sometimes } from './terms.js';

/** In a calm scenario the first group outweighs all others by so much that its votes decide. */
const CALM_MULTIPLE = 6;

export function drawGroups(chance: Stream, calm: boolean): Raw[] {
  const names = Array.from({ length: between(chance, 1, 5) }, (_, index) => `g${index}`);
  if (calm) return calmGroups(chance, names);
  const room = Math.floor(60 / names.length);
  const groups = names.map((group) => ({
    group,
    count: between(chance, 1, room),
    personality: drawPersonalities(chance),
    capabilities: chance.pick([['validator'], ['validator'], ['validator', 'producer']]),
    producers: between(chance, 0, 2),
    ...drawTraits(chance),
    strategy: drawStrategy(chance, names),
  }));
  // Somebody has to make blocks, or there is nothing to see.
  groups[0]!.producers = Math.max(1, groups[0]!.producers);
  return groups;
}

function calmGroups(chance: Stream, names: readonly string[]): Raw[] {
  const others = names.slice(1).map((group) => ({
    group,
    count: between(chance, 1, 2),
    personality: drawPersonalities(chance),
    ...drawTraits(chance),
    strategy: drawStrategy(chance, names),
  }));
  const outweighed = others.reduce((sum, { count }) => sum + count, 0);
  const least = Math.max(4, CALM_MULTIPLE * outweighed);
  const count = between(chance, least, Math.max(least, 60 - outweighed));
  const main = {
    group: names[0]!,
    count,
    personality: drawPersonalities(chance),
    producers: between(chance, 1, Math.min(4, count)),
    traits: { care: 1, abstains: 0, think_ms: between(chance, 0, 500) },
    strategy: { kind: 'honest' },
  };
  return [main, ...others];
}

function drawPersonalities(chance: Stream): string[] {
  const first = chance.int(personalityNames.length);
  return personalityNames.slice(first, first + between(chance, 1, 4));
}

function drawTraits(chance: Stream): Raw {
  const traits = sometimes(chance, 300, () => ({
    technical: chance.int(101),
    social: chance.int(101),
    meme: chance.int(101),
    random: chance.int(101),
    threshold: chance.int(101),
    care: share(chance),
    memes: share(chance),
    remarks: share(chance),
    invites: share(chance),
    accepts: share(chance),
    abstains: share(chance),
    think_ms: between(chance, 0, 5_000),
  }));
  return traits ? { traits } : {};
}

type Kind = Exclude<Strategy['kind'], 'script'>;

/** Every strategy but scripts, which are files. */
const strategies: Record<Kind, (chance: Stream, groups: readonly string[]) => Raw> = {
  personality: () => ({}),
  honest: (chance) => ({ soundness: chance.pick([100, 100, 80, 50]) }),
  equivocator: (chance) => ({ rate: share(chance), gap_ms: between(chance, 0, 3_000) }),
  bloc: (chance) => ({ honest_blocks: chance.chance(500) }),
  contrarian: () => ({}),
  follower: (chance) => ({ hears: between(chance, 1, 5), patience_ms: between(chance, 0, 5_000) }),
  lazy: (chance) => ({ effort: share(chance) }),
  flip_flop: () => ({}),
  meme_spammer: (chance) => ({
    memes: between(chance, 1, 8),
    stance: chance.pick(['approve', 'reject']),
  }),
  sybil: (chance) => ({ approves: share(chance) }),
  silent: () => ({}),
  vote_exhauster: (chance) => ({ every_ms: between(chance, 300, 3_000) }),
  slot_holder: (chance) => ({ every_ms: between(chance, 300, 3_000) }),
  censor: (chance, groups) => ({ against: chance.pick(groups) }),
};

function drawStrategy(chance: Stream, groups: readonly string[]): Raw {
  // A third are people as they are: many scenarios would else be nothing but attacks.
  const kinds = Object.keys(strategies) as Kind[];
  const kind = sometimes(chance, 333, () => 'personality' as const) ?? chance.pick(kinds);
  return { kind, ...strategies[kind](chance, groups) };
}
