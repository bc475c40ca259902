/**
 * Calls and requests that wait for their instant: they are due by instant, then by the agent that
 * they belong to, then by their own number. Beside it, the outbox of agents with a limited uplink.
 */
import type { ScheduledEvent } from '../agents/port.js';
import { computeDeparture, type Departure, type Uplinks, waitMs } from './links.js';
import type { Observer } from './observer.js';

export interface Due {
  at: number;
  /** Ordinal. */
  from: number;
  /** Counts what is due of the same agent. */
  number: number;
}

/** An agent is to be called. */
export interface Call extends Due {
  /** When the call was asked for. */
  since: number;
  event: ScheduledEvent;
}

/** Calls that an agent planned itself; the others come from outside, or tell of a fault's end. */
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

/** What is due so near to each other is put in order together. */
const SPAN_MS = 50;

/** What is due in one span, in no order; `at` counts spans from the first that was asked for. */
interface Span<T> extends Due {
  readonly items: T[];
}

/**
 * Only what is due next is in a heap, which is small then; what is due later lies in lists, by the
 * span that it is due in. With ten thousand agents some thirty thousand things are due.
 */
export class DueQueue<T extends Due> {
  /** What is due up to the end of a span: a heap, the next one first. */
  #near: T[] = [];
  #span = -1;
  #firstSpan: number | null = null;
  /** The spans in which something is due later: by their numbers, and as a heap. */
  readonly #later = new Map<number, Span<T>>();
  readonly #spans: Span<T>[] = [];

  /** When the next one is due; infinite without any. */
  get nextAt(): number {
    if (this.#near.length === 0) this.#approach();
    return this.#near.length === 0 ? Number.POSITIVE_INFINITY : this.#near[0]!.at;
  }

  push(item: T): void {
    const whole = Math.floor(item.at / SPAN_MS);
    this.#firstSpan ??= whole;
    // Numbers as small as that are found much faster.
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

  /** Takes the next one that is due before `end`. */
  takeBefore(end: number): T | undefined {
    return this.nextAt >= end ? undefined : taken(this.#near);
  }

  /** Goes on to the next span in which something is due. */
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

/** Adds to a heap. That of a library, which is told the order, takes three times as long here. */
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

/** Takes the first of a heap, which has one. */
function taken<T extends Due>(heap: T[]): T {
  const first = heap[0]!;
  const last = heap.pop()!;
  if (heap.length > 0) sink(heap, 0, last);
  return first;
}

/** Puts an item in a place of a heap, or below it. */
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
 * What agents with a limited uplink have sent since the last time it was emptied. A window's calls
 * come before its arrivals, and with these what their senders tell then: only at its end is known
 * who sent what in which order.
 */

/** A message that is to leave. */
interface Leaving {
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
      if (computeDeparture(departure, copy) === Number.POSITIVE_INFINITY) break;
      count += 1;
      waited += waitMs(departure, copy);
    }
    this.#observer.waited(count, waited);
  }
}
