/** Draws the groups of agents of a swarm's scenario. */
import type { Stream } from '../rng.js';
import { personalityNames } from '../scenario/schema/personalities.js';
import type { External, Strategy } from '../scenario/schema/strategies.js';
import { between, type Raw, share, sometimes } from './terms.js';

/** In a calm scenario the first group outweighs all others by so much that its votes decide. */
const CALM_MULTIPLE = 6;

export function drawGroups(rng: Stream, calm: boolean): Raw[] {
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
  // Somebody has to make blocks, or there is nothing to see.
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
  const traits = sometimes(rng, 0.3, () => ({
    technical: percent(),
    social: percent(),
    meme: percent(),
    random: percent(),
    threshold: percent(),
    care: some(),
    memes: some(),
    remarks: some(),
    invites: some(),
    accepts: some(),
    abstains: some(),
    think_ms: sometimes(rng, 0.2, () => drawn(rng, 0, 5_000)) ?? between(rng, 0, 5_000),
  }));
  return traits ? { traits } : {};
}

/** A trait that each agent draws for itself. */
function drawn(rng: Stream, least: number, most: number): Raw {
  const distribution = rng.pick(['uniform', 'normal', 'beta', 'choice']);
  const [from, to] = [least, most * share(rng)];
  if (distribution === 'uniform') return { distribution, from, to };
  if (distribution === 'normal') return { distribution, mean: to, deviation: most * share(rng) };
  if (distribution === 'choice') return { distribution, values: [from, to], weights: [1, 2] };
  return { distribution, from, to, alpha: 0.5 + 3 * share(rng), beta: 0.5 + 3 * share(rng) };
}

type Kind = Exclude<Strategy['kind'], 'script' | External['kind']>;

/** Every strategy but scripts, which are files, and those that others decide. */
const strategies: Record<Kind, (rng: Stream, groups: readonly string[]) => Raw> = {
  personality: () => ({}),
  honest: (rng) => ({ soundness: rng.pick([100, 100, 80, 50]) }),
  equivocator: (rng) => ({ rate: share(rng), gap_ms: between(rng, 0, 3_000) }),
  bloc: (rng) => ({ honest_blocks: rng.chance(0.5) }),
  contrarian: () => ({}),
  follower: (rng) => ({ hears: between(rng, 1, 5), patience_ms: between(rng, 0, 5_000) }),
  lazy: (rng) => ({ effort: share(rng) }),
  flip_flop: () => ({}),
  meme_spammer: (rng) => ({
    memes: between(rng, 1, 8),
    stance: rng.pick(['approve', 'reject']),
  }),
  sybil: (rng) => ({ approves: share(rng) }),
  silent: () => ({}),
  vote_exhauster: (rng) => ({ every_ms: between(rng, 300, 3_000) }),
  slot_holder: (rng) => ({ every_ms: between(rng, 300, 3_000) }),
  censor: (rng, groups) => ({ against: rng.pick(groups) }),
};

function drawStrategy(rng: Stream, groups: readonly string[]): Raw {
  // A third are people as they are: many scenarios would else be nothing but attacks.
  const kinds = Object.keys(strategies) as Kind[];
  const kind = sometimes(rng, 1 / 3, () => 'personality' as const) ?? rng.pick(kinds);
  return { kind, ...strategies[kind](rng, groups) };
}
