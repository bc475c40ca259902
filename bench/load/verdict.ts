/**
 * The verdict on a run states if its figures can be trusted, and if not, the reason. The rules:
 *
 * - INCOMPLETE: the run was interrupted. The reasons also contain those of the other rules.
 * - INVALID: the server failed, accepted nothing, or accepted less than 99 % of the target rate; or
 *   more than 1 % of transactions, deliveries or subscriber connections were lost.
 * - CLIENT_BOUND: the load generator was the limit. The generator is late if 1 % of arrivals
 *   started more than 10 ms late, and that lag is more than half of the p99 response time. It is
 *   also late if 10 % of arrivals started that late, and that lag is more than a tenth of the p99
 *   response time, because a generator that is often late also sees responses late. The generator
 *   is busy if its event loop was in use for more than 90 % of the time. An open loop is
 *   CLIENT_BOUND if the generator is late, or if it is busy and sent less than 99 % of the
 *   schedule. A closed loop, where response times exclude lag, is CLIENT_BOUND if the generator is
 *   busy, or if 10 % of arrivals were that late. Requests that were sent but not accepted count
 *   against the server, as does waiting for a free connection. A run is also CLIENT_BOUND if less
 *   than 99 % was sent because arrivals waited for signatures more than half of the time.
 * - WORKLOAD_BOUND: the workload never offered the rate. Three conditions must hold. Less than 99 %
 *   was sent, and 99 % of the sent requests were accepted, including each kind of request outside
 *   the schedule. For more than half of the time, arrivals waited, with connections free, for
 *   responses that allow the next request. The median round of the workload offers less than the
 *   rate. A closed loop gets a note instead.
 * - UNSTABLE: the two halves of the run differ, either in accepted arrivals by more than a tenth
 *   and more than chance explains, or in the median response time by more than a factor of two and
 *   by more than 2 ms.
 * - VALID: none of these.
 *
 * In an open loop, a note names the quantiles of response times that are not attributed to the
 * server: those of which more than a tenth is generator lag or waiting for the workload. A
 * ten-percent change in the server is then smaller than the error. A further note reports waiting
 * for the workload or for signatures from 5 % of the time on.
 */
import { plural } from '../../report/shared/format.js';
import { type Note, note } from './messages.js';
import type { Half } from './recorder.js';
import type { LoadResult, Operation, Outage, Percentiles } from './result.js';
import type { Limit } from './workload.js';

export interface Evidence {
  ended: LoadResult['ended'];
  /** Target rate in arrivals per second; null in a closed loop. */
  targetPerS: number | null;
  sentPerS: number;
  acceptedPerS: number;
  lagP90: number | null;
  lagP99: number | null;
  responseP99: number | null;
  attribution: Attribution;
  utilization: number;
  /** Fraction of the measured time during which arrivals waited, by cause. */
  held: NonNullable<LoadResult['arrivals']['held']>;
  limit: Limit | null;
  /** True if an operation, scheduled or not, had more than 1 % of failed requests. */
  isFailing: boolean;
  /** Connection limit, and the median time of a request on a connection, in milliseconds. */
  connections: { count: number; serviceP50: number };
  /** Late transactions that were not open during an outage. */
  transactions: Pick<LoadResult['transactions'], 'proposed' | 'timed_out'>;
  outages?: readonly Outage[];
  delivery: Pick<LoadResult['delivery'], 'subscribers' | 'expected' | 'holes' | 'disconnects'>;
  /** Null if the run ended early. */
  halves: readonly [Half, Half] | null;
}

export interface Attribution {
  /** Names of the quantiles that measure the server, such as `vote.p99`. */
  attributed: string[];
  /** The other quantiles, with the time that the server did not cause, in milliseconds. */
  others: { name: string; ownMs: number; responseMs: number }[];
}

interface Verdict {
  verdict: LoadResult['verdict'];
  reasons: Note[];
}

const LEAST_SHARE = 0.99;
const LATE_MS = 10;
const BUSY = 0.9;
const MOSTLY = 0.5;
/** Fraction of a response time up to which lag and waits count as an error of measurement. */
const MOST_OWN = 0.1;
/** Fraction of the measured time from which waiting for the workload or signatures counts. */
const LEAST_HELD = 0.05;
const DIFFERENCE = 0.1;
const SLOWER_MS = 2;

