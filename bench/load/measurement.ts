/**
 * Connects schedule, sender and recorder. Sends a run's requests, records their outcomes, and
 * builds the result, both during the run and at its end.
 */
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientTracing } from '../../api/tracing.js';
import { Nodes } from './nodes.js';
import {
  arrivalsPerS,
  firstArrivalMs,
  type LoadOptions,
  type Shard,
  serversOf,
  workloadOf,
} from './options.js';
import { type RecordedResult, Recorder } from './recorder.js';
import type { LoadResult, Operation } from './result.js';
import { closedLoop, openLoop, Schedule, type WaitTimes } from './schedule.js';
import { type Exchange, Sender } from './sender.js';
import type { ClockReading, Target } from './server.js';
import { attribute, type Evidence, judgeRun, lagShares } from './verdict.js';
import type { Call, CallOutcome, Limit, RunContext, Workload } from './workload.js';

const now = () => performance.now();

export class Measurement {
  readonly #options: LoadOptions;
  readonly #nodes: Nodes;
  readonly #sender: Sender;
  #workload: Workload | null = null;
  /** Measured time. Infinite until known, so that nothing is measured earlier. */
  readonly #window = { startMs: Number.POSITIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  #recorder: Recorder;
  #schedule: Schedule | null = null;
  #completed: () => void = () => {};
  #underWay = 0;
  #loopAtStart: ReturnType<typeof performance.eventLoopUtilization> | null = null;
  #startedAt = new Date();
  /** Event-loop utilization; null until the run is over. */
  #utilization: number | null = null;

