/**
 * A run's schedule: the intended time of each request, and the queue in which requests wait until
 * the workload has a call and a connection is free. A queued request keeps its intended time. The
 * schedule also measures the generator's lag.
 */
import { Ticker } from './ticker.js';
import type { Call, Wait } from './workload.js';

/** FIFO queue with constant-time operations, unlike `Array.shift`. */
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
    // Frees consumed items once they fill half the array.
    if (this.#head > 1_000 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  drain(): T[] {
    const items = this.#items.slice(this.#head);
    this.#items = [];
    this.#head = 0;
    return items;
  }
}

/*
 * Intended times of requests. In an open loop, the times are fixed in advance, so that a slow
 * server cannot reduce its load. In a closed loop, each request waits for an earlier request.
 */

interface Arrivals {
  /** Queues the arrivals due by now, and calls `due` with their intended times. */
  advance(nowMs: number, due: (intendedMs: number) => void): void;
  /** Intended time of the first arrival that may be sent; null if no arrival may be sent. */
  first(nowMs: number): number | null;
  /** True if arrivals are queued. */
  waiting(): boolean;
  /** Removes the first arrival from the queue in order to send it. */
  take(): void;
  /** Called when an arrival has a response or was abandoned. */
  completed(): void;
  /** Time of the next arrival. */
  nextMs(): number;
  /** Drops queued arrivals that were intended before `timeMs`. */
  dropBefore(timeMs: number): void;
}

/** Creates an open loop, in which arrival k is due at start + k / rate. */
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

/** Rate at which a closed loop measures lag, because it has no schedule. */
const WATCH_PER_S = 100;

/**
 * Creates a loop with a fixed number of requests in flight. Each request is intended for the moment
 * at which it can be sent. The due events are clock checks, so that lag is measured as a share of
 * time, as in an open loop.
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

/** Milliseconds during which arrivals waited, by the cause for the first arrival in the queue. */
export type WaitTimes = Record<'connections' | Wait, number>;

export interface ScheduleOptions {
  arrivals: Arrivals;
  /** Time at which queued warm-up arrivals are dropped. */
  measureMs: number;
  endMs: number;
  now: () => number;
  next(intendedMs: number): Call | null;
  /** Cause of the wait after `next` has returned null. */
  waitsFor(): Wait;
  hasRoom(): boolean;
  send(call: Call, intendedMs: number): void;
  /** True while no server is reachable. Arrivals then fail at once. */
  isDown(): boolean;
  /** Fails an arrival, whose call the workload may not know yet. */
  drop(call: Call | null, intendedMs: number): void;
  /** Called for an event that was due at `intendedMs` and handled `lagMs` later. */
  due(intendedMs: number, lagMs: number): void;
}

/**
 * Time after the end in which queued arrivals may still be sent, as a fraction of the measured
 * time. The value equals the allowed shortfall in rate, so that ending a run while a block closes
 * does not worsen the result.
 */
const GRACE = 0.01;
const LEAST_GRACE_MS = 100;
/** Timer resolution. Timers are the fallback while the ticker thread is delayed. */
const LEAST_MS = 1;
/** Minimum interval between wake-ups. At high rates, one wake-up handles several arrivals. */
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

  /** Resolves shortly after the end, or on `stop`. */
  run(): Promise<void> {
    this.#running = true;
    this.#ticker = new Ticker(() => this.#tick());
    return new Promise((resolve) => {
      this.#ended = resolve;
      this.#tick();
    });
  }

  /** Drops the queue. */
  stop(): void {
    this.#running = false;
    this.#waits(null);
    if (this.#timer) clearTimeout(this.#timer);
    this.#ticker?.close();
    this.#ended();
  }

  /** Sends queued arrivals as far as the workload and the connections allow. */
  pump(): void {
    // The workload may call back here from inside `next`.
    if (this.#pumping) return;
    this.#pumping = true;
    let waitsFor: keyof WaitTimes | null | undefined;
    while (this.#running && waitsFor === undefined) waitsFor = this.#sendFirst();
    this.#waits(waitsFor ?? null);
    this.#pumping = false;
  }

  /** Wait times so far during the measured time. */
  get waitTimes(): WaitTimes {
    this.#waits(this.#waitsFor);
    return { ...this.#waitTimes };
  }

  /**
   * Sends the first arrival. Returns undefined if it was sent, the cause if it must wait, and null
   * if no arrivals are left.
   */
  #sendFirst(): keyof WaitTimes | null | undefined {
    const { arrivals, now, next, send, hasRoom, waitsFor, isDown, drop } = this.#options;
    const intendedMs = arrivals.first(now());
    if (intendedMs === null) return null;
    if (isDown()) {
      arrivals.take();
      drop(next(intendedMs), intendedMs);
      return undefined;
    }
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
