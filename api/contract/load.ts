/**
 * State of a load run, as its page shows it: facts, tables and charts over time, which the text
 * output and the report show as well. Browsers import only the types.
 */

import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { nullable } from '../../engine/protocol/schema/primitives.js';

const Text = Type.String();
const Verdict = Type.Enum([
  'VALID',
  'UNSTABLE',
  'CLIENT_BOUND',
  'WORKLOAD_BOUND',
  'INVALID',
  'INCOMPLETE',
]);

/** `of_r`: multiples of R, the verifications per second of one core. */
const Unit = Type.Enum(['text', 'count', 'ms', 'share', 'per_s', 'of_r']);
const Cell = nullable(Type.Union([Type.String(), Type.Number()]));

const Facts = Type.Object({
  title: Text,
  rows: Type.Array(Type.Object({ name: Text, value: Cell, unit: Unit, note: Text })),
});

const Table = Type.Object({
  id: Type.Enum([
    ...(['brackets', 'probes', 'scenarios', 'latencies', 'requests'] as const),
    ...(['failures', 'faults', 'outages', 'nodes', 'shards'] as const),
  ]),
  title: Text,
  note: Text,
  columns: Type.Array(Type.Object({ name: Text, unit: Unit })),
  rows: Type.Array(Type.Array(Cell)),
});

const Series = Type.Object({
  width: Type.Integer({ minimum: 1, description: 'seconds per value' }),
  charts: Type.Array(
    Type.Object({
      title: Text,
      caption: Text,
      unit: Unit,
      lines: Type.Array(
        Type.Object({
          name: Text,
          color: Type.String({ description: 'name of a colour, such as c1' }),
          dash: Type.String({ description: 'SVG dash array; empty for a solid line' }),
          values: Type.Array(nullable(Type.Number({ minimum: 0 }))),
        }),
      ),
    }),
  ),
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
  bracket: Type.Integer({ minimum: 1, description: 'number of the current bracket' }),
  repeat: Type.Integer({ minimum: 1, description: 'number of brackets' }),
  rate: nullable(Type.Number({ description: 'rate under test; null between two probes' })),
});

export const LoadView = Type.Object({
  version: Type.Integer({ minimum: 1, description: 'increases with each change' }),
  load: Type.Object({
    phase: Phase,
    said: Type.String({ description: 'preparation step, or the reason of failure' }),
    passed_ms: nullable(Type.Number({ description: 'elapsed time of the phase' })),
    of_ms: nullable(Type.Number({ description: 'total time of the phase' })),
    title: Type.String({ description: 'workload and load' }),
    url: Type.String({ description: 'server under load' }),
    page: nullable(Type.String({ description: 'page of the network under load' })),
    planned_s: Type.Number({ description: 'planned measured time' }),
    verdict: nullable(
      Type.Object({
        verdict: Verdict,
        reasons: Type.Array(Text),
        ended: nullable(Type.Enum(['complete', 'interrupted', 'failed'])),
      }),
    ),
    search: nullable(Search),
    facts: Type.Array(Facts),
    tables: Type.Array(Table),
    series: nullable(Series),
  }),
});

export type LoadAnswer = Static<typeof LoadView>;
export type LoadState = LoadAnswer['load'];
export type LoadPhase = LoadState['phase'];
export type LoadVerdict = NonNullable<LoadState['verdict']>;
export type LoadFacts = LoadState['facts'][number];
export type LoadTable = LoadState['tables'][number];
export type LoadSeries = NonNullable<LoadState['series']>;
export type LoadChart = LoadSeries['charts'][number];
