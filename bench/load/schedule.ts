/**
 * The schedule of a run: the intended time of each request, and the queues in which requests keep
 * it until the workload has a call and a connection is free. Each scenario has a lane. The schedule
 * also measures the generator's lag.
 */
import { type Arriving, arrivalTimes, lengthMs, planned, valueAt } from './executors.js';
import type { Plan, Scenario } from './options.js';
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

/* An open loop has fixed times. In a closed loop, each request waits for an earlier one. */

export interface Arrivals {
  /** Queues the arrivals due by now, and calls `due` with their intended times. */
  advance(nowMs: number, due: (intendedMs: number) => void): void;
  /** Intended time of the first arrival that may be sent; null if no arrival may be sent. */
  first(nowMs: number): number | null;
  waiting(): boolean;
  /** Removes the first arrival from the queue in order to send it. Returns its virtual user. */
  take(): number;
  /** Called when an arrival of this user has a response or was abandoned. */
  completed(user: number, nowMs: number): void;
  nextMs(): number;
  dropBefore(timeMs: number): void;
  endMs: number;
  /** True if no arrival is left, although the end is not reached. */
  isOver(): boolean;
  /** True for virtual users, which wait while no server is reachable. */
  isClosed: boolean;
}

/** Creates an open loop of these times. With `most`, arrivals beyond that number are dropped. */
export function openLoop(
  times: Iterator<number>,
  { startMs, endMs, most = Number.POSITIVE_INFINITY }: Bounds & { most?: number | undefined },
): Arrivals {
  const line = new Fifo<number>();
  let underWay = 0;
  const draw = () => {
    const { value, done } = times.next();
    return done || startMs + value >= endMs ? Number.POSITIVE_INFINITY : startMs + value;
  };
  let next = draw();
  return {
    advance(nowMs, due) {
      for (; next <= nowMs; next = draw()) {
        if (line.size + underWay < most) line.push(next);
        due(next);
      }
    },
    first: () => line.peek() ?? null,
    waiting: () => line.size > 0,
    take() {
      line.shift();
      underWay += 1;
      return 0;
    },
    completed() {
      underWay -= 1;
    },
    nextMs: () => next,
    dropBefore(timeMs) {
      while ((line.peek() ?? timeMs) < timeMs) line.shift();
    },
    endMs,
    isOver: () => false,
    isClosed: false,
  };
}

interface Bounds {
  startMs: number;
  endMs: number;
}

/** Rate at which a closed loop measures lag, because it has no schedule. */
const WATCH_PER_S = 100;

export interface Closed extends Bounds {
  /** Number of virtual users at a time after the start. */
  users(atMs: number): number;
  iterations?: Plan['iterations'];
  /** Draws the pause of a user after an iteration, in milliseconds. */
  think?(): number;
}

/**
 * Creates a loop of virtual users, each with one request in flight, intended for when it can be
 * sent. The due events only check the clock, so that lag is a share of time, as in an open loop.
 */
export function closedLoop({ startMs, endMs, users, iterations, think }: Closed): Arrivals {
  const watch = openLoop(evenly(1_000 / WATCH_PER_S), { startMs, endMs });
  /** Users that may start an iteration, with the lowest number last. */
  let free: number[] = [];
  /** Users that think, with the time at which they continue. */
  let resting: { user: number; untilMs: number }[] = [];
  const made: number[] = [];
  let known = 0;
  let underWay = 0;
  let begun = 0;
  const isSpent = (user: number) =>
    iterations?.each === true && (made[user] ?? 0) >= iterations.count;
  const allBegun = () => {
    if (!iterations) return false;
    return begun >= iterations.count * (iterations.each ? users(0) : 1);
  };
  const wake = (nowMs: number) => {
    if (resting.length === 0) return;
    free.push(...resting.filter(({ untilMs }) => untilMs <= nowMs).map(({ user }) => user));
    resting = resting.filter(({ untilMs }) => untilMs > nowMs);
  };
  return {
    advance(nowMs, due) {
      watch.advance(nowMs, due);
      watch.dropBefore(nowMs);
    },
    first(nowMs) {
      if (nowMs < startMs || nowMs >= endMs || allBegun()) return null;
      wake(nowMs);
      const most = Math.round(users(nowMs - startMs));
      for (; known < most; known += 1) free.unshift(known);
      // After a ramp down, users beyond the number end. A ramp up starts new ones.
      if (known > most) {
        free = free.filter((user) => user < most);
        known = Math.max(most, 0);
      }
      // A user above the number may still be waiting for its last response.
      return free.length > 0 && underWay + resting.length < most ? nowMs : null;
    },
    waiting: () => false,
    take() {
      const user = free.pop()!;
      made[user] = (made[user] ?? 0) + 1;
      underWay += 1;
      begun += 1;
      return user;
    },
    completed(user, nowMs) {
      underWay -= 1;
      if (user >= known || isSpent(user)) return;
      const pauseMs = think?.() ?? 0;
      if (pauseMs > 0) resting.push({ user, untilMs: nowMs + pauseMs });
      else free.push(user);
    },
    nextMs: () => resting.reduce((next, { untilMs }) => Math.min(next, untilMs), watch.nextMs()),
    dropBefore() {},
    endMs,
    isOver: () => allBegun() && underWay === 0,
    isClosed: true,
  };
}

