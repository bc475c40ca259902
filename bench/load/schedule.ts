/**
 * The schedule of a run: when requests are meant to be sent, and the line in which they wait until
 * the workload has a call and a connection is free. They keep their intended time there. The
 * schedule watches how late it is itself.
 */

import { Ticker } from './ticker.js';
import type { Call, Wait } from './workload.js';

/** First in, first out, in constant time: an array's own `shift` moves all that is behind. */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.size > 0) this.#head += 1;
    // What is behind us is let go once it is half of all.
    if (this.#head > 1_000 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Takes out all. */
  drain(): T[] {
    const items = this.#items.slice(this.#head);
    this.#items = [];
    this.#head = 0;
    return items;
  }
}

/*
 * When requests are meant to be sent. In the open loop that is fixed in advance, so that a slow
 * server cannot slow down those who ask it; in the closed loop each waits for one before it.
 */

interface Arrivals {
  /** What fell due by now is in line from now on; `due` gets when each was meant. */
  advance(nowMs: number, due: (intendedMs: number) => void): void;
  /** The intended time of the first that may be sent, or null when none may. */
  first(nowMs: number): number | null;
  /** Whether some are in line that were due. */
  waiting(): boolean;
  /** The first in line is sent. */
  take(): void;
  /** One that was sent is answered, or given up. */
  completed(): void;
  /** The next time something falls due. */
  nextMs(): number;
  /** Those in line that were meant for before are dropped. */
  dropBefore(timeMs: number): void;
}

/** Arrival k is meant for start + k / rate. */
export function openLoop(ratePerS: number, startMs: number, endMs: number): Arrivals {
  const line = new Fifo<number>();
  let count = 0;
  const nextMs = () => {
    const intendedMs = startMs + (count * 1000) / ratePerS;
    return intendedMs < endMs ? intendedMs : Number.POSITIVE_INFINITY;
  };
  return {
    advance(nowMs, due) {
      for (let intendedMs = nextMs(); intendedMs <= nowMs; intendedMs = nextMs()) {
        line.push(intendedMs);
        count += 1;
        due(intendedMs);
      }
    },
    first: () => line.peek() ?? null,
    waiting: () => line.size > 0,
    take: () => void line.shift(),
    completed() {},
    nextMs,
    dropBefore(timeMs) {
      while ((line.peek() ?? timeMs) < timeMs) line.shift();
    },
  };
}

/** How often the closed loop, which has no schedule, looks whether the generator is late. */
const WATCH_PER_S = 100;

/**
 * So many at a time; each is meant for the moment at which it can be sent. What falls due are looks
 * at the clock, so that being late is seen by the share of time, as it is in the open loop.
 */
export function closedLoop(concurrency: number, startMs: number, endMs: number): Arrivals {
  const watch = openLoop(WATCH_PER_S, startMs, endMs);
  let underWay = 0;
  return {
    advance(nowMs, due) {
      watch.advance(nowMs, due);
      watch.dropBefore(nowMs);
    },
    first: (nowMs) => (underWay < concurrency && nowMs < endMs ? nowMs : null),
    waiting: () => false,
    take() {
      underWay += 1;
    },
    completed() {
      underWay -= 1;
    },
    nextMs: watch.nextMs,
    dropBefore() {},
  };
}

/** Milliseconds in which arrivals waited, by the cause for which the first of them waited. */
export type WaitTimes = Record<'connections' | Wait, number>;

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
  readonly #waitTimes: WaitTimes = { connections: 0, answers: 0, signatures: 0 };
  #waitsFor: keyof WaitTimes | null = null;
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
    let waitsFor: keyof WaitTimes | null | undefined;
    while (this.#running && waitsFor === undefined) waitsFor = this.#sendFirst();
    this.#waits(waitsFor ?? null);
    this.#pumping = false;
  }

  /** In the measured time so far. */
  get waitTimes(): WaitTimes {
    this.#waits(this.#waitsFor);
    return { ...this.#waitTimes };
  }

  /** Returns the cause for which the first waits, null when none waits, undefined once sent. */
  #sendFirst(): keyof WaitTimes | null | undefined {
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

  #waits(waitsFor: keyof WaitTimes | null): void {
    const { now, measureMs, endMs } = this.#options;
    const nowMs = now();
    const inWindow = Math.min(nowMs, endMs) - Math.max(this.#waitsSinceMs, measureMs);
    if (this.#waitsFor !== null && inWindow > 0) this.#waitTimes[this.#waitsFor] += inWindow;
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
