/**
 * Queue of pending calls and requests, ordered by time, then agent, then number. This file also
 * contains the outbox for agents with a limited uplink.
 */
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

const isBefore = (a: Due, b: Due): boolean => {
  if (a.at !== b.at) return a.at < b.at;
  return a.from === b.from ? a.number < b.number : a.from < b.from;
};

/** Span length. Items within one span are sorted together. */
const SPAN_MS = 50;

/** Unsorted items in one span. `at` is the span's number, counted from the first span. */
interface Span<T> extends Due {
  readonly items: T[];
}

/**
 * Two-level priority queue. A small heap holds the items in the current span, and per-span lists
 * hold later items. With ten thousand agents, about thirty thousand items are pending.
 */
export class DueQueue<T extends Due> {
  /** Heap that contains the items due before the end of the current span. */
  #near: T[] = [];
  #span = -1;
  #firstSpan: number | null = null;
  /** Later spans by number, and as a heap. */
  readonly #later = new Map<number, Span<T>>();
  readonly #spans: Span<T>[] = [];

  /** Time of the next item, or infinity. */
  get nextAt(): number {
    if (this.#near.length === 0) this.#approach();
    return this.#near.length === 0 ? Number.POSITIVE_INFINITY : this.#near[0]!.at;
  }

  push(item: T): void {
    const whole = Math.floor(item.at / SPAN_MS);
    this.#firstSpan ??= whole;
    // Small integer keys are much faster to look up.
    const at = whole - this.#firstSpan;
    if (at <= this.#span) {
      rise(this.#near, item);
      return;
    }
    const known = this.#later.get(at);
    if (known) {
      known.items.push(item);
      return;
    }
    const span = { at, from: 0, number: 0, items: [item] };
    this.#later.set(at, span);
    rise(this.#spans, span);
  }

  /** Removes and returns the next item due before `end`. */
  takeBefore(end: number): T | undefined {
    return this.nextAt >= end ? undefined : taken(this.#near);
  }

  /** Advances to the next span with items. */
  #approach(): void {
    if (this.#spans.length === 0) return;
    const { at, items } = taken(this.#spans);
    this.#later.delete(at);
    for (let place = (items.length >> 1) - 1; place >= 0; place -= 1) {
      sink(items, place, items[place]!);
    }
    this.#span = at;
    this.#near = items;
  }
}

/** Inserts an item into a heap. A library heap with a comparator is three times slower here. */
function rise<T extends Due>(heap: T[], item: T): void {
  let place = heap.push(item) - 1;
  while (place > 0) {
    const above = (place - 1) >> 1;
    if (!isBefore(item, heap[above]!)) break;
    heap[place] = heap[above]!;
    place = above;
  }
  heap[place] = item;
}

/** Removes the first item from a non-empty heap. */
function taken<T extends Due>(heap: T[]): T {
  const first = heap[0]!;
  const last = heap.pop()!;
  if (heap.length > 0) sink(heap, 0, last);
  return first;
}

/** Sifts an item down from a given position. */
function sink<T extends Due>(heap: T[], from: number, item: T): void {
  let place = from;
  for (let below = 2 * place + 1; below < heap.length; below = 2 * place + 1) {
    const other = below + 1;
    if (other < heap.length && isBefore(heap[other]!, heap[below]!)) below = other;
    if (!isBefore(heap[below]!, item)) break;
    heap[place] = heap[below]!;
    place = below;
  }
  heap[place] = item;
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
  /** Called with the departure time. */
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
