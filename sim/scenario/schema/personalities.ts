/**
 * The nine built-in personalities as data, and the traits with which a group departs from them: a
 * number for all of its agents, or drawn for each. A vote is the weighted mean of four opinions,
 * each 0 to 100, in percent; at `threshold` and above it approves. The other members say how lively
 * they are.
 */

import { type Static, type TSchema, Type } from '../../../engine/protocol/bundled/typebox.js';
import type { builtInPersonalities } from '../../../engine/protocol/schema/primitives.js';

/** How an agent votes, and how lively it is: a vote is the weighted mean of four opinions. */
export interface Personality {
  technical: number;
  social: number;
  meme: number;
  random: number;
  threshold: number;
  /** The share of its transactions that are sound when it produces a block. */
  care: number;
  /** The share of blocks it hears of that it makes a meme about, of votes that it argues for. */
  memes: number;
  remarks: number;
  /** The share of occasions on which it invites to an alliance; of invitations that it accepts. */
  invites: number;
  accepts: number;
  /** The share of blocks on which it does not vote. */
  abstains: number;
  /** The most it thinks before it votes, in milliseconds. */
  think_ms: number;
}

type Lively = Omit<Personality, 'technical' | 'social' | 'meme' | 'random' | 'threshold'>;

const decides = (
  [technical, social, meme, random]: [number, number, number, number],
  threshold: number,
  lively: Lively,
): Personality => ({ technical, social, meme, random, threshold, ...lively });

const lively = (
  care: number,
  [memes, remarks]: [number, number],
  [invites, accepts]: [number, number],
  think_ms: number,
): Lively => ({ care, memes, remarks, invites, accepts, abstains: 0.03, think_ms });

const builtIn: Record<(typeof builtInPersonalities)[number], Personality> = {
  lawful: decides([80, 15, 0, 5], 60, lively(0.97, [0.003, 0.006], [0.02, 0.5], 2_000)),
  rational: decides([70, 20, 5, 5], 55, lively(0.96, [0.003, 0.01], [0.03, 0.5], 2_500)),
  neutral: decides([40, 40, 10, 10], 50, lively(0.94, [0.005, 0.005], [0.015, 0.4], 2_000)),
  strategic: decides([35, 55, 5, 5], 50, lively(0.94, [0.005, 0.008], [0.08, 0.7], 3_000)),
  greedy: decides([30, 50, 10, 10], 50, lively(0.88, [0.005, 0.005], [0.06, 0.6], 1_500)),
  emotional: decides([10, 60, 20, 10], 50, lively(0.92, [0.012, 0.02], [0.04, 0.6], 1_000)),
  dramatic: decides([10, 35, 35, 20], 50, lively(0.9, [0.025, 0.025], [0.04, 0.5], 1_200)),
  memetic: decides([10, 15, 70, 5], 50, lively(0.9, [0.05, 0.01], [0.03, 0.6], 1_200)),
  chaotic: decides([5, 10, 15, 70], 50, lively(0.75, [0.015, 0.015], [0.03, 0.3], 800)),
};

/** The built-in personalities, by name. */
export const personalities: Readonly<Record<string, Personality>> = builtIn;

export const personalityNames = Object.keys(personalities);

/** What weighs in a vote, each with the weight and the opinion of that name. */
export const factors = ['technical', 'social', 'meme', 'random'] as const;
export type Factor = (typeof factors)[number];

/** The opinion of who has none: neither for nor against. */
export const NO_OPINION = 50;

/** The four opinions, each 0 to 100. */
export interface Opinions {
  technical: number;
  social: number;
  meme: number;
  random: number;
}

/** Whether the weighted opinions reach the threshold, in integers. */
export function approves(personality: Personality, opinions: Opinions): boolean {
  const sum =
    personality.technical * opinions.technical +
    personality.social * opinions.social +
    personality.meme * opinions.meme +
    personality.random * opinions.random;
  return sum >= personality.threshold * 100;
}

const number = (description: string) =>
  Type.Optional(Type.Number({ minimum: -3_600_000, maximum: 3_600_000, description }));

/** Parameters that each distribution needs; others it may not have. */
export const parametersOf = {
  uniform: ['from', 'to'],
  normal: ['mean', 'deviation'],
  beta: ['alpha', 'beta'],
  choice: ['values'],
} as const;

export const Drawn = Type.Object(
  {
    distribution: Type.Enum(['uniform', 'normal', 'beta', 'choice'], {
      description: 'drawn for each agent from its own stream, and cut at the bounds of the trait',
    }),
    from: number('uniform: the least; beta: what 0 stands for'),
    to: number('uniform: the largest; beta: what 1 stands for'),
    mean: number('normal: the mean, before what is cut'),
    deviation: Type.Optional(
      Type.Number({ minimum: 0, maximum: 3_600_000, description: 'normal: standard deviation' }),
    ),
    alpha: Type.Optional(
      Type.Number({ minimum: 0.01, maximum: 1_000, description: 'beta: its first parameter' }),
    ),
    beta: Type.Optional(
      Type.Number({ minimum: 0.01, maximum: 1_000, description: 'beta: its second parameter' }),
    ),
    values: Type.Optional(
      Type.Array(Type.Number({ minimum: 0, maximum: 3_600_000 }), {
        minItems: 1,
        maxItems: 1_000,
        description: 'choice: one of these',
      }),
    ),
    weights: Type.Optional(
      Type.Array(Type.Number({ minimum: 0, maximum: 1e9 }), {
        minItems: 1,
        maxItems: 1_000,
        description: 'choice: how often each, left out: all alike',
      }),
    ),
  },
  { additionalProperties: false, description: 'a trait that differs from agent to agent' },
);

const trait = <T extends TSchema>(plain: T, description: string) =>
  Type.Optional(Type.Union([plain, Drawn], { description }));

const percent = (description: string) =>
  trait(Type.Integer({ minimum: 0, maximum: 100 }), description);
const share = (description: string) =>
  trait(Type.Number({ minimum: 0, maximum: 1 }), `share ${description}`);

export const Traits = Type.Object(
  {
    technical: percent('weight of what is in it'),
    social: percent("weight of the neighbours' votes"),
    meme: percent('weight of the memes heard'),
    random: percent('weight of a whim'),
    threshold: percent('approves at this mean opinion and above'),
    care: share('of its transactions that are sound when it produces'),
    memes: share('of blocks it hears of that it makes a meme about'),
    remarks: share('of its votes that it also argues for aloud'),
    invites: share('of occasions on which it invites neighbours to an alliance'),
    accepts: share('of invitations that it accepts'),
    abstains: share('of blocks on which it does not vote'),
    think_ms: trait(
      Type.Integer({ minimum: 0, maximum: 3_600_000 }),
      'the most it thinks before it votes',
    ),
  },
  {
    additionalProperties: false,
    description: "what differs from the personality's own traits",
  },
);

export type Drawn = Static<typeof Drawn>;
export type Traits = Static<typeof Traits>;

interface Bounds {
  type: 'integer' | 'number';
  minimum: number;
  maximum: number;
}

/** What values a trait may have. */
export const getTraitBounds = (name: keyof Traits): Bounds =>
  (Traits.properties[name] as unknown as { anyOf: [Bounds] }).anyOf[0];

export const traitNames = Object.keys(Traits.properties) as (keyof Traits)[];
