/** Puts together what a run found, or would find if it ended now. */
import { cpus } from 'node:os';
import { arrivalsPerS, type LoadOptions } from '../options.js';
import type { Recorded, Recorder } from '../record/recorder.js';
import type { LoadResult, Operation } from '../result.js';
import type { Held } from '../send/schedule.js';
import type { Target } from '../server/target.js';
import type { Limit } from '../workload.js';
import { lagShares, verdictOf } from './verdict.js';

export interface Findings {
  options: LoadOptions;
  target: Target;
  recorder: Recorder;
  startedAt: Date;
  measuredMs: number;
  stoppedMs: number;
  ended: LoadResult['ended'];
  /** What is to be said besides the verdict's reasons. */
  notes: string[];
  utilization: number;
  subscribers: number;
  /** Milliseconds of the measured time in which arrivals waited, by cause. */
  held: Held;
  /** Limit of the workload, at the rate of the run. */
  limit: Limit | null;
  signed: { keys: number; messages: number; preparedAhead: number };
  commit: string;
  r: number | null;
}

export function resultOf(findings: Findings): LoadResult {
  const { recorder, measuredMs, stoppedMs, ended } = findings;
  const halves = ended === 'complete' ? recorder.halves : null;
  const open = { sent: 0, accepted: 0 };
  return found(findings, recorder.result(measuredMs / 1000, stoppedMs), { halves, open });
}

/** Arrivals that wait in line for no longer may all be sent yet. */
const IN_LINE_S = 1;

/**
 * What would be found if nothing more came and what is open ended well; `sends`: whether what is in
 * line may still be sent. Without the halves, of which the second is not over.
 */
export function resultSoFar(findings: Findings, sends: boolean): LoadResult {
  const { recorder, options, measuredMs, stoppedMs } = findings;
  const { underWay, inLine } = recorder.open;
  const most = IN_LINE_S * (arrivalsPerS(options) ?? 0);
  const unsent = sends ? Math.min(inLine, most) : 0;
  const open = { sent: unsent, accepted: underWay + unsent };
  const recorded = recorder.soFar(measuredMs / 1000, stoppedMs);
  return found(findings, recorded, { halves: null, open });
}

interface Standing {
  halves: LoadHalves | null;
  /** How many more may still be sent, and accepted. */
  open: { sent: number; accepted: number };
}
type LoadHalves = Recorder['halves'];

/** One lost proposal of few does not make the server the limit of a run. */
const isFailing = ({ sent, accepted }: Operation) => sent - accepted > Math.max(1, 0.01 * sent);

function found(findings: Findings, all: Recorded, { halves, open }: Standing): LoadResult {
  const { options, target, recorder, signed, limit } = findings;
  const measuredS = findings.measuredMs / 1000;
  const { arrivals, delivery, lag, sentPerS, ...recorded } = all;
  const targetPerS = arrivalsPerS(options);
  const more = (count: number) => (measuredS > 0 ? count / measuredS : 0);
  const share = (ms: number) => Math.min(1, more(ms) / 1_000);
  const { connections, answers, signatures } = findings.held;
  const held = {
    connections: share(connections),
    answers: share(answers),
    signatures: share(signatures),
  };
  const operations = recorded.operations.filter((one) => !one.operation.includes('(beside)'));
  const late = lagShares(lag, operations);
  const { verdict, reasons } = verdictOf({
    ended: findings.ended,
    targetPerS,
    sentPerS: sentPerS + more(open.sent),
    acceptedPerS: arrivals.accepted_per_s + more(open.accepted),
    lagP90: lag.p90,
    lagP99: lag.p99,
    responseP99: recorder.responseAt(99),
    utilization: findings.utilization,
    lagParts: targetPerS === null ? [] : late.parts,
    held,
    limit,
    isFailing: recorded.operations.some(isFailing),
    connections: {
      count: options.connections,
      serviceP50: Math.max(0, ...recorded.operations.map(({ service }) => service.p50 ?? 0)),
    },
    transactions: recorded.transactions,
    delivery: { subscribers: findings.subscribers, ...delivery },
    halves,
  });
  return {
    format: 'folkmoot-load-1',
    started: findings.startedAt.toISOString(),
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
    node: process.version,
    commit: findings.commit,
    seed: options.seed,
    r: findings.r,
    server: target.server,
    asked: askedOf(options),
    verdict,
    reasons: [...findings.notes, ...reasons],
    ended: findings.ended,
    measured_s: measuredS,
    arrivals: {
      ...arrivals,
      of_target: targetPerS === null ? null : arrivals.accepted_per_s / targetPerS,
      halves: halves ?? [],
      held,
      limit: limit && { per_s: limit.perS, option: limit.option, value: limit.value },
    },
    ...recorded,
    delivery: { subscribers: findings.subscribers, ...delivery },
    generator: {
      lag,
      of_response: targetPerS === null ? null : late.shares,
      utilization: findings.utilization,
      prepared_ahead: signed.preparedAhead,
      keys: signed.keys,
      messages: signed.messages,
    },
    saturation: null,
    tiers: [],
  };
}

/** What was asked, as the result says it. */
export function askedOf(options: LoadOptions): LoadResult['asked'] {
  return {
    workload: options.workload,
    loop: options.rate === null ? 'closed' : 'open',
    rate: options.rate,
    concurrency: options.rate === null ? options.concurrency : null,
    agents: options.agents,
    batch: options.batch,
    duration_s: options.durationMs / 1000,
    warmup_s: options.warmupMs / 1000,
    timeout_ms: options.timeoutMs,
    finality_timeout_ms: options.finalityTimeoutMs,
    connections: options.connections,
  };
}
