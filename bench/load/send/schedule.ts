/**
 * Sends arrivals when they are due, as soon as the workload has a call and a connection is free;
 * until then they wait in line and keep their intended time. Watches how late it is itself.
 */
import type { Call, Wait } from '../workload.js';
import type { Arrivals } from './arrivals.js';
import { Ticker } from './ticker.js';

/** Milliseconds in which arrivals waited, by the cause for which the first of them waited. */
export type Held = Record<'connections' | Wait, number>;

export interface ScheduleOptions {
  arrivals: Arrivals;
  /** What waited in line before this time is dropped at it: it was for warming up. */
  measureMs: number;
  endMs: number;
  now: () => number;
  next(intendedMs: number): Call | null;
  /** Names the cause when `next` gave null. */
  waitsFor(): Wait;
  hasRoom(): boolean;
  send(call: Call, intendedMs: number): void;
  /** Something fell due at its time, and was taken up so much later. */
  due(intendedMs: number, lagMs: number): void;
}

/**
 * What is in line at the end may still be sent for a hundredth of the measured time, the share by
 * which a run may miss its rate: or a run would be the worse for ending while a block closes.
 */
const GRACE = 0.01;
const LEAST_GRACE_MS = 100;
/** Timers count whole milliseconds; they are there for when the ticker's thread has to wait. */
const LEAST_MS = 1;
/** The ticker wakes no more often: at high rates a wake takes up several arrivals. */
const LEAST_TICK_MS = 0.25;

export class Schedule {
  readonly #options: ScheduleOptions;
  #timer: NodeJS.Timeout | null = null;
  #ticker: Ticker | null = null;
  #running = false;
  #pumping = false;
  #ended: () => void = () => {};
  readonly #held: Held = { connections: 0, answers: 0, signatures: 0 };
  #waitsFor: keyof Held | null = null;
  #waitsSinceMs = 0;

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  /** Resolves soon after the end, or when it is stopped. */
  run(): Promise<void> {
    this.#running = true;
    this.#ticker = new Ticker(() => this.#tick());
    return new Promise((resolve) => {
      this.#ended = resolve;
      this.#tick();
    });
  }

  /** What is in line is not sent any more. */
  stop(): void {
    this.#running = false;
    this.#waits(null);
    if (this.#timer) clearTimeout(this.#timer);
    this.#ticker?.close();
    this.#ended();
  }

  /** Sends those in line, as far as workload and connections allow. */
  pump(): void {
    // A workload that is asked for a call may wake us: the one that asked goes on.
    if (this.#pumping) return;
    this.#pumping = true;
    let waitsFor: keyof Held | null | undefined;
    while (this.#running && waitsFor === undefined) waitsFor = this.#sendFirst();
    this.#waits(waitsFor ?? null);
    this.#pumping = false;
  }

  /** In the measured time so far. */
  get held(): Held {
    this.#waits(this.#waitsFor);
    return { ...this.#held };
  }

  /** Returns the cause for which the first waits, null when none waits, undefined once sent. */
  #sendFirst(): keyof Held | null | undefined {
    const { arrivals, now, next, send, hasRoom, waitsFor } = this.#options;
    const intendedMs = arrivals.first(now());
    if (intendedMs === null) return null;
    if (!hasRoom()) return 'connections';
    const call = next(intendedMs);
    if (call === null) return waitsFor();
    arrivals.take();
    send(call, intendedMs);
    return undefined;
  }

  #waits(waitsFor: keyof Held | null): void {
    const { now, measureMs, endMs } = this.#options;
    const nowMs = now();
    const inWindow = Math.min(nowMs, endMs) - Math.max(this.#waitsSinceMs, measureMs);
    if (this.#waitsFor !== null && inWindow > 0) this.#held[this.#waitsFor] += inWindow;
    this.#waitsFor = waitsFor;
    this.#waitsSinceMs = nowMs;
  }

  #tick(): void {
    if (!this.#running) return;
    if (this.#timer) clearTimeout(this.#timer);
    const { arrivals, measureMs, endMs, now, due } = this.#options;
    const nowMs = now();
    arrivals.advance(nowMs, (intendedMs) => due(intendedMs, nowMs - intendedMs));
    if (nowMs >= measureMs) arrivals.dropBefore(measureMs);
    this.pump();
    if (!this.#running) return;
    const graceMs = Math.max(LEAST_GRACE_MS, GRACE * (endMs - measureMs));
    if (nowMs >= endMs + graceMs || (nowMs >= endMs && !arrivals.waiting())) return this.stop();
    const untilMs = Math.min(arrivals.nextMs(), nowMs < endMs ? endMs : nowMs) - now();
    this.#ticker?.wakeIn(Math.max(LEAST_TICK_MS, untilMs));
    this.#timer = setTimeout(() => this.#tick(), Math.max(LEAST_MS, Math.floor(untilMs)));
  }
}
