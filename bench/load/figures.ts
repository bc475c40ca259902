/** A result's figures by name, for conditions and comparisons; its times and its failures. */
import type { OperationName } from './options.js';
import { LEAST_P999, type LoadResult, type Operation, type Percentiles } from './result.js';

export interface Figure {
  /** Name such as `p99`, `vote.service.p99`, `finality.max`, `errors` or `tps`. */
  name: string;
  /** Unit: milliseconds, a fraction of one, or a rate per second. */
  unit: 'ms' | 'share' | 'per_s';
  /** Data that a run must produce to measure the figure. */
  source: Source;
  /** Number of independent samples that the figure needs. */
  samples: number;
  good: 'more' | 'less';
  /** Name of the scenario that it measures; absent for the whole run. */
  scenario?: string;
  of(result: LoadResult): number | null;
}

/** A scheduled operation, all scheduled operations, or data that only some workloads produce. */
export type Source = OperationName | 'arrivals' | 'rate' | 'transactions' | 'delivery' | 'outages';

const percentiles = ['p50', 'p90', 'p95', 'p99', 'p999', 'max'] as const;
type Percentile = (typeof percentiles)[number];
const operations: readonly OperationName[] = [
  ...(['vote', 'propose', 'read', 'meme', 'status', 'register'] as const),
  ...(['connect', 'script'] as const),
];
const wholes = ['finality', 'delivery'] as const;

export const isOperation = (name: string): name is OperationName =>
  (operations as readonly string[]).includes(name);

export const vocabulary =
  `${percentiles.join(', ')}, alone or after response, service, ${wholes.join(', ')} or an ` +
  `operation (${operations.join(', ')}), as in vote.p99 or vote.service.p99; errors or ` +
  'vote.errors; tps; accepted_per_s; of_target; deliveries_per_s; downtime; recovery; a ' +
  'percentile, errors or accepted_per_s of one scenario, as in p99{scenario:peak}';

type Row = Omit<Figure, 'name'>;

const rate = (source: Source, of: Figure['of']): Row => {
  return { unit: 'per_s', source, samples: 1, good: 'more', of };
};
const outageMs = (of: (outages: NonNullable<LoadResult['outages']>) => number | null): Row => ({
  ...{ unit: 'ms', source: 'outages', samples: 1, good: 'less' },
  of: ({ outages }) => (outages ? of(outages) : null),
});

const ofRun: Record<string, Row> = {
  tps: rate('transactions', ({ transactions: { proposed, tps } }) => (proposed > 0 ? tps : null)),
  accepted_per_s: rate('arrivals', ({ arrivals }) =>
    arrivals.intended > 0 ? arrivals.accepted_per_s : null,
  ),
  of_target: {
    ...rate('rate', ({ arrivals }) => (arrivals.intended > 0 ? arrivals.of_target : null)),
    unit: 'share',
  },
  deliveries_per_s: rate('delivery', ({ delivery }) =>
    delivery.expected > 0 ? delivery.deliveries_per_s : null,
  ),
  downtime: outageMs((all) => all.reduce((sum, { duration_ms }) => sum + duration_ms, 0)),
  // The slowest recovery counts; without an outage there is nothing to recover from.
  recovery: outageMs((all) =>
    all.some(({ recovery_ms }) => recovery_ms === null)
      ? null
      : Math.max(0, ...all.map(({ recovery_ms }) => recovery_ms!)),
  ),
};

/** The slowest times count, so that fast ones cannot hide them. */
const slowest = (all: readonly Percentiles[], percentile: Percentile): number | null => {
  const known = all.flatMap((one) => one[percentile] ?? []);
  return known.length > 0 ? Math.max(...known) : null;
};

const toTime = (source: Source, percentile: Percentile, of: (all: LoadResult) => Percentiles[]) =>
  ({
    ...{ unit: 'ms', source, good: 'less', samples: percentile === 'p999' ? LEAST_P999 : 1 },
    of: (result) => slowest(of(result), percentile),
  }) satisfies Row as Row;

type Counts = Pick<Operation, 'sent' | 'accepted'>;
const toErrors = (source: Source, of: (all: LoadResult) => readonly Counts[]): Row => ({
  ...{ unit: 'share', source, samples: 1, good: 'less' },
  of(result) {
    const sent = of(result).reduce((sum, one) => sum + one.sent, 0);
    const accepted = of(result).reduce((sum, one) => sum + one.accepted, 0);
    return sent === 0 ? null : (sent - accepted) / sent;
  },
});

/** Times by the part of a name before the percentile. */
const scopes: Record<string, [Source, (result: LoadResult) => Percentiles[]]> = {
  '': ['arrivals', (result) => scheduledOperations(result).map(({ response }) => response)],
  response: ['arrivals', (result) => scheduledOperations(result).map(({ response }) => response)],
  service: ['arrivals', (result) => scheduledOperations(result).map(({ service }) => service)],
  finality: ['transactions', ({ finality }) => [finality]],
  delivery: ['delivery', ({ delivery }) => [delivery.latency]],
  ...Object.fromEntries(
    operations.flatMap((name) =>
      (['', '.response', '.service'] as const).map((kind) => {
        const member = kind === '.service' ? 'service' : 'response';
        const of = (result: LoadResult) => named(result, name).map((one) => one[member]);
        return [`${name}${kind}`, [name, of]];
      }),
    ),
  ),
};