  constructor(options: LoadOptions, tracing: ClientTracing | null, gone: (forMs: number) => void) {
    this.#options = options;
    const { seed, keepGoing = false } = options;
    this.#nodes = new Nodes({
      ...{ urls: serversOf(options), seed, keepGoing, now, onGone: gone },
      onReturned: () => {
        this.#workload?.onReturned?.();
        this.#schedule?.pump();
      },
    });
    this.#recorder = this.#newRecorder();
    this.#sender = new Sender({
      nodes: this.#nodes,
      connections: Math.max(options.connections, options.concurrency ?? 0),
      timeoutMs: options.timeoutMs,
      now,
      sent: (exchange) => this.#sent(exchange),
      completed: (exchange, outcome, atMs) => this.#answered(exchange, outcome, atMs),
      free: () => this.#schedule?.pump(),
      tracing,
    });
  }

  get recorder(): Recorder {
    return this.#recorder;
  }

  /** True while no server is reachable. */
  get isDown(): boolean {
    return this.#nodes.isDown;
  }

  get startMs(): number {
    return this.#window.startMs;
  }

  get startedAt(): Date {
    return this.#startedAt;
  }

  get utilization(): number {
    if (this.#utilization !== null) return this.#utilization;
    const start = this.#loopAtStart;
    return start ? performance.eventLoopUtilization(start).utilization : 0;
  }

  /** Arrivals' wait times during the measured time, by cause. */
  get held(): WaitTimes {
    return this.#schedule?.waitTimes ?? { connections: 0, answers: 0, signatures: 0 };
  }

  /** Returns the measured time up to `nowMs`. */
  measuredMs(nowMs: number): number {
    const { startMs, endMs } = this.#window;
    return Number.isFinite(startMs) ? Math.max(0, Math.min(nowMs, endMs) - startMs) : 0;
  }

  context(fail: (reason: string) => void): RunContext {
    return {
      options: this.#options,
      nodes: this.#nodes,
      now,
      send: (call) => this.#sender.sendUnscheduled(call),
      wake: () => this.#schedule?.pump(),
      proposed: (count, intendedMs) => this.#recorder.proposed(count, intendedMs),
      transactionsAccepted: (count, intendedMs) =>
        this.#recorder.transactionsAccepted(count, intendedMs),
      finalized: (count, intendedMs, atMs) => this.#recorder.finalized(count, intendedMs, atMs),
      delivered: (latencyMs, intendedMs) => this.#recorder.delivered(latencyMs, intendedMs),
      deliveries: (change, intendedMs) => this.#recorder.deliveries(change, intendedMs),
      fail,
    };
  }

  /**
   * Warms up and measures. Resolves at the end of the schedule, or when the schedule is cut short.
   */
  async run(workload: Workload): Promise<void> {
    const { shard } = this.#options;
    // The schedule of a generator that is late by some milliseconds still starts on time.
    const begunMs = shard ? now() + shard.startAtMs - Date.now() : now();
    const { warmupMs, durationMs } = this.#options;
    this.#window.startMs = begunMs + warmupMs;
    this.#window.endMs = this.#window.startMs + durationMs;
    this.#startedAt = new Date((shard?.startAtMs ?? Date.now()) + warmupMs);
    this.#recorder = this.#newRecorder();
    this.#workload = workload;
    this.#schedule = this.#newSchedule(workload, begunMs);
    const warmedUp = setTimeout(() => {
      this.#loopAtStart = performance.eventLoopUtilization();
    }, warmupMs);
    await this.#schedule.run();
    clearTimeout(warmedUp);
    this.#utilization = this.utilization;
  }

  cut(): void {
    this.#window.endMs = Math.min(this.#window.endMs, now());
    this.#schedule?.stop();
  }

  /** Resolves once every sent arrival has a response or was abandoned. */
  async answered(signal: AbortSignal): Promise<void> {
    while (this.#underWay > 0 && !signal.aborted) await sleep(5);
  }

  /** Marks pending requests as unfinished. */
  abandon(): void {
    this.#sender.abandon();
  }

  close(): void {
    this.#nodes.close();
    this.#sender.close();
  }

  #newRecorder(): Recorder {
    return new Recorder(this.#window, this.#options.finalityTimeoutMs, this.#nodes);
  }

  #newSchedule(workload: Workload, begunMs: number): Schedule {
    const { startMs: measureMs, endMs } = this.#window;
    const perS = arrivalsPerS(this.#options);
    const arrivals =
      perS === null
        ? closedLoop(this.#options.concurrency ?? 1, begunMs, endMs)
        : openLoop(perS, begunMs + firstArrivalMs(this.#options), endMs);
    this.#completed = () => arrivals.completed();
    return new Schedule({
      arrivals,
      measureMs,
      endMs,
      now,
      next: (intendedMs) => workload.next(intendedMs),
      waitsFor: () => workload.waitsFor?.() ?? 'answers',
      hasRoom: () => this.#sender.hasRoom,
      send: (call, intendedMs) => this.#sender.sendArrival(call, intendedMs),
      isDown: () => this.#nodes.isDown,
      drop: (call, intendedMs) =>
        this.#sender.dropArrival(call ?? unknownCall(this.#options.workload), intendedMs),
      due: (intendedMs, lagMs) => {
        if (perS !== null) this.#recorder.intended(intendedMs);
        this.#recorder.lag(lagMs, intendedMs + lagMs);
      },
    });
  }

  #sent(exchange: Exchange): void {
    if (exchange.scheduled) {
      this.#underWay += 1;
      // A closed loop has no schedule, so the arrival counts when it is sent.
      if (this.#options.rate === null) this.#recorder.intended(exchange.intendedMs);
    }
    this.#recorder.sent(exchange);
  }

  #answered(exchange: Exchange, outcome: CallOutcome, atMs: number): void {
    if (exchange.scheduled) {
      this.#underWay -= 1;
      this.#completed();
    }
    this.#recorder.completed(exchange, outcome, atMs);
  }
}

/** Stands for an arrival that failed before the workload had its call. */
const unknownCall = (workload: LoadOptions['workload']): Call => ({
  operation: workloadOf(workload).schedules[0],
  ...{ method: 'GET', target: '', headers: {}, body: null },
  holds: () => false,
  completed: () => {},
});

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
  /** Clocks before and after the run; absent with one generator. */
  clocks?: Clocks;
  /** Notes in addition to the reasons for the verdict. */
  notes: string[];
  utilization: number;
  subscribers: number;
  /** Milliseconds of measured time during which arrivals waited, by cause. */
  held: WaitTimes;
  /** The workload's limit at the run's rate. */
  limit: Limit | null;
  signed: { keys: number; messages: number; preparedAhead: number };
  commit: string;
  r: number | null;
}

export function createResult(findings: Findings): LoadResult {
  const { recorder, measuredMs, stoppedMs, ended } = findings;
  const halves = ended === 'complete' ? recorder.halves : null;
  const open = { sent: 0, accepted: 0 };
  return loadResultOf(findings, recorder.result(measuredMs / 1000, stoppedMs), { halves, open });
}

/** A queue of up to this many seconds of arrivals counts as still to be sent. */
const IN_LINE_S = 1;

/**
 * Returns the result as if no further arrivals came and all open requests succeeded. The halves are
 * omitted, because the second half is not over.
 * @param sends true if queued arrivals may still be sent.
 */
export function resultSoFar(findings: Findings, sends: boolean): LoadResult {
  const { recorder, options, measuredMs, stoppedMs } = findings;
  const { underWay, inLine } = recorder.open;
  const most = IN_LINE_S * (arrivalsPerS(options) ?? 0);
  const unsent = sends ? Math.min(inLine, most) : 0;
  const open = { sent: unsent, accepted: underWay + unsent };
  const recorded = recorder.soFar(measuredMs / 1000, stoppedMs);
  return loadResultOf(findings, recorded, { halves: null, open });
}

interface Standing {
  halves: LoadHalves | null;
  /** Arrivals that may still be sent, and arrivals that may still be accepted. */
  open: { sent: number; accepted: number };
}
type LoadHalves = Recorder['halves'];

/** Tolerates one lost proposal out of a few. */
const isFailing = ({ sent, accepted }: Operation) => sent - accepted > Math.max(1, 0.01 * sent);

const isScheduled = ({ operation }: { operation: string }) => !operation.includes('(beside)');

/** Returns the waits of arrivals as shares of the measured time. */
function heldShares(waits: WaitTimes, measuredMs: number): Evidence['held'] {
  const share = (ms: number) => (measuredMs > 0 ? Math.min(1, ms / measuredMs) : 0);
  const { connections, answers, signatures } = waits;
  return {
    connections: share(connections),
    answers: share(answers),
    signatures: share(signatures),
  };
}

/**
 * Returns the evidence for the verdict. Arrivals that failed in an outage say nothing about the
 * rest of the time, so they count neither as wanted nor as sent.
 */
function evidenceOf(
  { options, recorder, measuredMs, ended, utilization, limit, subscribers }: Findings,
  {
    arrivals,
    delivery,
    lag,
    sentPerS,
    excusedLate,
    operations,
    transactions,
    outages,
  }: RecordedResult,
  { halves, open }: Standing,
): Omit<Evidence, 'attribution' | 'held'> {
  const perS = (count: number) => (measuredMs > 0 ? (1_000 * count) / measuredMs : 0);
  const failed = (outages ?? []).flatMap((one) => one.failed).filter(isScheduled);
  const excusedPerS = perS(failed.reduce((sum, { count }) => sum + count, 0));
  const targetPerS = arrivalsPerS(options);
  const { proposed, timed_out } = transactions;
  return {
    ended,
    targetPerS: targetPerS && targetPerS - excusedPerS,
    sentPerS: sentPerS - excusedPerS + perS(open.sent),
    acceptedPerS: arrivals.accepted_per_s + perS(open.accepted),
    lagP90: lag.p90,
    lagP99: lag.p99,
    responseP99: recorder.responseAt(99),
    utilization,
    limit,
    isFailing: operations.some(isFailing),
    connections: {
      count: options.connections,
      serviceP50: Math.max(0, ...operations.map(({ service }) => service.p50 ?? 0)),
    },
    transactions: { proposed, timed_out: timed_out - excusedLate },
    outages: outages ?? [],
    delivery: { subscribers, ...delivery },
    halves,
  };
}

function loadResultOf(
  findings: Findings,
  all: RecordedResult,
  { halves, open }: Standing,
): LoadResult {
  const { options, target, signed, limit } = findings;
  const measuredS = findings.measuredMs / 1000;
  const { arrivals, delivery, lag, sentPerS: _, excusedLate: __, ...recorded } = all;
  const targetPerS = arrivalsPerS(options);
  const held = heldShares(findings.held, findings.measuredMs);
  const operations = recorded.operations.filter(isScheduled);
  const isOpen = targetPerS !== null;
  const attribution = attribute(isOpen ? lag : null, operations, held);
  const evidence = evidenceOf(findings, all, { halves, open });
  const { verdict, reasons } = judgeRun({ ...evidence, attribution, held });
  return {
    format: 'folkmoot-load-1',
    started: findings.startedAt.toISOString(),
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
    node: process.version,
    commit: findings.commit,
    seed: options.seed,
    r: findings.r,
    server: target.server,
    asked: describeOptions(options),
    verdict,
    reasons: [...findings.notes, ...reasons.map(({ text }) => text)],
    ended: findings.ended,
    measured_s: measuredS,
    arrivals: {
      ...arrivals,
      of_target: targetPerS === null ? null : arrivals.accepted_per_s / targetPerS,
      halves: halves ?? [],
      held,
      limit:
        limit && verdict === 'WORKLOAD_BOUND'
          ? { per_s: limit.perS, option: limit.option, value: limit.value }
          : null,
    },
    ...recorded,
    delivery: { subscribers: findings.subscribers, ...delivery },
    generator: {
      lag,
      of_response: isOpen ? lagShares(lag, operations) : null,
      attributed: attribution.attributed,
      utilization: findings.utilization,
      prepared_ahead: signed.preparedAhead,
      keys: signed.keys,
      messages: signed.messages,
    },
    saturation: null,
    tiers: [],
    ...(options.shard ? { shard: describeShard(options.shard, findings.clocks) } : {}),
  };
}

function describeShard(
  { index, count, startAtMs }: Shard,
  { before, after }: Clocks = { before: null, after: null },
): NonNullable<LoadResult['shard']> {
  return {
    number: index + 1,
    count,
    start_at: new Date(startAtMs).toISOString(),
    clock_offset_ms: before?.offsetMs ?? null,
    clock_uncertainty_ms: before?.uncertaintyMs ?? null,
    clock_moved_ms: before && after ? after.offsetMs - before.offsetMs : null,
  };
}

/** Returns the options as they appear in a result. */
export function describeOptions(options: LoadOptions): LoadResult['asked'] {
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
    ...(options.keepGoing ? { keep_going: true } : {}),
  };
}
