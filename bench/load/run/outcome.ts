/** Puts together what a run found. */
import { cpus } from 'node:os';
import { arrivalsPerS, type LoadOptions } from '../options.js';
import type { Recorder } from '../record/recorder.js';
import type { LoadResult } from '../result.js';
import type { Target } from '../server/target.js';
import { verdictOf } from './verdict.js';

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
  signed: { keys: number; messages: number; preparedAhead: number };
  commit: string;
  r: number | null;
}

export function resultOf(findings: Findings): LoadResult {
  const { options, target, recorder, signed } = findings;
  const measuredS = findings.measuredMs / 1000;
  const { arrivals, delivery, lag, sentPerS, ...recorded } = recorder.result(
    measuredS,
    findings.stoppedMs,
  );
  const targetPerS = arrivalsPerS(options);
  const halves = findings.ended === 'complete' ? recorder.halves : null;
  const { verdict, reasons } = verdictOf({
    ended: findings.ended,
    targetPerS,
    sentPerS,
    acceptedPerS: arrivals.accepted_per_s,
    lagP90: lag.p90,
    lagP99: lag.p99,
    responseP99: recorder.responseAt(99),
    utilization: findings.utilization,
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
    },
    ...recorded,
    delivery: { subscribers: findings.subscribers, ...delivery },
    generator: {
      lag,
      utilization: findings.utilization,
      prepared_ahead: signed.preparedAhead,
      keys: signed.keys,
      messages: signed.messages,
    },
    saturation: null,
    tiers: [],
  };
}

function askedOf(options: LoadOptions): LoadResult['asked'] {
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
