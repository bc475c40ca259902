/** The faults of a scenario: what goes wrong, when, for how long, and for whom. */
import { type Static, type TProperties, Type } from '../../../engine/internal.js';
import { GroupName, Share, whole } from './terms.js';

const DAY_MS = 86_400_000;

export const Selector = Type.Object(
  {
    group: Type.Optional(GroupName('left out: out of all agents')),
    count: Type.Optional(whole(1, 200_000, 'so many of them, drawn by the seed')),
    share: Type.Optional(Share('of them, rounded down, drawn by the seed')),
  },
  { additionalProperties: false, description: 'some agents; with neither count nor share, all' },
);

const fault = <K extends string, P extends TProperties>(kind: K, text: string, own: P) =>
  Type.Object(
    {
      kind: Type.Literal(kind),
      start_ms: whole(0, 365 * DAY_MS, 'after the start of the run'),
      length_ms: whole(1, 365 * DAY_MS, 'how long it lasts'),
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
    factor: whole(2, 1_000, 'times the latency', 10),
  }),
  fault('clock_skew', 'their clocks are wrong', {
    skew_ms: whole(-DAY_MS, DAY_MS, 'ahead; behind when negative'),
  }),
  fault('churn', 'they leave and come back, again and again', {
    stay_ms: whole(1_000, DAY_MS, 'mean time between leaves', 60_000),
    away_ms: whole(1_000, DAY_MS, 'mean time away', 20_000),
  }),
]);

export type Fault = Static<typeof Fault>;
export type FaultOf<K extends Fault['kind']> = Extract<Fault, { kind: K }>;
export type Selector = Static<typeof Selector>;
