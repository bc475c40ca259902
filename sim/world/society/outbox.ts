/**
 * What agents with a limited uplink have sent since the last time it was emptied. A window's calls
 * come before its arrivals, and with these what their senders tell then: only at its end is known
 * who sent what in which order.
 */
import { type Departure, leftAt, type Uplinks, waitMs } from '../links/uplinks.js';
import type { Observer } from '../observer.js';
import { type Due, DueQueue } from './due.js';

/** A message that is to leave. */
export interface Leaving {
  from: number;
  at: number;
  /** Of one copy. */
  bytes: number;
  copies: number;
  /** Told when it leaves. */
  leaves(departure: Departure): void;
}

export class Outbox {
  readonly #uplinks: Uplinks;
  readonly #observer: Observer;
  readonly #waiting = new DueQueue<Leaving & Due>();
  #sent = 0;

  constructor(uplinks: Uplinks, observer: Observer) {
    this.#uplinks = uplinks;
    this.#observer = observer;
  }

  /** Whether what an agent sends goes this way. */
  takes(agent: number): boolean {
    return this.#uplinks.limits(agent);
  }

  put(leaving: Leaving): void {
    this.#waiting.push({ ...leaving, number: this.#sent });
    this.#sent += 1;
  }

  /** Queues all of it on the uplinks, in the order in which it was sent. */
  empty(): void {
    const end = Number.POSITIVE_INFINITY;
    for (let one = this.#waiting.takeBefore(end); one; one = this.#waiting.takeBefore(end)) {
      const { from, at, bytes, copies, leaves } = one;
      const departure = this.#uplinks.take(from, at, bytes, copies);
      this.#measure(departure, copies);
      leaves(departure);
    }
  }

  /** Of what a crash loses is not known how long it would have waited. */
  #measure(departure: Departure, copies: number): void {
    let count = 0;
    let waited = 0;
    for (let copy = 0; copy < copies; copy += 1) {
      if (leftAt(departure, copy) === Number.POSITIVE_INFINITY) break;
      count += 1;
      waited += waitMs(departure, copy);
    }
    this.#observer.waited(count, waited);
  }
}
