/** Connects schedule, sender and recorder: sends a run's requests and records their outcomes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientTracing } from '../../api/tracing.js';
import { Streams } from '../../sim/rng.js';
import { lengthMs, usersOf } from './executors.js';
import { FaultRecord } from './faults.js';
import { type Note, note } from './messages.js';
import { Nodes } from './nodes.js';
import {
  type FaultPlan,
  type LoadOptions,
  type Scenario,
  scenariosOf,
  serversOf,
  sharesOf,
} from './options.js';
import { Recorder } from './recorder.js';
import { arrivalsOf, byCause, type Lane, Schedule, type WaitTimes } from './schedule.js';
import { type Exchange, Sender } from './sender.js';
import type { Call, CallOutcome, RunContext } from './workload.js';
import type { Workload } from './workloads/mix.js';

const now = () => performance.now();

/** A block that a run proposed, with times in milliseconds since 1970 on the generator's clock. */
export interface RunBlock {
  hash: string;
  transactions: number;
  /** True if it was scheduled in the measured time. */
  measured: boolean;
  scheduled_ms: number;
  /** Time at which the event stream showed it as final; null if it did not. */
  final_ms: number | null;
}

/** Called with each block of a run, again when it is final. */
export interface MeasurementHooks {
  tracing?: ClientTracing;
  onBlock?(block: RunBlock): void;
  /** Carries a fault out, or undoes it at its end. */
  onFault?(fault: FaultPlan, which: 'begin' | 'end'): Promise<void>;
}

const toWallMs = (ms: number) => Math.round(1_000 * (performance.timeOrigin + ms)) / 1_000;

export class Measurement {
  readonly #options: LoadOptions;
  readonly #scenarios: readonly Scenario[];
  readonly #onBlock: (block: RunBlock) => void;
  readonly #onFault: NonNullable<MeasurementHooks['onFault']>;
  readonly #fail: (reason: Note) => void;
  readonly #nodes: Nodes;
  readonly #sender: Sender;
  #workload: Workload | null = null;
  /** Measured time. Infinite until known, so that nothing is measured earlier. */
  readonly #window = { startMs: Number.POSITIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  readonly recorder: Recorder;
  #schedule: Schedule | null = null;
  #lanes: readonly Lane[] = [];
  #stops: NodeJS.Timeout[] = [];
  #underWay = 0;
  #loopAtStart: ReturnType<typeof performance.eventLoopUtilization> | null = null;
  startedAt = new Date();
  /** Event-loop utilization; null until the run is over. */
  #utilization: number | null = null;

