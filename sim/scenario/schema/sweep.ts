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
      Type.Array(Value, { minItems: 1, maxItems: 1_000, description: 'grid, list: its values' }),
    ),
    from: Type.Optional(Type.Number({ description: 'lhs: least value' })),
    to: Type.Optional(Type.Number({ description: 'lhs: largest value' })),
    whole: Type.Optional(Type.Boolean({ description: 'lhs: whole numbers only' })),
  },
  { additionalProperties: false, description: 'one value of the scenario that is varied' },
);

export const Sweep = Type.Object(
  {
    design: Type.Enum(['grid', 'list', 'lhs'], {
      default: 'grid',
      description:
        'grid: every combination of values; list: the nth values of all factors together; ' +
        'lhs: a Latin hypercube of samples',
    }),
    factors: Type.Array(Factor, { minItems: 1, maxItems: 10, description: 'what is varied' }),
    samples: Type.Optional(whole(1, 100_000, 'lhs: how many')),
    replicates: whole(1, 100_000, 'runs a cell, each with its own seed', 5),
    responses: Type.Array(Type.String(), {
      default: ['finalized_share'],
      minItems: 1,
      maxItems: 12,
      description: 'the measures that the report draws',
    }),
  },
  { additionalProperties: false, description: 'for the command sweep' },
);

export type Sweep = Static<typeof Sweep>;
export type Factor = Static<typeof Factor>;
