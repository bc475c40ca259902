/**
 * The nine built-in personalities, and the traits by which a group can differ from them. A trait is
 * one number for the whole group, or drawn per agent. A vote is the weighted mean of four opinions,
 * each from 0 to 100. The agent approves at `threshold` and above. The other members are activity
 * rates.
 */
import { type Static, type TSchema, Type } from '../../../engine/protocol/bundled/typebox.js';
import type { builtInPersonalities } from '../../../engine/protocol/schema/primitives.js';
import { about, numberFrom, strictly } from './common.js';

/** Weights of the four opinions in a vote, and activity rates. */
export interface Personality {
  technical: number;
  social: number;
  meme: number;
  random: number;
  threshold: number;
  /** Share of sound transactions in the agent's blocks. */
  care: number;
  /** Share of received blocks that the agent posts a meme about, and of votes with a remark. */
  memes: number;
  remarks: number;
  /** Share of occasions on which the agent invites, and share of invitations that it accepts. */
  invites: number;
  accepts: number;
  /** Share of blocks on which the agent does not vote. */
  abstains: number;
  /** Maximum delay before a vote, in milliseconds. */
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

/** Built-in personalities by name. */
export const personalities: Readonly<Record<string, Personality>> = builtIn;

export const personalityNames = Object.keys(personalities);

/** Names of the weights and opinions in a vote. */
export const factors = ['technical', 'social', 'meme', 'random'] as const;
export type Factor = (typeof factors)[number];

/** Neutral opinion. */
export const NO_OPINION = 50;

/** Opinions from 0 to 100. */
export type Opinions = Pick<Personality, Factor>;

/** Returns true if the weighted mean reaches the threshold. Uses only integers. */
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

/** Required parameters of each distribution. */
export const parametersOf = {
  uniform: ['from', 'to'],
  normal: ['mean', 'deviation'],
  beta: ['alpha', 'beta'],
  choice: ['values'],
} as const;

export const Drawn = Type.Object(
  {
    distribution: Type.Enum(['uniform', 'normal', 'beta', 'choice'], {
      description: 'distribution, drawn once per agent and clamped to the range of the trait',
    }),
    from: number('uniform: minimum; beta: value at 0'),
    to: number('uniform: maximum; beta: value at 1'),
    mean: number('normal: mean before clamping'),
    deviation: Type.Optional(numberFrom(0, 3_600_000, 'normal: standard deviation')),
    alpha: Type.Optional(numberFrom(0.01, 1_000, 'beta: first parameter')),
    beta: Type.Optional(numberFrom(0.01, 1_000, 'beta: second parameter')),
    values: Type.Optional(
      Type.Array(Type.Number({ minimum: 0, maximum: 3_600_000 }), {
        minItems: 1,
        maxItems: 1_000,
        description: 'choice: possible values',
      }),
    ),
    weights: Type.Optional(
      Type.Array(Type.Number({ minimum: 0, maximum: 1e9 }), {
        minItems: 1,
        maxItems: 1_000,
        description: 'choice: weight of each value; default: equal',
      }),
    ),
  },
  { ...strictly, ...about('a trait that is drawn per agent') },
);

const trait = <T extends TSchema>(plain: T, description: string) =>
  Type.Optional(Type.Union([plain, Drawn], { description }));

const percent = (description: string) =>
  trait(Type.Integer({ minimum: 0, maximum: 100 }), description);
const share = (description: string) =>
  trait(Type.Number({ minimum: 0, maximum: 1 }), `share ${description}`);

export const Traits = Type.Object(
  {
    technical: percent("weight of the block's content"),
    social: percent("weight of the neighbours' votes"),
    meme: percent('weight of received memes'),
    random: percent('weight of a random opinion'),
    threshold: percent('mean opinion from which the agent approves'),
    care: share("of sound transactions in the agent's blocks"),
    memes: share('of received blocks with a meme by the agent'),
    remarks: share('of votes with a remark'),
    invites: share('of occasions with an invitation to an alliance'),
    accepts: share('of accepted invitations'),
    abstains: share('of blocks without a vote'),
    think_ms: trait(
      Type.Integer({ minimum: 0, maximum: 3_600_000 }),
      'maximum delay before a vote',
    ),
  },
  { ...strictly, ...about('values that replace those of the personality') },
);

export type Drawn = Static<typeof Drawn>;
export type Traits = Static<typeof Traits>;

interface Bounds {
  type: 'integer' | 'number';
  minimum: number;
  maximum: number;
}

export const getTraitBounds = (name: keyof Traits): Bounds =>
  (Traits.properties[name] as unknown as { anyOf: [Bounds] }).anyOf[0];

export const traitNames = Object.keys(Traits.properties) as (keyof Traits)[];
