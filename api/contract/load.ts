/**
 * State of a load run, as its page shows it. Names, units and meanings are as in `result.json` (see
 * docs/load-testing.md). Browsers import only the types.
 */

import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { Count, nullable } from '../../engine/protocol/schema/primitives.js';

const Text = Type.String();
const Rate = Type.Number({ minimum: 0 });
const Time = nullable(Type.Number({ minimum: 0, description: 'milliseconds' }));
const Share = nullable(Type.Number());
const Counts = Type.Array(Type.Number({ minimum: 0 }));
const Times = Type.Array(Time);
const Verdict = Type.Enum([
  'VALID',
  'UNSTABLE',
  'CLIENT_BOUND',
  'WORKLOAD_BOUND',
  'INVALID',
  'INCOMPLETE',
]);

const Asked = Type.Object({
  workload: Text,
  loop: Type.Enum(['open', 'closed']),
  rate: nullable(Rate),
  concurrency: nullable(Count),
  agents: Count,
  batch: Count,
  duration_s: Type.Number(),
  warmup_s: Type.Number(),
  timeout_ms: Count,
  finality_timeout_ms: Count,
  connections: Count,
});

const Target = Type.Object({
  url: Text,
  version: nullable(Text),
  limits_profile: nullable(Text),
  durable: nullable(Type.Boolean()),
  network_id: nullable(Text),
  page: nullable(Type.String({ description: 'page of the network under load' })),
});

/** The slowest scheduled operation at a percentile; null without a response. */
const Slowest = nullable(
  Type.Object({
    operation: Text,
    response: Type.Number({ minimum: 0, description: 'milliseconds' }),
    service: Time,
    attributed: Type.Boolean({ description: 'true if the response time measures the server' }),
  }),
);

const Figures = Type.Object({
  measured_s: Type.Number(),
  arrivals: Type.Object({
    intended: Count,
    accepted: Count,
    accepted_per_s: Rate,
    of_target: Share,
  }),
  /** Share of completed or abandoned requests that were not accepted. */
  errors: Share,
  response: Type.Object({ p50: Slowest, p95: Slowest, p99: Slowest }),
  transactions: nullable(
    Type.Object({
      ...{ proposed: Count, finalized: Count, timed_out: Count, unfinished: Count },
      tps: Rate,
    }),
  ),
  delivery: nullable(
    Type.Object({
      ...{ subscribers: Count, expected: Count, delivered: Count, holes: Count },
      disconnects: Count,
      deliveries_per_s: Rate,
    }),
  ),
  times: Type.Array(
    Type.Object({
      operation: nullable(Text),
      time: Type.Enum(['response', 'service', 'finality', 'delivery', 'lag']),
      ...{ count: Count, p50: Time, p95: Time, p99: Time, max: Time },
    }),
  ),
  operations: Type.Array(
    Type.Object({ operation: Text, sent: Count, accepted: Count, failed: Count }),
  ),
  failures: Type.Array(
    Type.Object({
      operation: Text,
      what: Type.Enum(['refused', 'lie', 'timed_out', 'broken', 'unfinished']),
      status: nullable(Count),
      code: nullable(Text),
      reason: nullable(Text),
      count: Count,
      share: Type.Number(),
    }),
  ),
  /** Kinds of failures that are not among the most frequent ones above. */
  failures_omitted: Count,
  generator: Type.Object({ lag_p99: Time, utilization: Type.Number() }),
  /** Columns over time: mean rates and maximum times. */
  seconds: Type.Object({
    width: Type.Integer({ minimum: 1, description: 'seconds per array element' }),
    ...{ intended: Counts, accepted: Counts, failed: Counts, finalized_transactions: Counts },
    ...{ response_p50: Times, response_p95: Times, response_p99: Times, lag_max: Times },
  }),
});

/**
 * `waiting`: not started yet; `preparing`: everything before the warm-up; `draining`: waiting for
 * responses and finality; `failed`: could not start.
 */
const Phase = Type.Enum([
  'waiting',
  'preparing',
  'warm-up',
  'measured',
  'draining',
  'over',
  'failed',
]);

const Search = Type.Object({
  slo: Type.Array(Text),
  repeat: Count,
  /** Rate under test; null between two probes. */
  rate: nullable(Rate),
  /** Per bracket, the highest rate that held and the lowest higher rate that failed. */
  brackets: Type.Array(Type.Object({ holds: Rate, fails: nullable(Rate) })),
  probes: Type.Array(
    Type.Object({
      bracket: Count,
      rate: Rate,
      accepted_per_s: Rate,
      p99: Time,
      holds: Type.Boolean(),
      verdict: Verdict,
      reason: Text,
      r_before: nullable(Rate),
    }),
  ),
  /** Earlier probes than the last ones above. */
  probes_omitted: Count,
});

export const LoadView = Type.Object({
  version: Type.Integer({ minimum: 1, description: 'increases with each change' }),
  load: Type.Object({
    phase: Phase,
    said: Type.String({ description: 'preparation step, or the reason of failure' }),
    passed_ms: nullable(Type.Number({ description: 'elapsed time of the phase' })),
    of_ms: nullable(Type.Number({ description: 'total time of the phase' })),
    asked: Asked,
    server: Target,
    r: nullable(Rate),
    verdict: nullable(
      Type.Object({
        verdict: Verdict,
        reasons: Type.Array(Text),
        ended: nullable(Type.Enum(['complete', 'interrupted', 'failed'])),
      }),
    ),
    figures: nullable(Figures),
    search: nullable(Search),
  }),
});

export type LoadAnswer = Static<typeof LoadView>;
export type LoadState = LoadAnswer['load'];
export type LoadPhase = LoadState['phase'];
export type LoadTarget = LoadState['server'];
export type LoadVerdict = NonNullable<LoadState['verdict']>;
export type LoadFigures = NonNullable<LoadState['figures']>;
export type LoadSlowest = NonNullable<LoadFigures['response']['p50']>;
export type LoadTimes = LoadFigures['times'][number];
export type LoadFailure = LoadFigures['failures'][number];
export type LoadSeconds = LoadFigures['seconds'];
export type LoadSearch = NonNullable<LoadState['search']>;
export type LoadProbe = LoadSearch['probes'][number];
