import { hostClock } from '../store/host-clock.js';

/** Source of engine time. */
export interface Clock {
  /** Returns milliseconds since 1970. The value never decreases. */
  now(): number;
  /**
   * Calls back at `at` or soon after, or early if `at` is weeks away. If a clock lacks this method,
   * its owner fires deadlines.
   */
  wakeAt?(at: number, wake: () => void): () => void;
  /** Returns wall time, if it can differ: a clock that was held lags behind wall time. */
  outside?(): number;
}

/**
 * Creates a clock that adds monotonic time to the wall time at start, so that setting the wall
 * clock has no effect. If the log is ahead of the wall clock (`least`), time continues from the end
 * of the log. The clock does not wait for the wall clock to catch up, because open blocks would
 * wait too.
 */
export function systemClock(least = 0): Clock {
  const wall = Math.max(hostClock.now(), least);
  const start = hostClock.monotonic();
  const now = () => wall + Math.trunc(hostClock.monotonic() - start);
  return {
    now,
    wakeAt: (at, wake) => hostClock.after(at - now(), wake),
  };
}

/** A clock that can be held, and then continues from the held time without catching up. */
class HoldableClock implements Clock {
  readonly #clock: Clock;
  #behindMs = 0;
  #heldAt: number | null = null;
  /** Absent if the underlying clock has no `wakeAt`. Must not be called while the clock is held. */
  readonly wakeAt?: (at: number, wake: () => void) => () => void;

  constructor(clock: Clock) {
    this.#clock = clock;
    if (clock.wakeAt) this.wakeAt = (at, wake) => clock.wakeAt!(at + this.#behindMs, wake);
  }

  get held(): boolean {
    return this.#heldAt !== null;
  }

  now(): number {
    return this.#heldAt ?? this.#clock.now() - this.#behindMs;
  }

  outside(): number {
    return this.#clock.outside?.() ?? this.#clock.now();
  }

  hold(): void {
    this.#heldAt ??= this.now();
  }

  release(): void {
    if (this.#heldAt === null) return;
    this.#behindMs = this.#clock.now() - this.#heldAt;
    this.#heldAt = null;
  }
}

/** A clock that changes only by `set`. */
export interface VirtualClock extends Clock {
  set(at: number): void;
}

/**
 * Creates a clock at `start` (milliseconds since 1970) that changes only by `set`. A network with
 * this clock fires deadlines on `fireDeadlines()` or on the next request.
 */
export function virtualClock(start: number): VirtualClock {
  let time = start;
  return {
    now: () => time,
    set(at) {
      if (at < time) throw new RangeError(`virtual time cannot go back from ${time} to ${at}`);
      time = at;
    },
  };
}

/** Calls back once, at the most recently set time, if the clock has `wakeAt`. */
class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #at: number | null = null;
  #cancel: () => void = () => {};

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Null cancels the alarm. */
  set(at: number | null): void {
    if (at === this.#at || !this.#clock.wakeAt) return;
    this.#cancel();
    this.#at = at;
    if (at === null) return;
    this.#cancel = this.#clock.wakeAt(at, () => {
      this.#at = null;
      this.#ring();
    });
  }
}

interface Timed {
  readonly position: { readonly at: number };
  nextDeadline(): number | null;
}

/** A network's time. It never goes back, can be held, and an alarm fires the next deadline. */
export class Timekeeper {
  /** @internal */
  readonly clock: HoldableClock;
  readonly #engine: Timed;
  readonly #alarm: Alarm;
  #stopped = false;

  /** @internal */
  constructor(clock: Clock, engine: Timed, ring: () => void) {
    this.clock = new HoldableClock(clock);
    this.#engine = engine;
    this.#alarm = new Alarm(this.clock, ring);
  }

  /** Current time in milliseconds since 1970. */
  get now(): number {
    return Math.max(this.clock.now(), this.#engine.position.at);
  }

  /** True while time is held. Writes are then refused with `PAUSED`. */
  get held(): boolean {
    return this.clock.held;
  }

  /** Holds time: no deadline fires, writes are refused, and reads continue. */
  hold(): void {
    this.clock.hold();
    this.setAlarm();
  }

  /** Resumes from the time at which `hold` was called, without catching up. */
  release(): void {
    this.clock.release();
    this.setAlarm();
  }

  /**
   * Sets the alarm for the next deadline, or for a retry if the deadline is overdue because writes
   * are refused.
   *
   * @internal
   */
  setAlarm(): void {
    const deadline = this.held || this.#stopped ? null : this.#engine.nextDeadline();
    if (deadline === null) this.#alarm.set(null);
    else this.#alarm.set(deadline < this.now ? this.now + OVERDUE_MS : deadline + 1);
  }

  /** Cancels the alarm permanently. @internal */
  stop(): void {
    this.#stopped = true;
    this.#alarm.set(null);
  }
}

/** Retry interval for an overdue deadline. */
const OVERDUE_MS = 100;
