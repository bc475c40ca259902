/** Schema for topology, links and faults. */
import { type Static, type TProperties, Type } from '../../../engine/protocol/bundled/typebox.js';
import {
  about,
  Flag,
  GroupName,
  integerFrom,
  MOST_AGENTS,
  numberFrom,
  OneOf,
  Share,
  section,
  strictly,
  Text,
  UplinkKbps,
} from './common.js';
import { Latency } from './latency.js';

export const Topology = Type.Object(
  {
    kind: OneOf(
      ['complete', 'ring', 'small_world', 'scale_free', 'erdos_renyi', 'groups', 'edges'],
      'small_world',
      'shape of the graph: complete (at most 2,000 agents); ring; ring with some rewired ' +
        'links (Watts-Strogatz); preferential attachment (Barabasi-Albert); random links ' +
        '(Erdos-Renyi); a ring per group with some links to other groups; links from a file',
    ),
    degree: integerFrom(2, 1_000, 'mean number of neighbours; even, except in erdos_renyi', 8),
    probability: Type.Optional(
      numberFrom(0, 1, 'erdos_renyi: probability of each link, instead of degree'),
    ),
    rewired: Share('of rewired links, in small_world and groups', 0.1),
    file: Type.Optional(
      Text(
        500,
        "edges: a CSV file in the scenario's folder with a line a,b per link; agents by " +
          'ordinal from 0, or by name',
      ),
    ),
  },
  { ...section, ...about('the social graph, along which votes and memes spread') },
);

export type Topology = Static<typeof Topology>;

export const Links = Type.Object(
  {
    latency: Latency,
    between: Type.Array(
      Type.Object(
        {
          from: GroupName('a group, a region, or network'),
          to: GroupName('a group, a region, or network'),
          one_way: Flag('apply only to messages from from to to'),
          latency: Latency,
        },
        { ...strictly, ...about('latency between two places') },
      ),
      {
        maxItems: 400,
        default: [],
        description: 'exceptions by sender and receiver; the last match applies',
      },
    ),
    loss: Share('of lost messages; the event feed retransmits', 0),
    duplication: Share('of requests delivered twice', 0),
    uplink_kbps: Type.Optional(UplinkKbps('per agent; default: unlimited')),
  },
  { ...section, ...about('links between agents, and between agents and the network') },
);

export type Links = Static<typeof Links>;

const DAY_MS = 86_400_000;

export const Selector = Type.Object(
  {
    group: Type.Optional(GroupName('group to select from; default: all agents')),
    count: Type.Optional(integerFrom(1, MOST_AGENTS, 'number of agents, drawn by the seed')),
    share: Type.Optional(Share('of the agents, rounded down, drawn by the seed')),
  },
  { ...strictly, ...about('a selection of agents; all if neither count nor share is set') },
);

const fault = <K extends string, P extends TProperties>(kind: K, text: string, own: P) =>
  Type.Object(
    {
      kind: Type.Literal(kind),
      start_ms: integerFrom(0, 365 * DAY_MS, 'start, in time of the run'),
      length_ms: integerFrom(1, 365 * DAY_MS, 'duration'),
      whom: Type.Array(Selector, { minItems: 1, maxItems: 20, description: 'affected agents' }),
      ...own,
    } as const,
    { ...strictly, ...about(text) },
  );

export const Fault = Type.Union([
  fault('partition', 'cuts agents off from all others and from the network', {
    direction: OneOf(
      ['both', 'in', 'out'],
      'both',
      'both directions; only messages to them; only messages from them',
    ),
  }),
  fault('crash', 'stops agents, discards their pending work, and restarts them at the end', {}),
  fault('pause', 'suspends agents and resumes them at the end', {}),
  fault('slow_link', 'multiplies the latency of messages to and from agents', {
    factor: integerFrom(2, 1_000, 'multiplies the latency', 10),
  }),
  fault('clock_skew', 'shifts the clocks of agents', {
    skew_ms: integerFrom(-DAY_MS, DAY_MS, 'offset; negative: behind'),
  }),
  fault('churn', 'makes agents leave and return repeatedly', {
    stay_ms: integerFrom(1_000, DAY_MS, 'mean time present', 60_000),
    away_ms: integerFrom(1_000, DAY_MS, 'mean time absent', 20_000),
  }),
]);

export type Fault = Static<typeof Fault>;
export type FaultOf<K extends Fault['kind']> = Extract<Fault, { kind: K }>;
export type Selector = Static<typeof Selector>;
