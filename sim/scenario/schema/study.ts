/**
 * Schema for the analysis of a sweep: the effects to estimate, and the errors that the analysis
 * may make. `folkmoot study` plans, registers and reports it.
 */
import { type Static, Type } from '../../../engine/protocol/bundled/typebox.js';
import { about, integerFrom, numberFrom, strictly, Text } from './common.js';

const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);
const Rate = Type.Number({ minimum: 0, maximum: 1 });

const StudyEffect = Type.Object(
  {
    factor: Text(200, 'column or path of a factor of the sweep'),
    between: Type.Array(Value, {
      minItems: 2,
      maxItems: 2,
      ...about('the two values of the factor to compare'),
    }),
    response: Type.Optional(
      Type.String({
        maxLength: 100,
        ...about('measure to compare; default: the first of responses'),
      }),
    ),
    rates: Type.Optional(
      Type.Array(Rate, {
        minItems: 2,
        maxItems: 2,
        ...about('expected value of the response at each of the two values, from 0 to 1'),
      }),
    ),
  },
  { ...strictly, ...about('difference of a response between two values of a factor') },
);

export const Study = Type.Object(
  {
    effects: Type.Array(StudyEffect, {
      minItems: 1,
      maxItems: 50,
      ...about('conclusions to draw; they share the error'),
    }),
    error: numberFrom(0.0001, 0.5, 'probability of one false conclusion or more', 0.05),
    power: numberFrom(0.1, 0.999, 'probability to show an effect of the expected size', 0.8),
    cluster: Type.Optional(
      Text(200, 'column or path of the factor that selects the question; its runs form a cluster'),
    ),
    cluster_correlation: numberFrom(0, 1, 'expected correlation of runs with one question', 0),
    tokens: Type.Optional(
      Type.Object(
        {
          input: integerFrom(0, 10_000_000, 'input tokens'),
          output: integerFrom(0, 10_000_000, 'output tokens'),
        },
        { ...strictly, ...about('expected tokens of a call, for the plan') },
      ),
    ),
  },
  { ...strictly, ...about('analysis of the sweep, for folkmoot study') },
);

export type Study = Static<typeof Study>;
export type StudyEffect = Static<typeof StudyEffect>;

const amounts = {
  tokens: Type.Optional(integerFrom(1, 1e15, 'input and output tokens')),
  money: Type.Optional(numberFrom(0.000001, 1e12, 'money, in the unit of prices')),
};
const limit = (description: string) =>
  Type.Optional(Type.Object(amounts, { ...strictly, ...about(description) }));

const perMillion = (description: string) =>
  Type.Number({ minimum: 0, maximum: 1e9, ...about(description) });

export const Budget = Type.Object(
  {
    prices: Type.Record(
      Type.String({ minLength: 1, maxLength: 200 }),
      Type.Object(
        {
          input: perMillion('price of a million input tokens'),
          output: perMillion('price of a million output tokens'),
        },
        strictly,
      ),
      { default: {}, ...about('prices by model; a decider without a model has the price `other`') },
    ),
    agent: limit('limit of each agent; then the agent gives no more answers'),
    decision: limit('limit of each block; then the agents give no more answers about it'),
    run: limit('limit of each run; then the run stops, and can be continued'),
    study: limit('limit of a sweep; then the sweep stops, and can be continued'),
  },
  { ...strictly, ...about('limits of external deciders, in tokens and money') },
);

export type Budget = Static<typeof Budget>;
export type Limit = NonNullable<Budget['run']>;
