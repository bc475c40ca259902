/**
 * decisions.ndjson: what each vote that counted rested on. This schema gives the type of a line and
 * its description in docs/measures.md.
 */
import { Reasons } from '../../../api/contract/run.js';
import { Decision, type Static, Type } from '../../../engine/internal.js';

export const DecisionLine = Type.Object(
  {
    block: Type.Integer({ description: 'number of the block, as in blocks.csv' }),
    agent: Type.Union([Type.Integer(), Type.Null()], {
      description: 'ordinal of the voter; null when it is not of the scenario',
    }),
    group: Type.Union([Type.String(), Type.Null()], { description: 'its group; null likewise' }),
    decision: Type.Enum([...Decision.enum], { description: 'approve or reject' }),
    voted_ms: Type.Integer({ description: 'when the vote arrived, milliseconds of the run' }),
    ...Reasons.properties,
    warmup: Type.Boolean({ description: 'whether its block was proposed in the warm-up' }),
  },
  { additionalProperties: false },
);

export type DecisionLine = Static<typeof DecisionLine>;
