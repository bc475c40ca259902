/**
 * Whether a run's figures can be trusted, and why not. The rule is this file:
 *
 * - INVALID: the server failed, nothing was accepted, or less than 99 % of what was asked for; or
 *   more than 1 % of transactions, deliveries or subscribers' connections were lost.
 * - CLIENT_BOUND: it was the generator that fell short. It is late when one arrival in a hundred
 *   was taken up more than 10 ms after it was due, and that is more than half of the 99th
 *   percentile of response times; or when one in ten was, and that is more than a tenth of it: who
 *   is late so often sees answers as late as it sends. It is busy when its event loop was in use
 *   for more than 90 % of the time. Open loop: it is to blame when it is late, or when it is busy
 *   and less than 99 % of the schedule was sent at all. Closed loop, whose response times hold no
 *   lag: when it is busy, or one in ten was so late. What was sent and not accepted is the
 *   server's, and so is waiting for a free connection. It is also to blame when less than 99 % was
 *   sent because for more than half of the time arrivals waited for its signatures.
 * - WORKLOAD_BOUND: the server never got the rate. Less than 99 % was sent, of which 99 % was
 *   accepted, as of each kind of request beside the schedule; for more than half of the time
 *   arrivals waited, with connections free, until answers gave the workload another request; and
 *   the median round of the workload offers less than the rate. A closed loop gets a note.
 * - UNSTABLE: the halves of the run disagree: in what was accepted by more than a tenth, and more
 *   than chance gives, or in the median response time by more than a factor of two and 2 ms.
 * - VALID: none of these.
 *
 * In the open loop a note says where the lag is more than a tenth of a response time at the same
 * percentile: a change of the server by a tenth is then smaller than the part of the generator.
 */
import type { Half } from './recorder.js';
import type { LoadResult, Operation, Percentiles } from './result.js';
import type { Limit } from './workload.js';

export interface Evidence {
  ended: LoadResult['ended'];
  /** Arrivals a second that were asked for; null in the closed loop. */
  targetPerS: number | null;
  sentPerS: number;
  acceptedPerS: number;
  /** Percentiles of the generator's lag and of response times, milliseconds. */
  lagP90: number | null;
  lagP99: number | null;
  responseP99: number | null;
  /** Where the lag is a large part of a response time. */
  lagParts: readonly LagPart[];
  /** Of the event loop, 0 to 1. */
  utilization: number;
  /** Shares of the measured time in which arrivals waited. */
  held: NonNullable<LoadResult['arrivals']['held']>;
  limit: Limit | null;
  /** More than 1 % of the requests of an operation, in the schedule or beside it, failed. */
  isFailing: boolean;
  /** Open at a time, and for how long a request needs one, milliseconds. */
  connections: { count: number; serviceP50: number };
  transactions: Pick<LoadResult['transactions'], 'proposed' | 'timed_out'>;
  delivery: Pick<LoadResult['delivery'], 'subscribers' | 'expected' | 'holes' | 'disconnects'>;
  /** Null where the run ended early. */
  halves: readonly [Half, Half] | null;
}

/** The lag beside the response time at the same percentile, milliseconds. */
interface LagPart {
  percentile: 'p50' | 'p90' | 'p95' | 'p99';
  lagMs: number;
  responseMs: number;
}

type Verdict = Pick<LoadResult, 'verdict' | 'reasons'>;

const LEAST_SHARE = 0.99;
const LATE_MS = 10;
const BUSY = 0.9;
const MOSTLY = 0.5;
/** Share of a response time above which the lag is noted. */
const MOST_LAG = 0.1;
const DIFFERENCE = 0.1;
const SLOWER_MS = 2;

export function judgeRun(evidence: Evidence): Verdict {
  const { ended, acceptedPerS } = evidence;
  if (ended === 'failed') return { verdict: 'INVALID', reasons: [] };
  const short = shortBy(evidence);
  const lateness = latenessOf(evidence);
  if (isBound(evidence)) {
    const reasons = [`the generator was too slow: ${lateness.join(', ')}`, ...(short ?? [])];
    return { verdict: 'CLIENT_BOUND', reasons };
  }
  if (acceptedPerS === 0) return { verdict: 'INVALID', reasons: ['nothing was accepted'] };
  const losses = lossesOf(evidence);
  if (short && losses.length === 0 && isWorkloadBound(evidence)) {
    return { verdict: 'WORKLOAD_BOUND', reasons: [workloadLimit(evidence), ...short] };
  }
  const missing = [...(short ?? []), ...(short ? connectionsOf(evidence) : []), ...losses];
  if (missing.length > 0) return { verdict: 'INVALID', reasons: missing };
  const differences = differencesOf(evidence);
  const known = lateness.map((fact) => `response times include that of the generator: ${fact}`);
  const verdict = differences.length > 0 ? 'UNSTABLE' : 'VALID';
  const notes = evidence.targetPerS === null ? idleOf(evidence) : [...known, ...lagNote(evidence)];
  return { verdict, reasons: [...differences, ...notes] };
}