export function* evenly(gapMs: number): Generator<number> {
  for (let count = 0; ; count += 1) yield count * gapMs;
}

/** Creates the arrivals of a scenario, whose start is in milliseconds on the clock of the run. */
export function arrivalsOf(
  { plan, law, think }: Scenario,
  startMs: number,
  { seed, shard, draw }: Omit<Arriving, 'plan' | 'law'> & { draw(): number },
): Arrivals {
  const endMs = startMs + lengthMs(plan);
  if (plan.of === 'arrivals') {
    return openLoop(arrivalTimes({ plan, law, seed, shard }), { startMs, endMs, most: plan.most });
  }
  return closedLoop({
    ...{ startMs, endMs, users: (atMs) => valueAt(plan, atMs) },
    ...(plan.iterations ? { iterations: plan.iterations } : {}),
    ...(think ? { think: () => think.fromMs + (think.toMs - think.fromMs) * draw() } : {}),
  });
}

/** Returns the planned arrivals of a scenario in a time of the run; null in a closed loop. */
export function plannedIn({ plan, startMs, law }: Scenario, fromMs: number, toMs: number) {
  if (plan.of === 'users') return null;
  if (typeof law !== 'string') {
    return law.filter((time) => startMs + time >= fromMs && startMs + time < toMs).length;
  }
  return planned(plan, toMs - startMs) - planned(plan, fromMs - startMs);
}

/** Milliseconds during which arrivals waited, by the cause for the first arrival in the queue. */
export type WaitTimes = Record<'connections' | Wait, number>;

export const byCause = (of: (cause: keyof WaitTimes) => number): WaitTimes => ({
  ...{ connections: of('connections'), answers: of('answers'), signatures: of('signatures') },
});

/** The arrivals of one scenario, and what is done with them. */
export interface Lane {
  arrivals: Arrivals;
  next(intendedMs: number): Call | null;
  waitsFor(): Wait;
  send(call: Call, intendedMs: number, user: number): void;
  /** Fails an arrival, whose call the workload may not know yet. */
  drop(call: Call | null, intendedMs: number, user: number): void;
  /** Called for an event that was due at `intendedMs` and handled `lagMs` later. */
  due(intendedMs: number, lagMs: number): void;
}

export interface ScheduleOptions {
  lanes: readonly Lane[];
  /** Time at which queued warm-up arrivals are dropped. */
  measureMs: number;
  endMs: number;
  now: () => number;
  hasRoom(): boolean;
  /** True while no server is reachable. Arrivals then fail at once. */
  isDown(): boolean;
}

/**
 * Time after the end in which queued arrivals may be sent, as a share of the measured time: the
 * allowed shortfall, so that a block that closes at the end does not worsen the result.
 */
const GRACE = 0.01;
const LEAST_GRACE_MS = 100;
/** Timer resolution. Timers are the fallback while the ticker thread is delayed. */
const LEAST_MS = 1;
/** Minimum interval between wake-ups. At high rates, one wake-up handles several arrivals. */
const LEAST_TICK_MS = 0.25;

interface Waiting {
  times: WaitTimes;
  cause: keyof WaitTimes | null;
  sinceMs: number;
}

const newWaiting = (): Waiting => ({ times: byCause(() => 0), cause: null, sinceMs: 0 });

