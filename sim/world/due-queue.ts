/**
 * Queue of pending calls and requests, ordered by time, then agent, then number. This file also
 * contains the outbox for agents with a limited uplink.
 */
import TinyQueue from 'tinyqueue';
import type { ScheduledEvent } from '../agents/port.js';
import { computeDeparture, type Departure, type Uplinks, waitMs } from './links.js';
import type { Observer } from './observer.js';

/** Scheduled call to an agent, outside of a queue. */
export interface Call {
  at: number;
  from: number;
  /** Sequence number per agent. */
  number: number;
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

/**
 * Two-level priority queue. A small heap orders the items in the current span, and per-span columns
 * hold later items. With ten thousand agents, about thirty thousand items are pending.
 *
 * Items are rows of columns, so a pending item takes no object of its own. `takeBefore` copies the
 * next item to the members of the queue.
 */
export class DueQueue<T> {
  /** Columns of the items due before the end of the current span, with their order. */
  #near = new Span<T>();
  readonly #heap = new DueHeap();
  #span = -1;
  #firstSpan: number | null = null;
  /** Later spans by number, counted from the first span, and the numbers as a heap. */
  readonly #later = new Map<number, Span<T>>();
  readonly #spans = new TinyQueue<number>();
  /** Empty spans, for reuse. */
  readonly #spare: Span<T>[] = [];
  /** Time, agent, number, time of scheduling and content of the item that was taken last. */
  at = 0;
  from = 0;
  number = 0;
  since = 0;
  item: T | null = null;

  /** Time of the next item, or infinity. */
  get nextAt(): number {
    if (this.#heap.length === 0) this.#approach();
    return this.#heap.nextAt;
  }

  /** @param number sequence number of the agent's items, which orders those of one time. */
  push(at: number, from: number, number: number, since: number, item: T): void {
    const whole = Math.floor(at / SPAN_MS);
    this.#firstSpan ??= whole;
    // Small integer keys are much faster to look up.
    const span = whole - this.#firstSpan;
    if (span <= this.#span) {
      if (this.#heap.length === 0) this.#near.length = 0;
      this.#near.add(at, from, number, since, item);
      this.#heap.push(at, this.#near);
      return;
    }
    let later = this.#later.get(span);
    if (!later) {
      later = this.#spare.pop() ?? new Span();
      this.#later.set(span, later);
      this.#spans.push(span);
    }
    later.add(at, from, number, since, item);
  }

  /** Takes the next item due before `end`. Returns false if no item is due. */
  takeBefore(end: number): boolean {
    if (this.nextAt >= end) return false;
    const near = this.#near;
    const place = this.#heap.take(near);
    this.at = near.at[place]!;
    this.from = near.from[place]!;
    this.number = near.number[place]!;
    this.since = near.since[place]!;
    this.item = near.item[place]!;
    near.item[place] = null;
    return true;
  }

  #approach(): void {
    const number = this.#spans.pop();
    if (number === undefined) return;
    this.#near.length = 0;
    this.#spare.push(this.#near);
    this.#near = this.#later.get(number)!;
    this.#later.delete(number);
    this.#span = number;
    this.#heap.fill(this.#near);
  }
}

/** Items of one span in columns, in order of insertion. */
class Span<T> {
  length = 0;
  at = new Float64Array(16);
  from = new Uint32Array(16);
  number = new Uint32Array(16);
  since = new Float64Array(16);
  item: (T | null)[] = [];

  add(at: number, from: number, number: number, since: number, item: T): void {
    const place = this.length;
    if (place === this.at.length) this.#grow(2 * place);
    this.at[place] = at;
    this.from[place] = from;
    this.number[place] = number;
    this.since[place] = since;
    if (place < this.item.length) this.item[place] = item;
    else this.item.push(item);
    this.length = place + 1;
  }

