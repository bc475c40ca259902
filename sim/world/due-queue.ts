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
 * Two-level priority queue. The items of the current span are sorted at once, and a heap orders the
 * few that are added after that. Each later span holds its own items. With ten thousand agents,
 * about thirty thousand items are pending.
 *
 * Items are rows of typed arrays, so a pending item takes no object of its own. `takeBefore` copies
 * the next item to the members of the queue.
 */
export class DueQueue<T> {
  /** Empty spans, for reuse. */
  readonly #spare = new SpareSpans<T>();
  /** Items due before the end of the current span, with their order. */
  #near = this.#spare.take(LEAST);
  readonly #sorted = new SortedSpan();
  /** Places of the items that no key can hold, or that came after the span was sorted. */
  readonly #late = new TinyQueue<number>([], (a, b) => compare(this.#near, a, b));
  #span = -1;
  #firstSpan: number | null = null;
  /** Later spans by number, counted from the first span, and the numbers as a heap. */
  readonly #later = new Map<number, Span<T>>();
  readonly #spans = new TinyQueue<number>();
  /** Time, agent, number, time of scheduling and content of the item that was taken last. */
  at = 0;
  from = 0;
  number = 0;
  since = 0;
  item: T | null = null;

  /** Time of the next item, or infinity. */
  get nextAt(): number {
    if (this.#isOver) this.#approach();
    if (this.#late.length === 0) return this.#sorted.nextAt;
    return Math.min(this.#sorted.nextAt, this.#near.rows[this.#late.peek()! * WIDTH]!);
  }

  /** True if no item of the current span is left. */
  get #isOver(): boolean {
    return this.#late.length === 0 && this.#sorted.nextAt === Number.POSITIVE_INFINITY;
  }

  /** @param number sequence number of the agent's items, which orders those of one time. */
  push(at: number, from: number, number: number, since: number, item: T): void {
    const whole = Math.floor(at / SPAN_MS);
    this.#firstSpan ??= whole;
    // Small integer keys are much faster to look up.
    const span = whole - this.#firstSpan;
    if (span <= this.#span) {
      if (this.#isOver) this.#near.length = 0;
      this.#near = this.#spare.withRoom(this.#near);
      this.#near.add(at, from, number, since, item);
      this.#late.push(this.#near.length - 1);
      return;
    }
    const known = this.#later.get(span);
    if (!known) this.#spans.push(span);
    const later = known ? this.#spare.withRoom(known) : this.#spare.take(LEAST);
    if (later !== known) this.#later.set(span, later);
    later.add(at, from, number, since, item);
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
    const late = this.#late.peek();
    if (late === undefined) return sorted.take();
    const isSortedFirst =
      sorted.nextAt < Number.POSITIVE_INFINITY && compare(near, sorted.place, late) < 0;
    return isSortedFirst ? sorted.take() : this.#late.pop()!;
  }

  #approach(): void {
    const number = this.#spans.pop();
    if (number === undefined) return;
    this.#spare.give(this.#near);
    this.#near = this.#later.get(number)!;
    this.#later.delete(number);
    this.#span = number;
    const startsAt = (number + this.#firstSpan!) * SPAN_MS;
    if (this.#sorted.fill(this.#near, startsAt)) return;
    for (let place = 0; place < this.#near.length; place += 1) this.#late.push(place);
  }
}

/** Members of a row: time, agent, number, and time of scheduling. */
const WIDTH = 4;
const FROM = 1;
const NUMBER = 2;
const SINCE = 3;

/** Items that a new span has room for. */
const LEAST = 16;

/** Items of one span in rows of one typed array, in order of insertion. */
class Span<T> {
  length = 0;
  readonly rows: Float64Array;
  readonly items: (T | null)[];

  /** @param room number of items that fit. */
  constructor(readonly room: number) {
    this.rows = new Float64Array(room * WIDTH);
    this.items = new Array<T | null>(room).fill(null);
  }

  add(at: number, from: number, number: number, since: number, item: T): void {
    const place = this.length;
    const row = place * WIDTH;
    const { rows } = this;
    rows[row] = at;
    rows[row + FROM] = from;
    rows[row + NUMBER] = number;
    rows[row + SINCE] = since;
    this.items[place] = item;
    this.length = place + 1;
  }

  /** Moves all items from a smaller span. */
  fillFrom({ rows, items, length }: Span<T>): void {
    this.rows.set(rows);
    for (let place = 0; place < length; place += 1) {
      this.items[place] = items[place]!;
      items[place] = null;
    }
    this.length = length;
  }
}

/**
 * Empty spans by size. A full span moves to one of twice the size, and leaves its own to others.
 * Otherwise every span in reuse would grow to the size of the largest.
 */
class SpareSpans<T> {
  readonly #byRoom = new Map<number, Span<T>[]>();

  take(room: number): Span<T> {
    return this.#byRoom.get(room)?.pop() ?? new Span(room);
  }

  give(span: Span<T>): void {
    span.length = 0;
    const spare = this.#byRoom.get(span.room);
    if (spare) spare.push(span);
    else this.#byRoom.set(span.room, [span]);
  }

  /** Returns the span, or a larger one with its items if it is full. */
  withRoom(span: Span<T>): Span<T> {
    if (span.length < span.room) return span;
    const larger = this.take(2 * span.room);
    larger.fillFrom(span);
    this.give(span);
    return larger;
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

/** Compares items by time, agent and number. */
function compare({ rows }: Rows, place: number, other: number): number {
  const own = place * WIDTH;
  const others = other * WIDTH;
  return (
    rows[own]! - rows[others]! ||
    rows[own + FROM]! - rows[others + FROM]! ||
    rows[own + NUMBER]! - rows[others + NUMBER]!
  );
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
