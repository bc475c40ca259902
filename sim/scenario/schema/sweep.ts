/** The sweep of a scenario: which of its values are varied, how, and how often. */
import { type Static, Type } from '../../../engine/internal.js';
import { whole } from './terms.js';

const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

/** `path` as in `agents.town.share` or `faults.0.length_ms`. */
export const Factor = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 200, description: 'as in agents.town.share' }),
    name: Type.Optional(
      Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$', description: 'its column; else the path' }),
    ),
    values: Type.Optional(
      Type.Array(Value, { minItems: 1, maxItems: 1_000, description: 'its values, of any design' }),
    ),
    from: Type.Optional(Type.Number({ description: 'lhs, morris, sobol: least value' })),
    to: Type.Optional(Type.Number({ description: 'lhs, morris, sobol: largest value' })),
    whole: Type.Optional(Type.Boolean({ description: 'of a range: whole numbers only' })),
  },
  { additionalProperties: false, description: 'one value of the scenario that is varied' },
);

const strictly = { additionalProperties: false } as const;

/** When a cell has runs enough. */
const Until = Type.Object(
  {
    half_width: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'half of the 95 % interval, in its unit' }),
    ),
    percent: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 100, description: 'the same, of the mean' }),
    ),
    response: Type.Optional(
      Type.String({ description: 'whose interval; left out, the first of responses' }),
    ),
    most: whole(10, 100_000, 'runs a cell at most, however wide its interval is', 1_000),
  },
  { ...strictly, description: 'runs are added to a cell until its interval is narrow' },
);

const Responses = Type.Array(Type.String(), {
  default: ['finalized_share'],
  minItems: 1,
  maxItems: 12,
  description: 'the measures that the report draws; of scripts, as reported.NAME',
});

/** What `replicates` is when it is left out; a design of many samples needs one. */
export const standardReplicates = (design: unknown): number =>
  design === 'morris' || design === 'sobol' ? 1 : 5;

export const Sweep = Type.Object(
  {
    design: Type.Enum(['grid', 'list', 'lhs', 'morris', 'sobol'], {
      default: 'grid',
      description:
        'grid: every combination of values; list: the nth values of all factors together; ' +
        'lhs: a Latin hypercube of samples; morris: elementary effects along trajectories; ' +
        'sobol: indices of variance, by matrices of Saltelli',
    }),
    factors: Type.Array(Factor, { minItems: 1, maxItems: 10, description: 'what is varied' }),
    samples: Type.Optional(
      whole(1, 100_000, 'lhs: how many; morris: trajectories; sobol: rows of a matrix'),
    ),
    levels: Type.Optional(whole(2, 100, 'morris: levels of a factor, an even number; 4')),
    replicates: whole(1, 100_000, 'runs a cell, each with a seed; of morris and sobol 1', 5),
    until: Type.Optional(Until),
    baseline: Type.Optional(
      Type.Record(Type.String(), Value, {
        description: 'grid, list: a cell, by a value of each factor; others are compared with it',
      }),
    ),
    audit: Type.Enum(['all', 'first', 'none'], {
      default: 'all',
      description: 'which runs of a cell are audited: a rule is seen broken in these only',
    }),
    responses: Responses,
  },
  { ...strictly, description: 'for the command sweep' },
);

export type Sweep = Static<typeof Sweep>;
export type Factor = Static<typeof Factor>;