  #grow(length: number): void {
    const { at, from, number, since } = this;
    this.at = new Float64Array(length);
    this.at.set(at);
    this.from = new Uint32Array(length);
    this.from.set(from);
    this.number = new Uint32Array(length);
    this.number.set(number);
    this.since = new Float64Array(length);
    this.since.set(since);
  }
}

type Columns = Pick<Span<unknown>, 'at' | 'from' | 'number' | 'length'>;

/**
 * Heap of a span's items by time, agent and number. The times are in a list of their own, because
 * most comparisons need only times. A library heap with a comparator is three times slower here.
 */
class DueHeap {
  length = 0;
  #times = new Float64Array(16);
  /** Positions in the span, in heap order. */
  #places = new Uint32Array(16);

  /** Time of the first item, or infinity. */
  get nextAt(): number {
    return this.length === 0 ? Number.POSITIVE_INFINITY : this.#times[0]!;
  }

  /** Orders all items of a span. The heap must be empty. */
  fill(span: Columns): void {
    const { length } = span;
    if (length > this.#times.length) this.#grow(length);
    this.length = length;
    for (let place = 0; place < length; place += 1) {
      this.#times[place] = span.at[place]!;
      this.#places[place] = place;
    }
    for (let slot = (length >> 1) - 1; slot >= 0; slot -= 1) {
      this.#sink(slot, this.#times[slot]!, this.#places[slot]!, span);
    }
  }

  /** Adds the span's last item. */
  push(at: number, span: Columns): void {
    if (this.length === this.#times.length) this.#grow(2 * this.length);
    const times = this.#times;
    const places = this.#places;
    const place = span.length - 1;
    let slot = this.length;
    this.length += 1;
    while (slot > 0) {
      const above = (slot - 1) >> 1;
      if (!isBefore(span, at, place, times[above]!, places[above]!)) break;
      times[slot] = times[above]!;
      places[slot] = places[above]!;
      slot = above;
    }
    times[slot] = at;
    places[slot] = place;
  }

  /** Removes the first item, and returns its position. The heap must not be empty. */
  take(span: Columns): number {
    const first = this.#places[0]!;
    const last = this.length - 1;
    this.length = last;
    if (last > 0) this.#sink(0, this.#times[last]!, this.#places[last]!, span);
    return first;
  }

  /** Sifts an item down from a given slot. */
  #sink(from: number, at: number, place: number, span: Columns): void {
    const times = this.#times;
    const places = this.#places;
    const { length } = this;
    let slot = from;
    for (let below = 2 * slot + 1; below < length; below = 2 * slot + 1) {
      const other = below + 1;
      if (
        other < length &&
        isBefore(span, times[other]!, places[other]!, times[below]!, places[below]!)
      ) {
        below = other;
      }
      if (!isBefore(span, times[below]!, places[below]!, at, place)) break;
      times[slot] = times[below]!;
      places[slot] = places[below]!;
      slot = below;
    }
    times[slot] = at;
    places[slot] = place;
  }

  #grow(length: number): void {
    const times = new Float64Array(length);
    const places = new Uint32Array(length);
    times.set(this.#times);
    places.set(this.#places);
    this.#times = times;
    this.#places = places;
  }
}

/** Compares items by time, agent and number. */
function isBefore(
  { from, number }: Columns,
  at: number,
  place: number,
  otherAt: number,
  other: number,
): boolean {
  if (at !== otherAt) return at < otherAt;
  const isSame = from[place] === from[other];
  return isSame ? number[place]! < number[other]! : from[place]! < from[other]!;
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
  readonly #waiting = new DueQueue<Leaving>();
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
    const { at, from } = leaving;
    this.#waiting.push(at, from, this.#sent, at, leaving);
    this.#sent += 1;
  }

  /** Moves all messages to the uplinks, in sending order. */
  empty(): void {
    const waiting = this.#waiting;
    while (waiting.takeBefore(Number.POSITIVE_INFINITY)) {
      const { from, at, bytes, copies, leaves } = waiting.item!;
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