const percentiles = ['p50', 'p90', 'p95', 'p99'] as const;

/**
 * The lag at each percentile as a share of the response time there, of the operation where that is
 * largest; null without a sample. Of an open loop, whose response times include the lag.
 */
export function lagShares(
  lag: Percentiles,
  operations: readonly Operation[],
): { shares: Record<LagPart['percentile'], number | null>; parts: LagPart[] } {
  const parts = percentiles.flatMap((percentile): LagPart[] => {
    const lagMs = lag[percentile];
    const times = operations.flatMap(({ response }) => response[percentile] ?? []);
    return lagMs === null || times.length === 0
      ? []
      : [{ percentile, lagMs, responseMs: Math.min(...times) }];
  });
  const of = (percentile: LagPart['percentile']): number | null => {
    const part = parts.find((one) => one.percentile === percentile);
    return part ? shareOf(part) : null;
  };
  return {
    shares: { p50: of('p50'), p90: of('p90'), p95: of('p95'), p99: of('p99') },
    parts: parts.filter((part) => shareOf(part) > MOST_LAG),
  };
}

/** At most 1: requests that failed have a lag as well, but no response time. */
const shareOf = ({ lagMs, responseMs }: LagPart): number =>
  responseMs > 0 ? Math.min(1, lagMs / responseMs) : 0;

function lagNote({ lagParts }: Evidence): string[] {
  if (lagParts.length === 0) return [];
  const parts = lagParts.map((part) => {
    const [lag, response] = [part.lagMs, part.responseMs].map(fine);
    return `${lag} of ${response} ms at ${part.percentile} (${Math.round(100 * shareOf(part))} %)`;
  });
  const found = `the generator's lag is more than ${100 * MOST_LAG} % of response times`;
  return [`${found}: ${parts.join(', ')}; service times are without it`];
}

function isWorkloadBound(evidence: Evidence): boolean {
  const { targetPerS, sentPerS, acceptedPerS, held, limit, isFailing } = evidence;
  if (targetPerS === null || limit === null || isFailing || held.answers <= MOSTLY) return false;
  const least = LEAST_SHARE * targetPerS;
  return sentPerS < least && acceptedPerS >= LEAST_SHARE * sentPerS && limit.perS < least;
}

const workloadLimit = ({ held, limit, targetPerS }: Evidence): string =>
  `the workload was the limit: it had no request for ${figure(100 * held.answers)} % of the ` +
  `time, and offers ${figure(limit!.perS)} of ${figure(targetPerS!)} arrivals a second; use ` +
  `${limit!.option} ${limit!.value}`;

/** Notes a closed loop whose workload had fewer requests than --concurrency allows. */
const idleOf = ({ held }: Evidence): string[] =>
  held.answers > MOSTLY
    ? [
        `the workload had fewer requests than --concurrency for ${figure(100 * held.answers)} % ` +
          'of the time; use more --agents or a lower --concurrency',
      ]
    : [];

/** Computes how many connections the rate needs at the service time, where all were in use. */
function connectionsOf({ held, connections, targetPerS }: Evidence): string[] {
  const { count, serviceP50 } = connections;
  const needed = Math.ceil((targetPerS! * serviceP50) / 1_000);
  if (held.connections <= MOSTLY || needed <= count) return [];
  return [
    `all ${count} connections were in use for ${figure(100 * held.connections)} % of the time: ` +
      `at a median service time of ${figure(serviceP50)} ms the rate needs ${needed}; use ` +
      `--connections ${needed}, if the server is as fast with that many`,
  ];
}

