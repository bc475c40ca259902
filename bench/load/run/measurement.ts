/** Joins schedule, sender and recorder: what is sent in the measured time, and what came of it. */
import { setTimeout as delay } from 'node:timers/promises';
import { arrivalsPerS, type LoadOptions } from '../options.js';
import { Recorder } from '../record/recorder.js';
import { closedLoop, openLoop } from '../send/arrivals.js';
import type { Exchange } from '../send/connection.js';
import { type Held, Schedule } from '../send/schedule.js';
import { Sender } from '../send/sender.js';
import type { CallOutcome, RunContext, Workload } from '../workload.js';

const now = () => performance.now();

export class Measurement {
  readonly #options: LoadOptions;
  readonly #sender: Sender;
  /** The measured time; before it is known, nothing is measured. */
  readonly #window = { startMs: Number.POSITIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  #recorder: Recorder;
  #schedule: Schedule | null = null;
  #completed: () => void = () => {};
  #underWay = 0;
  #loopAtStart: ReturnType<typeof performance.eventLoopUtilization> | null = null;
  #startedAt = new Date();
  /** Null until it is over. */
  #utilization: number | null = null;

  constructor(options: LoadOptions, gone: (forMs: number) => void) {
    this.#options = options;
    this.#recorder = this.#newRecorder();
    this.#sender = new Sender({
      url: options.url,
      connections: Math.max(options.connections, options.concurrency ?? 0),
      timeoutMs: options.timeoutMs,
      now,
      sent: (exchange) => this.#sent(exchange),
      completed: (exchange, outcome, atMs) => this.#answered(exchange, outcome, atMs),
      free: () => this.#schedule?.pump(),
      gone,
    });
  }

  get recorder(): Recorder {
    return this.#recorder;
  }

  get startMs(): number {
    return this.#window.startMs;
  }

  get startedAt(): Date {
    return this.#startedAt;
  }

  /** Of the event loop, in the measured time so far. */
  get utilization(): number {
    if (this.#utilization !== null) return this.#utilization;
    const start = this.#loopAtStart;
    return start ? performance.eventLoopUtilization(start).utilization : 0;
  }

  /** For how long arrivals waited in the measured time, by what they waited for. */
  get held(): Held {
    return this.#schedule?.held ?? { connections: 0, answers: 0, signatures: 0 };
  }

  /** What was measured by then of the time that was meant to be. */
  measuredMs(nowMs: number): number {
    const { startMs, endMs } = this.#window;
    return Number.isFinite(startMs) ? Math.max(0, Math.min(nowMs, endMs) - startMs) : 0;
  }

  context(fail: (reason: string) => void): RunContext {
    return {
      options: this.#options,
      now,
      send: (call) => this.#sender.sendBeside(call),
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

  /** Warms up and measures; resolves at the end of the schedule, or when it is cut. */
  async run(workload: Workload): Promise<void> {
    const begunMs = now();
    const { warmupMs, durationMs } = this.#options;
    this.#window.startMs = begunMs + warmupMs;
    this.#window.endMs = this.#window.startMs + durationMs;
    this.#startedAt = new Date(Date.now() + warmupMs);
    this.#recorder = this.#newRecorder();
    this.#schedule = this.#newSchedule(workload, begunMs);
    const warmedUp = setTimeout(() => {
      this.#loopAtStart = performance.eventLoopUtilization();
    }, warmupMs);
    await this.#schedule.run();
    clearTimeout(warmedUp);
    this.#utilization = this.utilization;
  }

  /** Ends the measured time now. */
  cut(): void {
    this.#window.endMs = Math.min(this.#window.endMs, now());
    this.#schedule?.stop();
  }

  /** Resolves when all arrivals that were sent have been answered or given up. */
  async answered(signal: AbortSignal): Promise<void> {
    while (this.#underWay > 0 && !signal.aborted) await delay(5);
  }

  /** Requests without an answer are unfinished from now on. */
  abandon(): void {
    this.#sender.abandon();
  }

  close(): void {
    this.#sender.close();
  }

  #newRecorder(): Recorder {
    return new Recorder(this.#window, this.#options.finalityTimeoutMs);
  }

  #newSchedule(workload: Workload, begunMs: number): Schedule {
    const { startMs: measureMs, endMs } = this.#window;
    const perS = arrivalsPerS(this.#options);
    const arrivals =
      perS === null
        ? closedLoop(this.#options.concurrency ?? 1, begunMs, endMs)
        : openLoop(perS, begunMs, endMs);
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
      due: (intendedMs, lagMs) => {
        if (perS !== null) this.#recorder.intended(intendedMs);
        this.#recorder.lag(lagMs, intendedMs + lagMs);
      },
    });
  }

  #sent(exchange: Exchange): void {
    if (exchange.scheduled) {
      this.#underWay += 1;
      // Nobody fixed in advance when it would come.
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
