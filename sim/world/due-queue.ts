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
/** Spans that are found without a look-up in a map. */
const RECENT = 64;

/**
 * Two-level priority queue. The items of the current span are sorted at once, and a heap orders the
 * few that are added after that. Each later span holds its own items. With ten thousand agents,
 * about thirty thousand items are pending.
 *
 * Items are rows of typed arrays, so a pending item takes no object of its own. `takeBefore` copies
 * the next item to the members of the queue.
 */
export class DueQueue<T> {
  /** Items due before the end of the current span, with their order. */
  #near = new Span<T>();
  readonly #sorted = new SortedSpan();
  readonly #heap = new DueHeap();
  #span = -1;
  #firstSpan: number | null = null;
  /** Later spans by number, counted from the first span, and the numbers as a heap. */
  readonly #later = new Map<number, Span<T>>();
  readonly #spans = new TinyQueue<number>();
  /** Later spans by number modulo `RECENT`, to find most of them without the map. */
  readonly #recent: Span<T>[] = Array.from({ length: RECENT }, () => new Span());
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
    if (this.#isOver) this.#approach();
    return Math.min(this.#sorted.nextAt, this.#heap.nextAt);
  }

  /** True if no item of the current span is left. */
  get #isOver(): boolean {
    return this.#heap.length === 0 && this.#sorted.nextAt === Number.POSITIVE_INFINITY;
  }

  /** @param number sequence number of the agent's items, which orders those of one time. */
  push(at: number, from: number, number: number, since: number, item: T): void {
    const whole = Math.floor(at / SPAN_MS);
    this.#firstSpan ??= whole;
    // Small integer keys are much faster to look up.
    const span = whole - this.#firstSpan;
    if (span <= this.#span) {
      if (this.#isOver) this.#near.length = 0;
      this.#near.add(at, from, number, since, item);
      this.#heap.push(at, this.#near);
      return;
    }
    const recent = this.#recent[span % RECENT]!;
    const later = recent.span === span ? recent : this.#laterSpan(span);
    later.add(at, from, number, since, item);
  }

  #laterSpan(span: number): Span<T> {
    let later = this.#later.get(span);
    if (!later) {
      later = this.#spare.pop() ?? new Span();
      later.span = span;
      this.#later.set(span, later);
      this.#spans.push(span);
    }
    this.#recent[span % RECENT] = later;
    return later;
  }

  /** Takes the next item due before `end`. Returns false if no item is due. */
  takeBefore(end: number): boolean {
    if (this.nextAt >= end) return false;
    const near = this.#near;
    const { rows, items } = near;
    const place = this.#takePlace(near);
    const row = place * WIDTH;
    this.at = rows[row]!;
    this.from = rows[row + FROM]!;
    this.number = rows[row + NUMBER]!;
    this.since = rows[row + SINCE]!;
    this.item = items[place]!;
    items[place] = null;
    return true;
  }

  #takePlace(near: Span<T>): number {
    const sorted = this.#sorted;
    const heap = this.#heap;
    if (heap.length === 0) return sorted.take();
    const isSortedFirst =
      sorted.nextAt < Number.POSITIVE_INFINITY &&
      isBefore(near, sorted.nextAt, sorted.place, heap.nextAt, heap.place);
    return isSortedFirst ? sorted.take() : heap.take(near);
  }

  #approach(): void {
    const number = this.#spans.pop();
    if (number === undefined) return;
    this.#near.length = 0;
    this.#spare.push(this.#near);
    this.#near = this.#later.get(number)!;
    this.#later.delete(number);
    this.#span = number;
    const startsAt = (number + this.#firstSpan!) * SPAN_MS;
    if (!this.#sorted.fill(this.#near, startsAt)) this.#heap.fill(this.#near);
  }
}

/** Members of a row: time, agent, number, and time of scheduling. */
const WIDTH = 4;
const FROM = 1;
const NUMBER = 2;
const SINCE = 3;

/** Items of one span in rows of one typed array, in order of insertion. */
class Span<T> {
  /** Number of the span, or -1. */
  span = -1;
  length = 0;
  rows = new Float64Array(16 * WIDTH);
  readonly items: (T | null)[] = [];

  add(at: number, from: number, number: number, since: number, item: T): void {
    const place = this.length;
    const row = place * WIDTH;
    if (row === this.rows.length) this.#grow();
    const { rows, items } = this;
    rows[row] = at;
    rows[row + FROM] = from;
    rows[row + NUMBER] = number;
    rows[row + SINCE] = since;
    if (place < items.length) items[place] = item;
    else items.push(item);
    this.length = place + 1;
  }

  #grow(): void {
    const rows = new Float64Array(2 * this.rows.length);
    rows.set(this.rows);
    this.rows = rows;
  }
}

type Rows = Pick<Span<unknown>, 'rows' | 'length'>;

