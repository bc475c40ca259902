/** Where engine time comes from: the host's clock live, a given one in simulation. */

/** Where engine time comes from: milliseconds since 1970 that never descend. */
export interface Clock {
  /** Milliseconds since 1970; never descends. */
  now(): number;
  /** Calls back at `at` or soon after; a clock without it is driven by its owner. */
  wakeAt?(at: number, wake: () => void): () => void;
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
export class Alarm {
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

/** How long an overdue deadline waits for the queue or the disk. */
const OVERDUE_MS = 100;

/** When a deadline fires; one that is overdue because nothing can be written, a bit later. */
export function alarmTime(deadline: number | null, now: number): number | null {
  if (deadline === null) return null;
  return deadline < now ? now + OVERDUE_MS : deadline + 1;
}