/** True if more than 1 % of the requests failed; tolerates one lost proposal out of a few. */
export const isFailing = ({ sent, accepted }: Operation): boolean =>
  sent - accepted > Math.max(1, 0.01 * sent);

export function judgeRun(evidence: Evidence): Verdict {
  if (evidence.ended === 'failed') return { verdict: 'INVALID', reasons: [] };
  const judged = judgeWhole(evidence);
  return evidence.ended === 'complete' ? judged : { ...judged, verdict: 'INCOMPLETE' };
}

const order: readonly Verdict['verdict'][] = [
  ...(['INVALID', 'CLIENT_BOUND', 'WORKLOAD_BOUND'] as const),
  ...(['INCOMPLETE', 'UNSTABLE', 'VALID'] as const),
];

export const findWorst = (all: readonly Pick<Verdict, 'verdict'>[]): Verdict['verdict'] =>
  order.find((one) => all.some(({ verdict }) => verdict === one)) ?? 'VALID';

/** Returns the worst verdict. A reason names its scenario, unless all scenarios have it. */
export function joinVerdicts(
  names: readonly string[],
  judged: readonly Verdict[],
  operations: readonly Operation[],
): Verdict {
  const verdict = findWorst(judged);
  const everywhere = ({ text }: Note) =>
    judged.every(({ reasons }) => reasons.some((one) => one.text === text));
  const common = judged[0]!.reasons.filter(everywhere);
  const own = judged.flatMap(({ reasons }, index) =>
    reasons
      .filter((reason) => !everywhere(reason))
      .map(({ text }) => note('SCENARIO', { name: names[index]!, reason: text })),
  );
  const failed = operations.flatMap(({ refused }) =>
    refused.filter(({ code }) => code === 'SCRIPT_FAILED'),
  );
  const iterations = failed.map(({ count, reason }) =>
    note('ITERATIONS_FAILED', { count, reason }),
  );
  return { verdict, reasons: [...common, ...own, ...iterations] };
}

function judgeWhole(evidence: Evidence): Verdict {
  const short = shortBy(evidence);
  const outages = outageNotes(evidence);
  const problems = generatorProblems(evidence);
  if (isBound(evidence)) {
    const reasons = [...problems.map(({ reason }) => reason), ...(short ?? []), ...outages.notes];
    return { verdict: 'CLIENT_BOUND', reasons };
  }
  if (evidence.acceptedPerS === 0)
    return { verdict: 'INVALID', reasons: [note('NOTHING_ACCEPTED', {})] };
  const losses = [...lossesOf(evidence), ...(outages.isOver ? [] : outages.notes)];
  if (short && losses.length === 0 && isWorkloadBound(evidence)) {
    return { verdict: 'WORKLOAD_BOUND', reasons: [workloadLimit(evidence), ...short] };
  }
  const missing = [...(short ?? []), ...(short ? connectionNotes(evidence) : []), ...losses];
  if (missing.length > 0) {
    const notes = outages.isOver ? outages.notes : [];
    return { verdict: 'INVALID', reasons: [...missing, ...notes, ...heldNotes(evidence)] };
  }
  const differences = [...outages.notes, ...differencesOf(evidence)];
  const verdict = differences.length > 0 ? 'UNSTABLE' : 'VALID';
  const notes =
    evidence.targetPerS === null
      ? idleNotes(evidence)
      : [
          ...problems.flatMap((one) => one.note ?? []),
          ...heldNotes(evidence),
          ...ownNotes(evidence),
        ];
  return { verdict, reasons: [...differences, ...notes] };
}

const percentiles = ['p50', 'p90', 'p95', 'p99'] as const;

/**
 * Computes lag as a share of response time in an open loop, for the operation with the largest one.
 */
export function lagShares(
  lag: Percentiles,
  operations: readonly Operation[],
): Record<(typeof percentiles)[number], number | null> {
  const of = (percentile: (typeof percentiles)[number]): number | null => {
    const times = operations.flatMap(({ response }) => response[percentile] ?? []);
    const lagMs = lag[percentile];
    return lagMs === null || times.length === 0 ? null : shareOf(lagMs, Math.min(...times));
  };
  return { p50: of('p50'), p90: of('p90'), p95: of('p95'), p99: of('p99') };
}