export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #waits: readonly Waiting[];
  #timer: NodeJS.Timeout | null = null;
  #ticker: Ticker | null = null;
  #running = false;
  #pumping = false;
  #ended: () => void = () => {};

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#waits = options.lanes.map(newWaiting);
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

  stop(): void {
    this.#running = false;
    for (const [index] of this.#waits.entries()) this.#wait(index, null);
    if (this.#timer) clearTimeout(this.#timer);
    this.#ticker?.close();
    this.#ended();
  }

  /** Sends queued arrivals as far as the workload and the connections allow. */
  pump(): void {
    // The workload may call back here from inside `next`.
    if (this.#pumping) return;
    this.#pumping = true;
    const open = this.#options.lanes.map((_, index) => index);
    while (this.#running && open.length > 0) {
      const index = this.#earliest(open);
      const cause = this.#sendFirst(this.#options.lanes[index]!);
      if (cause === undefined) continue;
      this.#wait(index, cause);
      open.splice(open.indexOf(index), 1);
    }
    this.#pumping = false;
  }

  waitTimes(index = 0): WaitTimes {
    const waiting = this.#waits[index]!;
    this.#wait(index, waiting.cause);
    return { ...waiting.times };
  }

  /** Returns the lane whose first arrival is the earliest, so that no scenario starves. */
  #earliest(open: readonly number[]): number {
    if (open.length === 1) return open[0]!;
    const { lanes, now } = this.#options;
    const nowMs = now();
    const first = (index: number) => lanes[index]!.arrivals.first(nowMs) ?? nowMs;
    return open.reduce((best, index) => (first(index) < first(best) ? index : best));
  }

  /** Sends the first arrival. Returns undefined, the cause of its wait, or null if none is left. */
  #sendFirst({ arrivals, next, waitsFor, send, drop }: Lane): keyof WaitTimes | null | undefined {
    const { now, hasRoom, isDown } = this.#options;
    const intendedMs = arrivals.first(now());
    if (intendedMs === null) return null;
    if (isDown()) {
      if (arrivals.isClosed) return 'answers';
      const call = next(intendedMs);
      drop(call, intendedMs, arrivals.take());
      return undefined;
    }
    if (!hasRoom()) return 'connections';
    const call = next(intendedMs);
    if (call === null) return waitsFor();
    send(call, intendedMs, arrivals.take());
    return undefined;
  }

  #wait(index: number, cause: keyof WaitTimes | null): void {
    const { now, measureMs, endMs } = this.#options;
    const waiting = this.#waits[index]!;
    const nowMs = now();
    const inWindow = Math.min(nowMs, endMs) - Math.max(waiting.sinceMs, measureMs);
    if (waiting.cause !== null && inWindow > 0) waiting.times[waiting.cause] += inWindow;
    waiting.cause = cause;
    waiting.sinceMs = nowMs;
  }

  #tick(): void {
    if (!this.#running) return;
    if (this.#timer) clearTimeout(this.#timer);
    const { lanes, measureMs, now } = this.#options;
    const nowMs = now();
    for (const { arrivals, due } of lanes) {
      arrivals.advance(nowMs, (intendedMs) => due(intendedMs, nowMs - intendedMs));
      if (nowMs >= measureMs) arrivals.dropBefore(measureMs);
    }
    this.pump();
    if (!this.#running) return;
    // Arrivals that still wait some time after the end of their scenario are dropped.
    for (const { arrivals } of lanes) {
      if (nowMs >= arrivals.endMs + this.#graceMs) arrivals.dropBefore(Number.POSITIVE_INFINITY);
    }
    if (lanes.every(({ arrivals }) => this.#isOver(arrivals, nowMs))) return this.stop();
    const times = lanes.flatMap(({ arrivals }) =>
      nowMs < arrivals.endMs ? [arrivals.nextMs(), arrivals.endMs] : [],
    );
    const untilMs = (times.length > 0 ? Math.min(...times) : nowMs) - now();
    this.#ticker?.wakeIn(Math.max(LEAST_TICK_MS, untilMs));
    this.#timer = setTimeout(() => this.#tick(), Math.max(LEAST_MS, Math.floor(untilMs)));
  }

  get #graceMs(): number {
    const { measureMs, endMs } = this.#options;
    return Math.max(LEAST_GRACE_MS, GRACE * (endMs - measureMs));
  }

  #isOver(arrivals: Arrivals, nowMs: number): boolean {
    return (nowMs >= arrivals.endMs && !arrivals.waiting()) || arrivals.isOver();
  }
}
