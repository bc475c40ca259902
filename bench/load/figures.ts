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
  of(result: LoadResult): number | null;
}

/** A scheduled operation, all scheduled operations, or data that only some workloads produce. */
export type Source = OperationName | 'arrivals' | 'rate' | 'transactions' | 'delivery' | 'outages';

const percentiles = ['p50', 'p90', 'p95', 'p99', 'p999', 'max'] as const;
const operations: readonly OperationName[] = [
  'vote',
  'propose',
  'read',
  'meme',
  'status',
  'register',
  'script',
];
type Kind = 'response' | 'service';
const kinds: readonly Kind[] = ['response', 'service'];
const wholes = ['finality', 'delivery'] as const;

/** Possible names, for error messages. */
export const vocabulary =
  `${percentiles.join(', ')}, alone or after ${[...kinds, ...wholes].join(', ')} or an operation ` +
  `(${operations.join(', ')}), as in vote.p99 or vote.service.p99; errors or vote.errors; tps; ` +
  'accepted_per_s; of_target; deliveries_per_s; downtime; recovery';

/** Returns null for an unknown name. */
export function findFigure(written: string): Figure | null {
  // Reports print p99.9 for p999.
  const name = written.replace(/(^|\.)p99\.9$/, '$1p999');
  const scope = name.split('.');
  const last = scope.pop()!;
  const percentile = percentiles.find((one) => one === last);
  if (percentile) return latencyOf(name, scope, percentile);
  if (last === 'errors') return errorsOf(name, scope);
  const whole = scope.length === 0 && Object.hasOwn(ofRun, last) ? ofRun[last] : undefined;
  return whole ? { name, samples: 1, good: 'more', ...whole } : null;
}

const ofRun: Record<string, Pick<Figure, 'unit' | 'source' | 'of'> & { good?: 'less' }> = {
  tps: {
    unit: 'per_s',
    source: 'transactions',
    of: ({ transactions: { proposed, tps } }) => (proposed > 0 ? tps : null),
  },
  accepted_per_s: {
    unit: 'per_s',
    source: 'arrivals',
    of: ({ arrivals }) => (arrivals.intended > 0 ? arrivals.accepted_per_s : null),
  },
  of_target: {
    unit: 'share',
    source: 'rate',
    of: ({ arrivals }) => (arrivals.intended > 0 ? arrivals.of_target : null),
  },
  deliveries_per_s: {
    unit: 'per_s',
    source: 'delivery',
    of: ({ delivery }) => (delivery.expected > 0 ? delivery.deliveries_per_s : null),
  },
  downtime: {
    unit: 'ms',
    source: 'outages',
    good: 'less',
    of: ({ outages }) => outages?.reduce((sum, { duration_ms }) => sum + duration_ms, 0) ?? null,
  },
  recovery: {
    unit: 'ms',
    source: 'outages',
    good: 'less',
    // The slowest recovery counts; without an outage there is nothing to recover from.
    of: ({ outages }) =>
      outages?.reduce<number | null>(
        (most, { recovery_ms: one }) =>
          most === null || one === null ? null : Math.max(most, one),
        0,
      ) ?? null,
  },
};

function latencyOf(
  name: string,
  scope: readonly string[],
  percentile: (typeof percentiles)[number],
): Figure | null {
  const of = latencies(scope);
  if (!of) return null;
  return {
    name,
    unit: 'ms',
    source: sourceOf(scope),
    samples: percentile === 'p999' ? LEAST_P999 : 1,
    good: 'less',
    // The slowest operation counts, so that a fast one cannot hide it.
    of: (result) =>
      of(result).reduce<number | null>((most, one) => {
        const value = one[percentile];
        return value === null ? most : Math.max(most ?? 0, value);
      }, null),
  };
}

function sourceOf([first]: readonly string[]): Source {
  if (first === 'finality') return 'transactions';
  if (first === 'delivery') return 'delivery';
  return operations.find((one) => one === first) ?? 'arrivals';
}

function latencies(scope: readonly string[]): ((result: LoadResult) => Percentiles[]) | null {
  const [first = 'response', second = 'response', ...more] = scope;
  if (more.length > 0) return null;
  if (scope.length < 2) {
    if (first === 'finality') return ({ finality }) => [finality];
    if (first === 'delivery') return ({ delivery }) => [delivery.latency];
    const kind = kinds.find((one) => one === first);
    if (kind) return (result) => scheduledOperations(result).map((one) => one[kind]);
  }
  const kind = kinds.find((one) => one === second);
  if (!kind || !operations.some((one) => one === first)) return null;
  return (result) => named(result, first).map((one) => one[kind]);
}

function errorsOf(name: string, [operation, ...more]: readonly string[]): Figure | null {
  if (more.length > 0) return null;
  if (operation !== undefined && !operations.some((one) => one === operation)) return null;
  return {
    name,
    unit: 'share',
    source: sourceOf(operation === undefined ? [] : [operation]),
    samples: 1,
    good: 'less',
    of: (result) =>
      errorShare(operation === undefined ? scheduledOperations(result) : named(result, operation)),
  };
}

/** Returns the operations, without those outside the schedule, such as `vote (beside)`. */
export const scheduledOperations = ({ operations: all }: LoadResult): Operation[] =>
  all.filter(({ operation }) => operations.some((name) => name === operation));

export interface Slowest {
  operation: string;
  response: number;
  /** Service time of the same operation at the same percentile. */
  service: number | null;
  /** False if much of the response time is not the server's. */
  isAttributed: boolean;
}

/** Finds the scheduled operation with the longest response time; null without a response. */
export function findSlowest(
  result: LoadResult,
  percentile: (typeof percentiles)[number],
): Slowest | null {
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

function errorShare(of: readonly Operation[]): number | null {
  const sent = of.reduce((sum, one) => sum + one.sent, 0);
  const accepted = of.reduce((sum, one) => sum + one.accepted, 0);
  return sent === 0 ? null : (sent - accepted) / sent;
}

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

/** Lists all times with samples. */
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

/** Requests that were not accepted, by cause. */
export function failures(of: Operation): Failure[] {
  const none = { status: null, code: null, reason: null };
  const all: Failure[] = [
    ...of.refused.map((one): Failure => ({ what: 'refused', ...one })),
    { what: 'lie', ...none, count: of.lies },
    { what: 'timed_out', ...none, count: of.timed_out },
    { what: 'broken', ...none, count: of.broken },
    { what: 'unfinished', ...none, count: of.unfinished },
  ];
  return all.filter(({ count }) => count > 0);
}
