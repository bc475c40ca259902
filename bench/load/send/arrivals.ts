/**
 * When requests are meant to be sent. In the open loop that is fixed in advance, so that a slow
 * server cannot slow down those who ask it; in the closed loop each waits for one before it.
 */
import { Fifo } from './fifo.js';

export interface Arrivals {
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