const rows: Record<string, Row> = {
  ...ofRun,
  errors: toErrors('arrivals', (result) => scheduledOperations(result)),
  ...Object.fromEntries(
    operations.map((name) => [`${name}.errors`, toErrors(name, (result) => named(result, name))]),
  ),
  ...Object.fromEntries(
    Object.entries(scopes).flatMap(([scope, [source, of]]) =>
      percentiles.map((percentile) => [
        scope === '' ? percentile : `${scope}.${percentile}`,
        toTime(source, percentile, of),
      ]),
    ),
  ),
};

/** Figures of one scenario, of which a result has fewer than of the whole run. */
const scenarioRows: Record<string, (of: (all: LoadResult) => ScenarioResult[]) => Row> = {
  errors: (of) => toErrors('arrivals', of),
  accepted_per_s: (of) => rate('arrivals', (result) => of(result)[0]?.accepted_per_s ?? null),
  ...Object.fromEntries(
    percentiles.map((percentile) => [
      percentile,
      (of: (all: LoadResult) => ScenarioResult[]) =>
        toTime('arrivals', percentile, (result) => of(result).map(({ response }) => response)),
    ]),
  ),
};
type ScenarioResult = NonNullable<LoadResult['scenarios']>[number];

export function findFigure(written: string): Figure | null {
  const [, base = '', scenario] = /^([^{]*)(?:\{scenario:([^}]+)\})?$/.exec(written) ?? [];
  // Reports print p99.9 for p999.
  const name = base.replace(/(^|\.)p99\.9$/, '$1p999');
  if (scenario === undefined) return Object.hasOwn(rows, name) ? { name, ...rows[name]! } : null;
  if (!Object.hasOwn(scenarioRows, name)) return null;
  const of = ({ scenarios = [] }: LoadResult) => scenarios.filter((one) => one.name === scenario);
  return { name: `${name}{scenario:${scenario}}`, scenario, ...scenarioRows[name]!(of) };
}

/** Returns the operations, without those outside the schedule, such as `vote (beside)`. */
export const scheduledOperations = ({ operations: all }: LoadResult): Operation[] =>
  all.filter(({ operation }) => isOperation(operation));

export interface Slowest {
  operation: string;
  response: number;
  service: number | null;
  /** False if much of the response time is not the server's. */
  isAttributed: boolean;
}

/** Finds the scheduled operation with the longest response time; null without a response. */
export function findSlowest(result: LoadResult, percentile: Percentile): Slowest | null {
  const others = result.generator.attributed;
  return scheduledOperations(result).reduce<Slowest | null>((most, { operation, ...times }) => {
    const [response, service] = [times.response[percentile], times.service[percentile]];
    if (response === null || response <= (most?.response ?? -1)) return most;
    const isAttributed = others?.includes(`${operation}.${percentile}`) ?? true;
    return { operation, response, service, isAttributed };
  }, null);
}

const named = ({ operations: all }: LoadResult, name: string): Operation[] =>
  all.filter(({ operation }) => operation === name);

/** Lists all figures with samples in these results, in reading order. */
export function listFigures(results: readonly LoadResult[]): Figure[] {
  const names = operations.filter((name) => results.some((result) => named(result, name).length));
  const several = names.length > 1;
  const scopes = [
    ...names.flatMap((name) => [name, `${name}.service`]),
    ...wholes.filter((whole) => figureIn(results, `${whole}.max`)),
  ];
  return [
    ...Object.keys(ofRun),
    'errors',
    ...(several ? names.map((name) => `${name}.errors`) : []),
    ...scopes.flatMap((scope) => percentiles.map((percentile) => `${scope}.${percentile}`)),
  ]
    .filter((name) => figureIn(results, name))
    .map((name) => findFigure(name)!);
}

const figureIn = (results: readonly LoadResult[], name: string): boolean =>
  results.some((result) => findFigure(name)!.of(result) !== null);

interface Timed {
  /** Null for a time that belongs to no operation. */
  operation: string | null;
  time: 'response' | 'service' | 'finality' | 'delivery' | 'lag';
  percentiles: Percentiles;
}

export function listTimes({ operations, finality, delivery, generator }: LoadResult): Timed[] {
  const all: Timed[] = [
    ...operations.flatMap(({ operation, response, service }): Timed[] => [
      { operation, time: 'response', percentiles: response },
      { operation, time: 'service', percentiles: service },
    ]),
    { operation: null, time: 'finality', percentiles: finality },
    { operation: null, time: 'delivery', percentiles: delivery.latency },
    { operation: null, time: 'lag', percentiles: generator.lag },
  ];
  return all.filter(({ percentiles }) => percentiles.count > 0);
}

export interface Failure {
  what: 'refused' | 'lie' | 'timed_out' | 'broken' | 'unfinished';
  status: number | null;
  code: string | null;
  reason: string | null;
  count: number;
}

export function failures(of: Operation): Failure[] {
  const none = { status: null, code: null, reason: null };
  const all: Failure[] = [
    ...of.refused.map((one): Failure => ({ what: 'refused', ...one })),
    { what: 'lie', ...none, count: of.lies },
    ...(['timed_out', 'broken', 'unfinished'] as const).map((what): Failure => {
      return { what, ...none, count: of[what] };
    }),
  ];
  return all.filter(({ count }) => count > 0);
}
