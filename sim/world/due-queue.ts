/**
 * Queue of pending calls and requests, ordered by time, then agent, then number. This file also
 * contains the outbox for agents with a limited uplink.
 */
import TinyQueue from 'tinyqueue';
import type { ScheduledEvent } from '../agents/port.js';
import { computeDeparture, type Departure, type Uplinks, waitMs } from './links.js';
import type { Observer } from './observer.js';

export interface Due {
  at: number;
  from: number;
  /** Sequence number per agent. */
  number: number;
}

/** Scheduled call to an agent. */
export interface Call extends Due {
  /** Time at which the call was scheduled. */
  since: number;
  event: ScheduledEvent;
}

/** Calls that agents schedule themselves. Other calls come from events or the end of a fault. */
export const plans = new Set<ScheduledEvent['type']>([
  'join',
  'vote',
  'produce',
  'socialize',
  'wake',
]);

/** Span length. Items within one span are sorted together. */
const SPAN_MS = 50;

/** Unsorted items in one span, with their times. */
interface Span<T> {
  readonly times: number[];
  readonly items: T[];
}

/**
 * Two-level priority queue. A small heap holds the items in the current span, and per-span lists
 * hold later items. With ten thousand agents, about thirty thousand items are pending.
 */
export class DueQueue<T extends Due> {
  /** Heap that contains the items due before the end of the current span. */
  #near = new DueHeap<T>();
  #span = -1;
  #firstSpan: number | null = null;
  /** Later spans by number, counted from the first span, and the numbers as a heap. */
  readonly #later = new Map<number, Span<T>>();
  readonly #spans = new TinyQueue<number>();

  /** Time of the next item, or infinity. */
  get nextAt(): number {
    if (this.#near.nextAt === Number.POSITIVE_INFINITY) this.#approach();
    return this.#near.nextAt;
  }

  push(item: T): void {
    const whole = Math.floor(item.at / SPAN_MS);
    this.#firstSpan ??= whole;
    // Small integer keys are much faster to look up.
    const number = whole - this.#firstSpan;
    if (number <= this.#span) {
      this.#near.push(item);
      return;
    }
    const known = this.#later.get(number);
    if (known) {
      known.times.push(item.at);
      known.items.push(item);
      return;
    }
    this.#later.set(number, { times: [item.at], items: [item] });
    this.#spans.push(number);
  }

  /** Removes and returns the next item due before `end`. */
  takeBefore(end: number): T | undefined {
    return this.nextAt >= end ? undefined : this.#near.take();
  }

  #approach(): void {
    const number = this.#spans.pop();
    if (number === undefined) return;
    const { times, items } = this.#later.get(number)!;
    this.#later.delete(number);
    this.#span = number;
    this.#near = new DueHeap(times, items);
  }
}

/**
 * Heap of items by time, agent and number. The times are in a list of their own, because most
 * comparisons need only times, and reading them from the items misses the cache. A library heap
 * with a comparator is three times slower here.
 */
class DueHeap<T extends Due> {
  readonly #times: number[];
  readonly #items: T[];

  /** Takes over lists of items and of their times, in any order. */
  constructor(times: number[] = [], items: T[] = []) {
    this.#times = times;
    this.#items = items;
    for (let place = (items.length >> 1) - 1; place >= 0; place -= 1) {
      this.#sink(place, times[place]!, items[place]!);
    }
  }

  /** Time of the first item, or infinity. */
  get nextAt(): number {
    return this.#times.length === 0 ? Number.POSITIVE_INFINITY : this.#times[0]!;
  }

  push(item: T): void {
    const times = this.#times;
    const items = this.#items;
    const { at } = item;
    let place = items.push(item) - 1;
    times.push(at);
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(at, item, times[above]!, items[above]!)) break;
      times[place] = times[above]!;
      items[place] = items[above]!;
      place = above;
    }
    times[place] = at;
    items[place] = item;
  }

  /** Removes the first item. The heap must not be empty. */
  take(): T {
    const first = this.#items[0]!;
    const last = this.#items.pop()!;
    const lastAt = this.#times.pop()!;
    if (this.#items.length > 0) this.#sink(0, lastAt, last);
    return first;
  }

  /** Sifts an item down from a given position. */
  #sink(from: number, at: number, item: T): void {
    const times = this.#times;
    const items = this.#items;
    let place = from;
    for (let below = 2 * place + 1; below < items.length; below = 2 * place + 1) {
      const other = below + 1;
      if (
        other < items.length &&
        isBefore(times[other]!, items[other]!, times[below]!, items[below]!)
      ) {
        below = other;
      }
      if (!isBefore(times[below]!, items[below]!, at, item)) break;
      times[place] = times[below]!;
      items[place] = items[below]!;
      place = below;
    }
    times[place] = at;
    items[place] = item;
  }
}

/** Compares items by time, agent and number. `at` and `otherAt` are the items' times. */
function isBefore(at: number, item: Due, otherAt: number, other: Due): boolean {
  if (at !== otherAt) return at < otherAt;
  return item.from === other.from ? item.number < other.number : item.from < other.from;
}

/*
 * Messages from agents with a limited uplink since the outbox was last emptied. Both calls and
 * arrivals in a window send messages, and calls run first. The sending order is known only at the
 * end of the window.
 */

interface Leaving {
  from: number;
  at: number;
  /** Size of one copy in bytes. */
  bytes: number;
  copies: number;
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

  /** Returns true if the agent's uplink is limited. */
  takes(agent: number): boolean {
    return this.#uplinks.limits(agent);
  }

  put(leaving: Leaving): void {
    this.#waiting.push({ ...leaving, number: this.#sent });
    this.#sent += 1;
  }

  /** Moves all messages to the uplinks, in sending order. */
  empty(): void {
    const end = Number.POSITIVE_INFINITY;
    for (let one = this.#waiting.takeBefore(end); one; one = this.#waiting.takeBefore(end)) {
      const { from, at, bytes, copies, leaves } = one;
      const departure = this.#uplinks.take(from, at, bytes, copies);
      this.#measure(departure, copies);
      leaves(departure);
    }
  }

  /** Measures the waiting time, which is undefined for messages lost in a crash. */
  #measure(departure: Departure, copies: number): void {
    let count = 0;
    let waited = 0;
    for (let copy = 0; copy < copies; copy += 1) {
      if (computeDeparture(departure, copy) === Number.POSITIVE_INFINITY) break;
      count += 1;
      waited += waitMs(departure, copy);
    }
    this.#observer.waited(count, waited);
  }
}
