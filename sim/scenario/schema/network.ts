/**
 * The network of a scenario: the topology over which agents hear each other, the links with their
 * latency and loss, and the faults that hit them.
 */
import { type Static, type TProperties, Type } from '../../../engine/protocol/bundled/typebox.js';
import { GroupName, integerFrom, Share, UplinkKbps } from './common.js';

export const Topology = Type.Object(
  {
    kind: Type.Enum(
      ['complete', 'ring', 'small_world', 'scale_free', 'erdos_renyi', 'groups', 'edges'],
      {
        default: 'small_world',
        description:
          'who hears whom: everybody (2,000 agents at most); a ring; a ring with some links ' +
          'rewired (Watts and Strogatz); preferential attachment (Barabasi and Albert); each ' +
          'link by chance (Erdos and Renyi); a ring inside each group, some links rewired to ' +
          'other groups; the links of a file',
      },
    ),
    degree: integerFrom(2, 1_000, 'mean neighbours of an agent; even, except in erdos_renyi', 8),
    probability: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'erdos_renyi: of each link, in place of degree',
      }),
    ),
    rewired: Share('of links that lead elsewhere, in small_world and groups', 0.1),
    file: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          "edges: a CSV file in the scenario's folder, a line a,b for each link: agents by " +
          'ordinal from 0, or by name',
      }),
    ),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'the social graph, along which votes and memes are heard',
  },
);

export type Topology = Static<typeof Topology>;

export const Latency = Type.Object(
  {
    distribution: Type.Enum(
      ['constant', 'uniform', 'normal', 'exponential', 'lognormal', 'pareto', 'empirical'],
      { default: 'uniform', description: 'drawn for each message and link by itself' },
    ),
    mean_ms: integerFrom(1, 600_000, 'mean time a message needs', 200),
    spread_ms: integerFrom(
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

const DAY_MS = 86_400_000;

export const Selector = Type.Object(
  {
    group: Type.Optional(GroupName('left out: out of all agents')),
    count: Type.Optional(integerFrom(1, 200_000, 'so many of them, drawn by the seed')),
    share: Type.Optional(Share('of them, rounded down, drawn by the seed')),
  },
  { additionalProperties: false, description: 'some agents; with neither count nor share, all' },
);

const fault = <K extends string, P extends TProperties>(kind: K, text: string, own: P) =>
  Type.Object(
    {
      kind: Type.Literal(kind),
      start_ms: integerFrom(0, 365 * DAY_MS, 'after the start of the run'),
      length_ms: integerFrom(1, 365 * DAY_MS, 'how long it lasts'),
      whom: Type.Array(Selector, { minItems: 1, maxItems: 20, description: 'whom it hits' }),
      ...own,
    } as const,
    { additionalProperties: false, description: text },
  );

export const Fault = Type.Union([
  fault('partition', 'cuts them off from everybody else and from the network', {
    direction: Type.Enum(['both', 'in', 'out'], {
      default: 'both',
      description: 'both; only what they would hear; only what they say',
    }),
  }),
  fault('crash', 'they stop, forget what they had begun, and start again at the end', {}),
  fault('pause', 'they stand still and go on at the end where they were', {}),
  fault('slow_link', 'what they send and hear takes longer', {
    factor: integerFrom(2, 1_000, 'times the latency', 10),
  }),
  fault('clock_skew', 'their clocks are wrong', {
    skew_ms: integerFrom(-DAY_MS, DAY_MS, 'ahead; behind when negative'),
  }),
  fault('churn', 'they leave and come back, again and again', {
    stay_ms: integerFrom(1_000, DAY_MS, 'mean time between leaves', 60_000),
    away_ms: integerFrom(1_000, DAY_MS, 'mean time away', 20_000),
  }),
]);

export type Fault = Static<typeof Fault>;
export type FaultOf<K extends Fault['kind']> = Extract<Fault, { kind: K }>;
export type Selector = Static<typeof Selector>;