/** Whether the generator is to blame. */
function isBound(evidence: Evidence): boolean {
  const { targetPerS, sentPerS, responseP99, utilization } = evidence;
  const [lagP90, lagP99] = [evidence.lagP90 ?? 0, evidence.lagP99 ?? 0];
  const busy = utilization > BUSY;
  const beyond = (lag: number, share: number) =>
    responseP99 !== null && lag > Math.max(LATE_MS, share * responseP99);
  if (targetPerS === null) return busy || beyond(lagP90, 0.1);
  const late = beyond(lagP99, 0.5) || beyond(lagP90, 0.1);
  const unsent = sentPerS < LEAST_SHARE * targetPerS;
  const unsigned = evidence.held.signatures > MOSTLY;
  return shortBy(evidence) ? unsent && (late || busy || unsigned) : late;
}

/** What is known of a generator that is late or busy. */
function latenessOf({ lagP99, utilization, held }: Evidence): string[] {
  return [
    ...(held.signatures > MOSTLY
      ? [`arrivals waited for its signatures for ${figure(100 * held.signatures)} % of the time`]
      : []),
    ...((lagP99 ?? 0) > LATE_MS
      ? [`its lag is ${figure(lagP99 ?? 0)} ms at the 99th percentile`]
      : []),
    ...(utilization > BUSY
      ? [`its event loop was busy for ${figure(100 * utilization)} % of the time`]
      : []),
  ];
}

/** What is missing from the rate, or null. */
function shortBy({ targetPerS, acceptedPerS }: Evidence): string[] | null {
  if (targetPerS === null || acceptedPerS >= LEAST_SHARE * targetPerS) return null;
  // Cut, not rounded: 98.96 % does not read as the 99 % that are expected.
  const share = Math.floor((1_000 * acceptedPerS) / targetPerS) / 10;
  const accepted = Math.floor(10 * acceptedPerS) / 10;
  const found = `${exact(accepted)} of ${exact(targetPerS)} arrivals a second were accepted`;
  return [`${found}, ${exact(share)} %; expected at least ${100 * LEAST_SHARE} %`];
}

/** What was accepted, and yet did not come of it. */
function lossesOf({ transactions, delivery }: Evidence): string[] {
  const { proposed, timed_out } = transactions;
  const { subscribers, expected, holes, disconnects } = delivery;
  const losses: [part: number, whole: number, text: string][] = [
    [timed_out, proposed, 'transactions were not seen final by their deadline'],
    [disconnects, subscribers, "subscribers' connections were closed by the server"],
    [holes, expected, 'deliveries were missing, or came twice or out of order'],
  ];
  return losses
    .filter(([part, whole]) => part > (1 - LEAST_SHARE) * whole)
    .map(([part, whole, text]) => `${part} of ${whole} ${text}`);
}

function differencesOf({ halves }: Evidence): string[] {
  if (!halves) return [];
  const [first, second] = halves;
  const times = [first, second].map(({ response_p50 }) => figure(response_p50 ?? 0));
  return [
    ...(fewer(first, second) || fewer(second, first)
      ? [`the halves of the run accepted ${first.accepted} and ${second.accepted} arrivals`]
      : []),
    ...(slower(first, second) || slower(second, first)
      ? [`the halves' medians are ${times.join(' and ')} ms`]
      : []),
  ];
}

/**
 * How the second half shows a rate that does not hold, or null: fewer answers than chance makes, or
 * a line that grows by more than a hundredth of the time between the halves' middles. A server that
 * takes 99 % of what comes lets it grow so.
 */
export function worsening({
  arrivals,
  measured_s,
}: Pick<LoadResult, 'arrivals' | 'measured_s'>): string | null {
  const [first, second] = arrivals.halves;
  if (!first || !second) return null;
  const grownMs = (second.response_p50 ?? 0) - (first.response_p50 ?? 0);
  if (fewer(second, first)) return 'the second half accepted less than the first';
  if (grownMs <= (1 - LEAST_SHARE) * (measured_s / 2) * 1_000) return null;
  return `the line grew: the second half's median is ${figure(grownMs)} ms longer`;
}

const fewer = (half: Half, other: Half): boolean => {
  const chance = 2 * Math.sqrt(other.accepted);
  return other.accepted - half.accepted > Math.max(DIFFERENCE * other.accepted, chance);
};

const slower = (half: Half, other: Half): boolean => {
  const [halfMs, otherMs] = [half.response_p50 ?? 0, other.response_p50 ?? 0];
  return halfMs > 2 * otherMs && halfMs - otherMs > SLOWER_MS;
};

const exact = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 1 });

const fine = (value: number) =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 1 ? 3 : 1 });

const figure = (value: number) =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });
