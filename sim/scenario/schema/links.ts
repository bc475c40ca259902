/** The links of a scenario: how long messages need, and what becomes of some of them. */
import { type Static, Type } from '../../../engine/internal.js';
import { GroupName, Share, UplinkKbps, whole } from './terms.js';

export const Latency = Type.Object(
  {
    distribution: Type.Enum(
      ['constant', 'uniform', 'normal', 'exponential', 'lognormal', 'pareto', 'empirical'],
      { default: 'uniform', description: 'drawn for each message and link by itself' },
    ),
    mean_ms: whole(1, 600_000, 'mean time a message needs', 200),
    spread_ms: whole(
      0,
      600_000,
      'uniform: half the width; normal, exponential, lognormal, pareto: standard deviation',
      100,
    ),
    shape: Type.Optional(
      Type.Number({
        minimum: 1.1,
        maximum: 100,
        description: 'pareto: its exponent, in place of spread_ms; at 1 it would have no mean',
      }),
    ),
    file: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          "empirical: a CSV file in the scenario's folder: a line for each time in " +
          'milliseconds, or quantile,ms from quantile 0 to 1',
      }),
    ),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'never under 10 ms; a wide spread is cut off there',
  },
);

export const Links = Type.Object(
  {
    latency: Latency,
    between: Type.Array(
      Type.Object(
        {
          from: GroupName('a group, a region, or network'),
          to: GroupName('the same'),
          one_way: Type.Boolean({ default: false, description: 'only what from sends to to' }),
          latency: Latency,
        },
        { additionalProperties: false, description: 'latency between two places' },
      ),
      {
        maxItems: 400,
        default: [],
        description: 'where it differs by who sends to whom: the last entry that fits',
      },
    ),
    loss: Share('of messages that are lost; the feed of events sends again', 0),
    duplication: Share('of requests that arrive twice', 0),
    uplink_kbps: Type.Optional(UplinkKbps('of each agent; left out: no limit')),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'between agents, and between an agent and the network',
  },
);

export type Latency = Static<typeof Latency>;
export type Links = Static<typeof Links>;