/** Limits the share to 1, because failed requests have lag but no response time. */
const shareOf = (ownMs: number, responseMs: number): number =>
  responseMs > 0 ? Math.min(1, ownMs / responseMs) : 0;

/**
 * Attributes the quantiles of response times. The server did not cause the lag at the same
 * percentile, nor the wait before sending if arrivals waited for workload or signatures. @param lag
 * null in a closed loop, whose response times exclude lag.
 */
export function attribute(
  lag: Percentiles | null,
  operations: readonly Operation[],
  { answers, signatures }: Evidence['held'],
): Attribution {
  const waits = answers + signatures >= LEAST_HELD;
  const all = operations.flatMap(({ operation, response, service }) =>
    [...percentiles, 'p999' as const].flatMap((percentile) => {
      const [responseMs, serviceMs] = [response[percentile], service[percentile]];
      if (responseMs === null || serviceMs === null) return [];
      const ownMs = Math.max(lag?.[percentile] ?? 0, waits ? responseMs - serviceMs : 0);
      return [{ name: `${operation}.${percentile}`, ownMs, responseMs }];
    }),
  );
  const isServers = ({ ownMs, responseMs }: (typeof all)[number]) =>
    shareOf(ownMs, responseMs) <= MOST_OWN;
  return {
    attributed: all.filter(isServers).map(({ name }) => name),
    others: all.filter((one) => !isServers(one)),
  };
}

function ownNotes({ attribution }: Evidence): Note[] {
  if (attribution.others.length === 0) return [];
  const parts = attribution.others.map(
    ({ name, ownMs, responseMs }) => `${name} (${Math.round(100 * shareOf(ownMs, responseMs))} %)`,
  );
  const attributed = attribution.attributed.join(', ') || 'none';
  return [note('NOT_ATTRIBUTED', { most: 100 * MOST_OWN, parts: parts.join(', '), attributed })];
}

/** Returns notes on the time in which arrivals waited for the workload or for signatures. */
function heldNotes({ held }: Evidence): Note[] {
  const percent = (share: number) => ({ percent: figure(100 * share) });
  return [
    ...(held.answers >= LEAST_HELD ? [note('WORKLOAD_WAITED', percent(held.answers))] : []),
    ...(held.signatures >= LEAST_HELD ? [note('UNSIGNED_NOTED', percent(held.signatures))] : []),
  ];
}

function isWorkloadBound(evidence: Evidence): boolean {
  const { targetPerS, sentPerS, acceptedPerS, held, limit, isFailing } = evidence;
  if (targetPerS === null || limit === null || isFailing || held.answers <= MOSTLY) return false;
  const least = LEAST_SHARE * targetPerS;
  return sentPerS < least && acceptedPerS >= LEAST_SHARE * sentPerS && limit.perS < least;
}

const workloadLimit = ({ held, limit, targetPerS }: Evidence): Note =>
  note('WORKLOAD_LIMIT', {
    ...{ percent: figure(100 * held.answers), offered: figure(limit!.perS) },
    ...{ target: figure(targetPerS!), option: limit!.option, value: limit!.value },
  });

/** Returns a note for a closed loop whose workload had fewer requests than --concurrency allows. */
const idleNotes = ({ held }: Evidence): Note[] =>
  held.answers > MOSTLY ? [note('WORKLOAD_IDLE', { percent: figure(100 * held.answers) })] : [];

/** Returns a note on the connections that the rate needs, if most arrivals waited for one. */
function connectionNotes({ held, connections, targetPerS }: Evidence): Note[] {
  const { count, serviceP50 } = connections;
  const needed = Math.ceil((targetPerS! * serviceP50) / 1_000);
  if (held.connections <= MOSTLY || needed <= count) return [];
  const percent = figure(100 * held.connections);
  return [note('CONNECTIONS_LIMIT', { count, percent, needed, service: figure(serviceP50) })];
}

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