/** Limits of the parts of a key: 6 bits of milliseconds, 20 of agents and 26 of places. */
const MOST_AGENTS = 2 ** 20;
const MOST_PLACES = 2 ** 26;

/**
 * Items of a span in order. An item is sorted by one number, which holds its time within the span,
 * its agent and its place. Typed arrays sort numbers several times faster than a heap.
 */
class SortedSpan {
  /** Time and place of the next item. The time is infinite if no item is left. */
  nextAt = Number.POSITIVE_INFINITY;
  place = 0;
  #next = 0;
  #length = 0;
  #keys = new Float64Array(64);
  #startsAt = 0;

  /** Sorts a span. Returns false if its items do not fit into keys. */
  fill(span: Rows, startsAt: number): boolean {
    const { length, rows } = span;
    if (length > MOST_PLACES) return false;
    if (length > this.#keys.length) this.#keys = new Float64Array(2 * length);
    const keys = this.#keys.subarray(0, length);
    for (let place = 0; place < length; place += 1) {
      const ms = rows[place * WIDTH]! - startsAt;
      const from = rows[place * WIDTH + FROM]!;
      if (ms !== Math.floor(ms) || from >= MOST_AGENTS) return false;
      keys[place] = (ms * MOST_AGENTS + from) * MOST_PLACES + place;
    }
    keys.sort();
    for (let next = 1; next < length; next += 1) {
      if (keys[next]! - keys[next - 1]! < MOST_PLACES) this.#sortNumbers(keys, next, span);
    }
    this.#length = length;
    this.#next = 0;
    this.#startsAt = startsAt;
    this.#show();
    return true;
  }

  /** Moves an item before those of the same time and agent that have larger numbers. */
  #sortNumbers(keys: Float64Array, from: number, { rows }: Rows): void {
    for (let next = from; next > 0; next -= 1) {
      const key = keys[next]!;
      const before = keys[next - 1]!;
      if (ownerOf(key) !== ownerOf(before)) return;
      const number = rows[placeOf(key) * WIDTH + NUMBER]!;
      if (rows[placeOf(before) * WIDTH + NUMBER]! < number) return;
      keys[next] = before;
      keys[next - 1] = key;
    }
  }

  take(): number {
    const { place } = this;
    this.#next += 1;
    this.#show();
    return place;
  }

  #show(): void {
    if (this.#next === this.#length) {
      this.nextAt = Number.POSITIVE_INFINITY;
      return;
    }
    const key = this.#keys[this.#next]!;
    this.place = placeOf(key);
    this.nextAt = this.#startsAt + Math.floor(key / (MOST_AGENTS * MOST_PLACES));
  }
}

/** Time and agent of a key. */
const ownerOf = (key: number): number => Math.floor(key / MOST_PLACES);
const placeOf = (key: number): number => key - ownerOf(key) * MOST_PLACES;

/**
 * Heap by time, agent and number of the items that come after their span was sorted, or that fit
 * into no key. The times are in a list of their own, because most comparisons need only times. A
 * library heap with a comparator is three times slower here.
 */
class DueHeap {
  length = 0;
  #times = new Float64Array(16);
  /** Positions in the span, in heap order. */
  #places = new Uint32Array(16);

  /** Position of the first item. */
  get place(): number {
    return this.#places[0]!;
  }

  /** Time of the first item, or infinity. */
  get nextAt(): number {
    return this.length === 0 ? Number.POSITIVE_INFINITY : this.#times[0]!;
  }

  /** Orders all items of a span. The heap must be empty. */
  fill(span: Rows): void {
    const { length } = span;
    if (length > this.#times.length) this.#grow(length);
    this.length = length;
    for (let place = 0; place < length; place += 1) {
      this.#times[place] = span.rows[place * WIDTH]!;
      this.#places[place] = place;
    }
    for (let slot = (length >> 1) - 1; slot >= 0; slot -= 1) {
      this.#sink(slot, this.#times[slot]!, this.#places[slot]!, span);
    }
  }

  /** Adds the span's last item. */
  push(at: number, span: Rows): void {
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
  take(span: Rows): number {
    const first = this.#places[0]!;
    const last = this.length - 1;
    this.length = last;
    if (last > 0) this.#sink(0, this.#times[last]!, this.#places[last]!, span);
    return first;
  }

  /** Sifts an item down from a given slot. */
  #sink(from: number, at: number, place: number, span: Rows): void {
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
  { rows }: Rows,
  at: number,
  place: number,
  otherAt: number,
  other: number,
): boolean {
  if (at !== otherAt) return at < otherAt;
  const from = rows[place * WIDTH + FROM]!;
  const otherFrom = rows[other * WIDTH + FROM]!;
  if (from !== otherFrom) return from < otherFrom;
  return rows[place * WIDTH + NUMBER]! < rows[other * WIDTH + NUMBER]!;
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
