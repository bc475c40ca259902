/**
 * decisions.ndjson: what each vote that counted rested on. This schema gives the type of a line and
 * its description in docs/measures.md.
 */
import { Decision, type Static, type TSchema, Type } from '../../../engine/internal.js';

const nullable = <S extends TSchema>(schema: S, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const whole = Type.Integer();

/** In the words of docs/model.md: the traits technical, social, meme and random. */
const factorsOf = <S extends TSchema>(each: S, description: string) =>
  nullable(
    Type.Object(
      { content: each, neighbours: each, memes: each, whim: each },
      { additionalProperties: false },
    ),
    description,
  );

export const DecisionLine = Type.Object(
  {
    block: Type.Integer({ description: 'number of the block, as in blocks.csv' }),
    agent: nullable(whole, 'ordinal of the voter; null when it is not of the scenario'),
    group: nullable(Type.String(), 'its group; null likewise'),
    decision: Type.Enum([...Decision.enum], { description: 'approve or reject' }),
    voted_ms: Type.Integer({ description: 'when the vote arrived, milliseconds of the run' }),
    basis: Type.Enum(['judgement', 'content', 'neighbours', 'script', 'unknown'], {
      description:
        'judgement: opinions weighed by its traits; content or neighbours: by its strategy, on ' +
        'that alone; script: the reason that its script or decider gave; unknown: its strategy ' +
        'does not say, it was made to, or it is not of the scenario',
    }),
    reason: nullable(Type.String(), 'of a script or decider; else null'),
    score: nullable(
      Type.Number(),
      'of a judgement, as all that follows: the sum of weight times opinion, each of four; it ' +
        'approves from threshold on',
    ),
    threshold: nullable(Type.Number(), '100 times the trait threshold'),
    opinions: factorsOf(
      Type.Number(),
      '0, against, to 100, for; 50 for who has none. content: percent of its transactions that ' +
        'add up; neighbours: of the votes received; memes: of the memes received; whim: drawn',
    ),
    contributions: factorsOf(
      Type.Number(),
      'weight times (opinion - 50): what it adds to the score of who has no opinion; with that ' +
        'score, 50 times the sum of the weights, they sum to the score',
    ),
    without: factorsOf(
      Type.Enum([...Decision.enum]),
      'what it would have decided with no opinion (50) in place of this one',
    ),
    shapley_24ths: factorsOf(
      whole,
      'Shapley value of the factor in the decision (approve 1, reject 0; factors left out count ' +
        '50), in 1/24: with the decision of who has no opinion at all, they sum to the decision',
    ),
    memes: Type.Array(Type.String(), {
      description: 'ids of the memes about the block that it had received when it decided',
    }),
    turned_by: nullable(
      Type.Array(Type.String()),
      'those of them without each of which, by itself, it would have decided otherwise',
    ),
    warmup: Type.Boolean({ description: 'whether its block was proposed in the warm-up' }),
  },
  { additionalProperties: false },
);

export type DecisionLine = Static<typeof DecisionLine>;