/** Returns the generator's problems, as reasons and, unless `heldNotes` has them, as notes. */
function generatorProblems({
  lagP99,
  utilization,
  held,
}: Evidence): { reason: Note; note?: Note }[] {
  const lag = { lag: figure(lagP99 ?? 0) };
  const busy = { percent: figure(100 * utilization) };
  const unsigned = { percent: figure(100 * held.signatures) };
  const all = [
    held.signatures > MOSTLY && { reason: note('GENERATOR_UNSIGNED', unsigned) },
    (lagP99 ?? 0) > LATE_MS && {
      reason: note('GENERATOR_LATE', lag),
      note: note('LAG_INCLUDED', lag),
    },
    utilization > BUSY && { reason: note('GENERATOR_BUSY', busy), note: note('BUSY_NOTED', busy) },
  ];
  return all.filter((one) => one !== false);
}

function shortBy({ targetPerS, acceptedPerS }: Evidence): Note[] | null {
  if (targetPerS === null || acceptedPerS >= LEAST_SHARE * targetPerS) return null;
  // Rounded down, so that 98.96 % does not read as the required 99 %.
  const share = Math.floor((1_000 * acceptedPerS) / targetPerS) / 10;
  const accepted = exact(Math.floor(10 * acceptedPerS) / 10);
  const values = { accepted, target: exact(targetPerS), share: exact(share) };
  return [note('RATE_MISSED', { ...values, least: 100 * LEAST_SHARE })];
}

/** Returns notes on late transactions, and on lost connections and deliveries. */
function lossesOf({ transactions, delivery }: Evidence): Note[] {
  const { proposed, timed_out } = transactions;
  const { subscribers, expected, holes, disconnects } = delivery;
  const losses = [
    { part: timed_out, whole: proposed, key: 'TRANSACTIONS_LATE' },
    { part: disconnects, whole: subscribers, key: 'SUBSCRIBERS_CLOSED' },
    { part: holes, whole: expected, key: 'DELIVERIES_LOST' },
  ] as const;
  return losses
    .filter(({ part, whole }) => part > (1 - LEAST_SHARE) * whole)
    .map(({ part, whole, key }) => note(key, { part, whole }));
}

/** Returns a note on the outages of the run, and false if a server was not back at the end. */
function outageNotes({ outages = [] }: Evidence): { notes: Note[]; isOver: boolean } {
  if (outages.length === 0) return { notes: [], isOver: true };
  const total = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
  const seconds = (total(outages.map(({ duration_ms }) => duration_ms)) / 1_000).toFixed(1);
  const failed = total(outages.flatMap((one) => one.failed).map(({ count }) => count));
  const isOver = outages.every(({ end_ms }) => end_ms !== null);
  const values = { seconds, failed: exact(failed), outages: plural(outages.length, 'outage') };
  return { notes: [note(isOver ? 'OUTAGES' : 'OUTAGE_LASTS', values)], isOver };
}

function differencesOf({ halves }: Evidence): Note[] {
  if (!halves) return [];
  const [first, second] = halves;
  const [fast, slow] = [first, second].map(({ response_p50 }) => figure(response_p50 ?? 0));
  return [
    ...(fewer(first, second) || fewer(second, first)
      ? [note('HALVES_ACCEPTED', { first: first.accepted, second: second.accepted })]
      : []),
    ...(slower(first, second) || slower(second, first)
      ? [note('HALVES_SLOWER', { first: fast!, second: slow! })]
      : []),
  ];
}

/**
 * Returns a sign that the rate is not sustainable: the second half accepted a tenth fewer arrivals,
 * and fewer than by chance, or the queue grew by more than 1 % of the time between the midpoints of
 * the halves, as on a server that serves 99 % of the rate.
 */
export function worsening({
  arrivals,
  measured_s,
}: Pick<LoadResult, 'arrivals' | 'measured_s'>): Note | null {
  const [first, second] = arrivals.halves;
  if (!first || !second) return null;
  const grownMs = (second.response_p50 ?? 0) - (first.response_p50 ?? 0);
  if (fewer(second, first)) return note('SECOND_HALF_FEWER', {});
  if (grownMs <= (1 - LEAST_SHARE) * (measured_s / 2) * 1_000) return null;
  return note('QUEUE_GREW', { grown: figure(grownMs) });
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

const figure = (value: number) =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });
