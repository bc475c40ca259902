/**
 * Sends arrivals when they are due, as soon as the workload has a call and a connection is free;
 * until then they wait in line and keep their intended time. Watches how late it is itself.
 */
import type { Arrivals } from './arrivals.js';
import type { Call } from './workload.js';

export interface ScheduleOptions {
  arrivals: Arrivals;
  /** What waited in line before this time is dropped at it: it was for warming up. */
  measureMs: number;
  endMs: number;
  now: () => number;
  next(intendedMs: number): Call | null;
  hasRoom(): boolean;
  send(call: Call, intendedMs: number): void;
  /** An arrival fell due at its intended time, and was taken up so much later. */
  due(intendedMs: number, lagMs: number): void;
  /** In the closed loop, where nothing falls due: how late the timer was. */
  late(lagMs: number, atMs: number): void;
}

/** A timer wakes up 1 ms late at most, and an idle one 20 times a second. */
const LEAST_MS = 1;
const MOST_MS = 50;

export class Schedule {
  readonly #options: ScheduleOptions;
  #timer: NodeJS.Timeout | null = null;
  #running = false;
  #ended: () => void = () => {};

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  /** Resolves at the end, or when it is stopped. */
  run(): Promise<void> {
    this.#running = true;
    return new Promise((resolve) => {
      this.#ended = resolve;
      this.#tick(this.#options.now());
    });
  }

  /** What is in line is not sent any more. */
  stop(): void {
    this.#running = false;
    if (this.#timer) clearTimeout(this.#timer);
    this.#ended();
  }

  /** Sends those in line, as far as workload and connections allow. */
  pump(): void {
    const { arrivals, now, next, hasRoom, send } = this.#options;
    while (this.#running && hasRoom()) {
      const intendedMs = arrivals.first(now());
      const call = intendedMs === null ? null : next(intendedMs);
      if (intendedMs === null || call === null) return;
      arrivals.take();
      send(call, intendedMs);
    }
  }

  #tick(expectedMs: number): void {
    const { arrivals, measureMs, endMs, now, due, late } = this.#options;
    const nowMs = now();
    arrivals.advance(nowMs, (intendedMs) => due(intendedMs, nowMs - intendedMs));
    if (nowMs >= measureMs) arrivals.dropBefore(measureMs);
    if (arrivals.nextMs() === Number.POSITIVE_INFINITY) late(nowMs - expectedMs, nowMs);
    this.pump();
    if (!this.#running) return;
    if (nowMs >= endMs) return this.stop();
    const untilMs = Math.min(arrivals.nextMs(), endMs) - now();
    const delayMs = Math.min(MOST_MS, Math.max(LEAST_MS, Math.floor(untilMs)));
    const wakeMs = now() + delayMs;
    this.#timer = setTimeout(() => this.#tick(wakeMs), delayMs);
  }
}
