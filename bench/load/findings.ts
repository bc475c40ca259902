/** From what a run measured to its result, both during the run and at its end. */
import { cpus } from 'node:os';
import { lengthMs } from './executors.js';
import { type LoadOptions, type Scenario, type Shard, scenariosOf, sharesOf } from './options.js';
import type { RecordedResult, RecordedTrack, Recorder } from './recorder.js';
import type { LoadResult } from './result.js';
import { byCause, plannedIn, type WaitTimes } from './schedule.js';
import type { ClockReading, Target } from './server.js';
import {
  attribute,
  type Evidence,
  isFailing,
  joinVerdicts,
  judgeRun,
  lagShares,
} from './verdict.js';
import type { Limit } from './workload.js';

/** Server clock minus clock of the generator, before and after the run. Null if unknown. */
export interface Clocks {
  before: ClockReading | null;
  after: ClockReading | null;
}

export interface Findings {
  options: LoadOptions;
  target: Target;
  recorder: Recorder;
  startedAt: Date;
  measuredMs: number;
  stoppedMs: number;
  ended: LoadResult['ended'];
  clocks: Clocks;
  /** Notes in addition to the reasons for the verdict. */
  notes: string[];
  utilization: number;
  subscribers: number;
  /** Milliseconds of measured time during which the arrivals of each scenario waited, by cause. */
  held: WaitTimes[];
  limit(scenario: number, perS: number): Limit | null;
  signed: { keys: number; messages: number; preparedAhead: number };
  commit: string;
  r: number | null;
}

export function createResult(findings: Findings): LoadResult {
  const { recorder, measuredMs, stoppedMs } = findings;
  return loadResultOf(findings, recorder.result(measuredMs / 1000, stoppedMs), null);
}

/** A queue of up to this many seconds of arrivals counts as still to be sent. */
const IN_LINE_S = 1;

/**
 * Returns the result as if all open requests succeeded and, if `sends`, the queued arrivals as
 * well. The halves are omitted, because the second half is not over.
 */
export function resultSoFar(findings: Findings, sends: boolean): LoadResult {
  const { recorder, measuredMs, stoppedMs } = findings;
  return loadResultOf(findings, recorder.soFar(measuredMs / 1000, stoppedMs), sends);
}

const isScheduled = ({ operation }: { operation: string }) => !operation.includes('(beside)');

const heldShares = (waits: WaitTimes, measuredMs: number): Evidence['held'] =>
  byCause((cause) => (measuredMs > 0 ? Math.min(1, waits[cause] / measuredMs) : 0));

/** Arrivals of a scenario that should have been sent by now; null for virtual users. */
function targetOf({ options, measuredMs }: Findings, scenario: Scenario, track: RecordedTrack) {
  if (scenario.law === 'poisson' && scenario.plan.of === 'arrivals') return track.intended;
  return plannedIn(scenario, options.warmupMs, options.warmupMs + measuredMs);
}

/** True if the plan does not change during the measured time, so that its halves are comparable. */
function isSteady({ plan, startMs }: Scenario, { warmupMs, durationMs }: LoadOptions): boolean {
  const [first] = plan.segments;
  const isFlat = plan.segments.every(({ from, to }) => from === to && from === first!.from);
  const endMs = startMs + lengthMs(plan);
  return isFlat && startMs <= warmupMs && endMs >= warmupMs + durationMs;
}

/**
 * Returns the evidence on each scenario. Arrivals that failed in an outage do not count at all.
 * @param sends true if queued arrivals may still be sent; null after the end of the run
 */
function evidenceOf(
  findings: Findings,
  { tracks, outages = [], failedInFaults, excusedLate, ...recorded }: RecordedResult,
  attribution: Evidence['attribution'],
  sends: boolean | null,
): Evidence[] {
  const { options, measuredMs, ended, utilization, subscribers } = findings;
  const { delivery, operations, transactions } = recorded;
  const { proposed, timed_out } = transactions;
  const serviceP50 = Math.max(0, ...operations.map(({ service }) => service.p50 ?? 0));
  const isWhole = sends === null && ended === 'complete' && measuredMs >= options.durationMs - 1;
  const perS = (count: number) => (measuredMs > 0 ? (1_000 * count) / measuredMs : 0);
  const all = sum(tracks.map(({ intended }) => intended));
  const failed = outages.flatMap((one) => one.failed).filter(isScheduled);
  // The arrivals that failed in an outage of a fault are the same.
  const excused = Math.max(failedInFaults, sum(failed.map(({ count }) => count)));
  return scenariosOf(options).map((scenario, index) => {
    const track = tracks[index]!;
    const target = targetOf(findings, scenario, track);
    const mostUnsent = sends && target !== null ? IN_LINE_S * perS(target) : 0;
    const unsent = Math.min(track.intended - track.sent, mostUnsent);
    const open = sends === null ? 0 : track.underWay + unsent;
    const own = excused * (all > 0 ? track.intended / all : 0);
    return {
      ...{ ended, utilization, attribution, outages, isFailing: operations.some(isFailing) },
      connections: { count: options.connections, serviceP50 },
      transactions: { proposed, timed_out: timed_out - excusedLate },
      delivery: { subscribers, ...delivery },
      targetPerS: target === null ? null : perS(target - own),
      sentPerS: perS(track.sent - own + unsent),
      acceptedPerS: perS(track.accepted + open),
      ...{ lagP90: track.lag.p90, lagP99: track.lag.p99, responseP99: track.response.p99 },
      limit: target === null ? null : findings.limit(index, perS(target)),
      held: heldShares(findings.held[index]!, measuredMs),
      halves: isWhole && isSteady(scenario, options) ? track.halves : null,
    };
  });
}

