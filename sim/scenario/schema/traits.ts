/** The traits of a group: each a number for all of its agents, or drawn for each of them. */
import { type Static, type TSchema, Type } from '../../../engine/internal.js';

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
export const boundsOf = (name: keyof Traits): Bounds =>
  (Traits.properties[name] as unknown as { anyOf: [Bounds] }).anyOf[0];

export const traitNames = Object.keys(Traits.properties) as (keyof Traits)[];