  constructor(
    options: LoadOptions,
    { tracing, onBlock = () => {}, onFault = async () => {} }: MeasurementHooks,
    fail: (reason: Note) => void,
  ) {
    this.#onFault = onFault;
    this.#fail = fail;
    this.#options = options;
    this.#onBlock = onBlock;
    this.#scenarios = scenariosOf(options);
    const { seed, keepGoing = false } = options;
    this.#nodes = new Nodes({
      ...{ urls: serversOf(options), seed, keepGoing, now },
      onGone: (forMs) => fail(note('SERVER_GONE', { seconds: (forMs / 1_000).toFixed(1) })),
      onReturned: () => {
        this.#workload?.onReturned?.();
        this.#schedule?.pump();
      },
    });
    const { finalityTimeoutMs } = options;
    const scenarios = this.#scenarios.length;
    this.recorder = new Recorder(this.#window, finalityTimeoutMs, this.#nodes, scenarios);
    this.#sender = new Sender({
      nodes: this.#nodes,
      connections: Math.max(options.connections, usersOf(options)),
      ...{ timeoutMs: options.timeoutMs, now, tracing: tracing ?? null },
      sent: (exchange) => this.#sent(exchange),
      completed: (exchange, outcome, atMs) => this.#answered(exchange, outcome, atMs),
      free: () => this.#schedule?.pump(),
    });
  }

  get isDown(): boolean {
    return this.#nodes.isDown;
  }

  get startMs(): number {
    return this.#window.startMs;
  }

  get utilization(): number {
    if (this.#utilization !== null) return this.#utilization;
    const start = this.#loopAtStart;
    return start ? performance.eventLoopUtilization(start).utilization : 0;
  }

  /** Wait times of the arrivals of each scenario during the measured time, by cause. */
  get held(): WaitTimes[] {
    return this.#scenarios.map((_, index) => this.#schedule?.waitTimes(index) ?? byCause(() => 0));
  }

  measuredMs(nowMs: number): number {
    const { startMs, endMs } = this.#window;
    return Number.isFinite(startMs) ? Math.max(0, Math.min(nowMs, endMs) - startMs) : 0;
  }

  context(fail: (reason: string) => void): RunContext {
    return {
      ...{ options: this.#options, nodes: this.#nodes, now },
      send: (call) => this.#sender.sendUnscheduled(call),
      wake: () => this.#schedule?.pump(),
      block: (hash, transactions, intendedMs, finalMs) =>
        this.#onBlock({
          ...{ hash, transactions, measured: this.recorder.measures(intendedMs) },
          scheduled_ms: toWallMs(intendedMs),
          final_ms: finalMs === null ? null : toWallMs(finalMs),
        }),
      ...{ recorder: this.recorder, fail },
    };
  }

  /** Warms up and measures. Resolves at the end of the schedule, which may be cut short. */
  async run(workload: Workload): Promise<void> {
    const { shard } = this.#options;
    // The schedule of a generator that is late by some milliseconds still starts on time.
    const begunMs = shard ? now() + shard.startAtMs - Date.now() : now();
    const { warmupMs, durationMs } = this.#options;
    this.#window.startMs = begunMs + warmupMs;
    this.#window.endMs = this.#window.startMs + durationMs;
    this.startedAt = new Date((shard?.startAtMs ?? Date.now()) + warmupMs);
    const { faults = [] } = this.#options;
    this.recorder.faults = new FaultRecord(faults, begunMs, this.#window);
    this.#workload = workload;
    for (const fault of faults) this.#plan(fault, begunMs);
    this.#schedule = this.#newSchedule(workload, begunMs);
    const warmedUp = setTimeout(() => {
      this.#loopAtStart = performance.eventLoopUtilization();
    }, warmupMs);
    await this.#schedule.run();
    // Iterations can be over before the planned end.
    if (this.#lanes.every(({ arrivals }) => arrivals.isClosed)) {
      this.#window.endMs = Math.min(this.#window.endMs, now());
    }
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

  abandon(): void {
    this.#sender.abandon();
  }

  close(): void {
    for (const stop of this.#stops) clearTimeout(stop);
    this.#nodes.close();
    this.#sender.close();
  }

  #plan(fault: FaultPlan, begunMs: number): void {
    const at = (ms: number, which: 'begin' | 'end') => {
      const act = () =>
        this.#onFault(fault, which).catch(({ message: reason }: Error) =>
          this.#fail(note('FAULT_FAILED', { name: fault.name, reason })),
        );
      this.#stops.push(setTimeout(() => void act(), begunMs + ms - now()));
    };
    at(fault.atMs, 'begin');
    if (fault.durationMs > 0) at(fault.atMs + fault.durationMs, 'end');
  }

  #newSchedule(workload: Workload, begunMs: number): Schedule {
    const { startMs: measureMs, endMs } = this.#window;
    this.#lanes = this.#scenarios.map((scenario, index) =>
      this.#newLane(workload, scenario, index, begunMs),
    );
    return new Schedule({
      ...{ lanes: this.#lanes, measureMs, endMs, now },
      hasRoom: () => this.#sender.hasRoom,
      isDown: () => this.#nodes.isDown,
    });
  }

  #newLane(workload: Workload, scenario: Scenario, index: number, begunMs: number): Lane {
    const { seed, shard } = this.#options;
    const startMs = begunMs + scenario.startMs;
    const thinking = new Streams(`load/${seed}`).of(index, 'think');
    const arrivals = arrivalsOf(scenario, startMs, {
      ...{ seed: `${seed}/${scenario.name}`, shard, draw: () => thinking.real() },
    });
    if (scenario.stopMs !== null) {
      const stopMs = startMs + lengthMs(scenario.plan) + scenario.stopMs - now();
      this.#stops.push(setTimeout(() => this.#sender.interrupt(index), stopMs));
    }
    const arrival = (user: number) => ({ scenario: index, user });
    return {
      arrivals,
      next: (intendedMs) => workload.next(index, intendedMs),
      waitsFor: () => workload.waitsFor(index),
      send: (call, intendedMs, user) => this.#sender.send(call, intendedMs, arrival(user)),
      drop: (call, intendedMs, user) =>
        this.#sender.drop(call ?? unknownCall(scenario), intendedMs, arrival(user)),
      due: (intendedMs, lagMs) => {
        if (!arrivals.isClosed) this.recorder.intended(index, intendedMs);
        this.recorder.lag(index, lagMs, intendedMs + lagMs);
      },
    };
  }

  #sent(exchange: Exchange): void {
    const { arrival, intendedMs } = exchange;
    if (arrival) {
      this.#underWay += 1;
      // A closed loop has no schedule, so the arrival counts when it is sent.
      const { isClosed } = this.#lanes[arrival.scenario]!.arrivals;
      if (isClosed) this.recorder.intended(arrival.scenario, intendedMs);
    }
    this.recorder.sent(exchange);
  }

  #answered(exchange: Exchange, outcome: CallOutcome, atMs: number): void {
    const { arrival } = exchange;
    if (arrival) {
      this.#underWay -= 1;
      this.#lanes[arrival.scenario]!.arrivals.completed(arrival.user, atMs);
    }
    this.recorder.completed(exchange, outcome, atMs);
  }
}

/** Stands for an arrival that failed before the workload had its call. */
const unknownCall = ({ mix }: Scenario): Call => ({
  operation: sharesOf(mix)[0]!.row.operation ?? 'script',
  ...{ method: 'GET', target: '', headers: {}, body: null },
  holds: () => false,
  completed: () => {},
});
