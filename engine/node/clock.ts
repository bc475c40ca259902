/** Where engine time comes from: milliseconds since 1970 that never descend. */
export interface Clock {
  /** Milliseconds since 1970; never descends. */
  now(): number;
  /** Calls back at `at` or soon after; a clock without it is driven by its owner. */
  wakeAt?(at: number, wake: () => void): () => void;
  /** The time that others live by, where it is another: a clock that was held has fallen behind. */
  outside?(): number;
}

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Wall time at the start and monotonic time since: it never jumps when the wall clock is set. Where
 * the log is ahead of the wall clock, time goes on from the log's end: if it stood still until the
 * wall clock has caught up, a block would be in voting for as long.
 */
export function systemClock(least = 0): Clock {
  const wall = Math.max(Date.now(), least);
  const start = performance.now();
  const now = () => wall + Math.trunc(performance.now() - start);
  return {
    now,
    wakeAt(at, wake) {
      const timer = setTimeout(wake, Math.min(LONGEST_TIMEOUT_MS, Math.max(0, at - now())));
      return () => clearTimeout(timer);
    },
  };
}

/**
 * Another clock less all the time for which it was held: while it is held it stands still, and
 * afterwards it goes on from there, without catching up.
 */
class HoldableClock implements Clock {
  readonly #clock: Clock;
  #behindMs = 0;
  #heldAt: number | null = null;
  /** Only where the other clock can: it must not be asked of one that is held. */
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

  /** What the other clock shows: the time that those outside live by. */
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

/** A clock that stands still until it is set. */
export interface VirtualClock extends Clock {
  set(at: number): void;
}

/**
 * A clock that stands at `start` (milliseconds since 1970) until it is set: deadlines of a network
 * on it fire by `fireDeadlines()` or with the next request.
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

/** Rings once at the time last set; a clock that cannot wake anybody leaves that to its owner. */
class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #at: number | null = null;
  #cancel: () => void = () => {};

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Null switches it off. */
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

/** What a network's time asks of its engine. */
interface Timed {
  readonly position: { readonly at: number };
  nextDeadline(): number | null;
}

/**
 * A network's time: it never goes back, and whoever runs the network may hold it. One alarm rings
 * at its next deadline.
 */
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

  /** Now, in milliseconds since 1970. */
  get now(): number {
    return Math.max(this.clock.now(), this.#engine.position.at);
  }

  /** Whether it stands still, and all that would change something is refused: `PAUSED`. */
  get held(): boolean {
    return this.clock.held;
  }

  /** From now on it stands still: no deadline fires, and reads go on. */
  hold(): void {
    this.clock.hold();
    this.setAlarm();
  }

  /** It goes on from where it was held; nothing is caught up. */
  release(): void {
    this.clock.release();
    this.setAlarm();
  }

  /**
   * For the next deadline; where it is overdue because nothing can be written, a bit later.
   *
   * @internal
   */
  setAlarm(): void {
    const deadline = this.held || this.#stopped ? null : this.#engine.nextDeadline();
    if (deadline === null) this.#alarm.set(null);
    else this.#alarm.set(deadline < this.now ? this.now + OVERDUE_MS : deadline + 1);
  }

  /**
   * No alarm rings any more.
   *
   * @internal
   */
  stop(): void {
    this.#stopped = true;
    this.#alarm.set(null);
  }
}

/** How long an overdue deadline waits for the queue or the disk. */
const OVERDUE_MS = 100;