function loadResultOf(findings: Findings, all: RecordedResult, sends: boolean | null): LoadResult {
  const { options, target, signed } = findings;
  const measuredS = findings.measuredMs / 1000;
  const { arrivals, delivery, lag, tracks, excusedLate: _, failedInFaults: __, ...recorded } = all;
  const operations = recorded.operations.filter(isScheduled);
  const scenarios = scenariosOf(options);
  const isOpen = scenarios.some(({ plan }) => plan.of === 'arrivals');
  const shares = findings.held.map((one) => heldShares(one, findings.measuredMs));
  const held = byCause((cause) => Math.max(...shares.map((one) => one[cause])));
  const attribution = attribute(isOpen ? lag : null, operations, held);
  const evidence = evidenceOf(findings, all, attribution, sends);
  // A scenario outside the measured time says nothing.
  const isIdle = (index: number) => evidence.length > 1 && tracks[index]!.intended === 0;
  const judged = evidence.map((one, index): ReturnType<typeof judgeRun> => {
    return isIdle(index) ? { verdict: 'VALID', reasons: [] } : judgeRun(one);
  });
  const names = scenarios.map(({ name }) => name);
  const { verdict, reasons } = joinVerdicts(names, judged, operations);
  const [only] = evidence.length === 1 ? evidence : [];
  const targets = evidence.map(({ targetPerS }) => targetPerS);
  const isScheduledWhole = targets.every((one) => one !== null);
  const wanted = scenarios.map((scenario, index) => targetOf(findings, scenario, tracks[index]!));
  const limit = only?.limit;
  const described = scenarios.map((scenario, index) => ({
    ...describeScenario(scenario, tracks[index]!, measuredS),
    verdict: judged[index]!.verdict,
  }));
  return {
    format: 'folkmoot-load-1',
    started: findings.startedAt.toISOString(),
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
    ...{ node: process.version, commit: findings.commit, seed: options.seed, r: findings.r },
    ...{ server: target.server, asked: describeOptions(options), verdict },
    reasons: [...findings.notes, ...reasons.map(({ text }) => text)],
    ended: findings.ended,
    measured_s: measuredS,
    arrivals: {
      ...arrivals,
      of_target: isScheduledWhole ? shareOf(arrivals.accepted, sum(wanted)) : null,
      halves: only?.halves ? [...only.halves] : [],
      held,
      limit:
        limit && verdict === 'WORKLOAD_BOUND'
          ? { per_s: limit.perS, option: limit.option, value: limit.value }
          : null,
    },
    ...recorded,
    ...(options.scenarios ? { scenarios: described } : {}),
    delivery: { subscribers: findings.subscribers, ...delivery },
    generator: {
      lag,
      of_response: isOpen ? lagShares(lag, operations) : null,
      ...{ attributed: attribution.attributed, utilization: findings.utilization },
      ...{ prepared_ahead: signed.preparedAhead, keys: signed.keys, messages: signed.messages },
    },
    saturation: null,
    tiers: [],
    ...(options.shard ? { shard: describeShard(options.shard, findings.clocks) } : {}),
  };
}

const sum = (counts: readonly (number | null)[]): number =>
  counts.reduce<number>((all, one) => all + (one ?? 0), 0);

const shareOf = (part: number, whole: number): number => (whole > 0 ? part / whole : 1);

/** Returns the figures of one scenario. Arrivals that were never sent are dropped. */
function describeScenario(
  { name, executor, mix, law }: Scenario,
  { intended, sent, accepted, lag, response }: RecordedTrack,
  measuredS: number,
): Omit<NonNullable<LoadResult['scenarios']>[number], 'verdict'> {
  return {
    ...{ name, executor, mix: describeMix(mix), arrivals: typeof law === 'string' ? law : 'trace' },
    ...{ intended, sent, accepted, dropped: intended - sent },
    accepted_per_s: measuredS > 0 ? accepted / measuredS : 0,
    ...{ response, lag },
  };
}

/** Names the requests of a mix with their shares. */
export const describeMix = (mix: Scenario['mix']): string =>
  sharesOf(mix)
    .map(({ kind, share }) => (share === 1 ? kind : `${kind} ${Math.round(100 * share)} %`))
    .join(', ');

function describeShard(
  { index, count, startAtMs }: Shard,
  { before, after }: Clocks,
): NonNullable<LoadResult['shard']> {
  return {
    ...{ number: index + 1, count, start_at: new Date(startAtMs).toISOString() },
    clock_offset_ms: before?.offsetMs ?? null,
    clock_uncertainty_ms: before?.uncertaintyMs ?? null,
    clock_moved_ms: before && after ? after.offsetMs - before.offsetMs : null,
  };
}

export function describeOptions(options: LoadOptions): LoadResult['asked'] {
  const isOpen = scenariosOf(options).some(({ plan }) => plan.of === 'arrivals');
  return {
    workload: options.workload,
    ...(isOpen
      ? { loop: 'open', rate: options.rate, concurrency: null }
      : { loop: 'closed', rate: null, concurrency: options.concurrency }),
    ...{ agents: options.agents, batch: options.batch, connections: options.connections },
    ...{ duration_s: options.durationMs / 1000, warmup_s: options.warmupMs / 1000 },
    ...{ timeout_ms: options.timeoutMs, finality_timeout_ms: options.finalityTimeoutMs },
    ...(options.keepGoing ? { keep_going: true } : {}),
    ...(options.file === undefined ? {} : { file: options.file }),
  };
}
