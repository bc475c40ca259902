/**
 * Virtual time for the processes of a simulated cluster. One queue holds all calls of all
 * processes. After each call, everything that it has set in motion runs to its end before the next
 * call, so equal inputs give equal runs. A process has its own clock, which can be wrong, can stall
 * with its process and ends with it.
 */
import TinyQueue from 'tinyqueue';
import type { HostClock } from '../../engine/store/host-clock.js';

interface Call {
  at: number;
  /** Calls at the same time run in the order in which they were planned. */
  number: number;
  /** Null once cancelled. */
  run: (() => void) | null;
}

/** Steps in one turn of the event loop of Node.js. */
const STEPS_AT_ONCE = 64;

/** The time of the simulated world, in milliseconds. */
export class SimulatedTime implements HostClock {
  readonly #start: number;
  readonly #calls = new TinyQueue<Call>([], (a, b) => a.at - b.at || a.number - b.number);
  #at = 0;
  #planned = 0;
  /** Number of calls so far. */
  calls = 0;

  /** @param start milliseconds since 1970. */
  constructor(start: number) {
    this.#start = start;
  }

  now(): number {
    return this.#start + Math.trunc(this.#at);
  }

  monotonic(): number {
    return this.#at;
  }

  after(ms: number, call: () => void): () => void {
    const planned: Call = { at: this.#at + Math.max(0, ms), number: this.#planned, run: call };
    this.#planned += 1;
    this.#calls.push(planned);
    return () => {
      planned.run = null;
    };
  }

  every(ms: number, call: () => void): () => void {
    const again = () => {
      cancel = this.after(ms, again);
      call();
    };
    let cancel = this.after(ms, again);
    return () => cancel();
  }

  /**
   * Runs all calls up to a time. `onCall` runs after each of them and what it has set in motion;
   * the run ends early if it returns false.
   */
  runUntil(at: number, onCall: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let hasRun = false;
      let isOver = false;
      const step = () => {
        if (isOver) return;
        try {
          isOver = (hasRun && !onCall()) || !this.#next(at);
          hasRun = true;
          if (isOver) resolve();
        } catch (error) {
          isOver = true;
          reject(error);
        }
      };
      // Node.js runs all microtasks between two immediates. Many at once save turns of its loop.
      const steps = () => {
        for (let planned = 1; planned < STEPS_AT_ONCE; planned += 1) setImmediate(step);
        setImmediate(() => {
          step();
          if (!isOver) steps();
        });
      };
      steps();
    });
  }

  /** Runs the next call due by a time. Without one, moves to that time and returns false. */
  #next(at: number): boolean {
    while (this.#calls.length > 0 && this.#calls.peek()!.at <= at) {
      const next = this.#calls.pop()!;
      if (!next.run) continue;
      this.#at = next.at;
      this.calls += 1;
      next.run();
      return true;
    }
    this.#at = Math.max(this.#at, at);
    return false;
  }
}

/** The clock and timers of one process. */
export class ProcessClock implements HostClock {
  readonly #time: SimulatedTime;
  /** Calls that became due while the process was stalled, in order; null while it runs. */
  #stalled: (() => void)[] | null = null;
  #ended = false;
  /** Milliseconds by which the wall clock is ahead. */
  aheadMs: number;

  constructor(time: SimulatedTime, aheadMs: number) {
    this.#time = time;
    this.aheadMs = aheadMs;
  }

  now(): number {
    return this.#time.now() + this.aheadMs;
  }

  monotonic(): number {
    return this.#time.monotonic();
  }

  after(ms: number, call: () => void): () => void {
    let cancelled = false;
    const cancel = this.#time.after(ms, () => {
      this.#run(() => {
        if (!cancelled) call();
      });
    });
    return () => {
      cancelled = true;
      cancel();
    };
  }

  every(ms: number, call: () => void): () => void {
    let cancelled = false;
    // As in Node.js, a process that was stalled for several intervals gets one call.
    let due = false;
    const cancel = this.#time.every(ms, () => {
      if (due) return;
      due = true;
      this.#run(() => {
        due = false;
        if (!cancelled) call();
      });
    });
    return () => {
      cancelled = true;
      cancel();
    };
  }

  /** Stalls the process, as SIGSTOP does. */
  stall(): void {
    this.#stalled ??= [];
  }

  /** Continues a stalled process. */
  resume(): void {
    const due = this.#stalled ?? [];
    this.#stalled = null;
    for (const call of due) this.#time.after(0, () => this.#run(call));
  }

  /** Ends the process. None of its calls runs again. */
  end(): void {
    this.#ended = true;
    this.#stalled = null;
  }

  #run(call: () => void): void {
    if (this.#ended) return;
    if (this.#stalled) this.#stalled.push(call);
    else call();
  }
}
