/** The traits of one agent, where its group draws some of them. */
import { betaOf } from '../numbers/beta.js';
import type { Stream } from '../rng.js';
import type { Personality } from './schema/personalities.js';
import { boundsOf, type Drawn, type Traits, traitNames } from './schema/traits.js';

/** Traits that are the same for a whole group. */
export function fixedTraits(traits: Traits = {}): Partial<Personality> {
  return Object.fromEntries(Object.entries(traits).filter(([, one]) => typeof one === 'number'));
}

/** Whether a group draws any. */
export const drawsTraits = (traits: Traits = {}): boolean =>
  Object.values(traits).some((one) => typeof one !== 'number');

/** @param rngOf the agent's stream for a purpose: each trait has one, none shifts another. */
export function drawnTraits(
  traits: Traits,
  rngOf: (purpose: string) => Stream,
): Partial<Personality> {
  const drawn: Partial<Personality> = {};
  for (const name of traitNames) {
    const trait = traits[name];
    if (trait === undefined || typeof trait === 'number') continue;
    const { type, minimum, maximum } = boundsOf(name);
    const value = draws[trait.distribution](trait, rngOf(`traits/${name}`));
    const whole = type === 'integer' ? Math.round(value) : value;
    drawn[name] = Math.min(maximum, Math.max(minimum, whole));
  }
  return drawn;
}

/** Which members a distribution needs is checked on the way in. */
const draws: Record<Drawn['distribution'], (trait: Drawn, rng: Stream) => number> = {
  uniform: ({ from = 0, to = 1 }, rng) => from + (to - from) * rng.real(),
  normal: ({ mean, deviation }, rng) => rng.normal(mean, deviation),
  beta: ({ from = 0, to = 1, alpha = 1, beta = 1 }, rng) => {
    return from + (to - from) * betaOf(alpha, beta, rng);
  },
  choice: ({ values = [], weights }, rng) => rng.choice(values, weights),
};
