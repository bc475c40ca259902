/** What is due, in order: by instant, then by whom it is of, then by its own number. */
import TinyQueue from 'tinyqueue';
import type { ScheduledEvent } from '../../agents/port/world.js';

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

const order = (a: Due, b: Due) => a.at - b.at || a.from - b.from || a.number - b.number;

/** What is due so near to each other is put in order together. */
const SPAN_MS = 50;

/**
 * Only what is due next is in a heap, which is small then; what is due later lies in lists, by the
 * span that it is due in. With ten thousand agents some thirty thousand things are due.
 */
export class DueQueue<T extends Due> {
  /** What is due up to the end of a span. */
  #near = new TinyQueue<T>([], order);
  #span = Number.NEGATIVE_INFINITY;
  readonly #later = new Map<number, T[]>();
  /** The spans in which something is due later. */
  readonly #spans = new TinyQueue<number>();

  /** When the next one is due; infinite without any. */
  get nextAt(): number {
    if (this.#near.length === 0) this.#approach();
    return this.#near.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  push(item: T): void {
    const span = Math.floor(item.at / SPAN_MS);
    if (span <= this.#span) {
      this.#near.push(item);
      return;
    }
    const list = this.#later.get(span);
    if (list) list.push(item);
    else {
      this.#later.set(span, [item]);
      this.#spans.push(span);
    }
  }

  /** Takes the next one that is due before `end`. */
  takeBefore(end: number): T | undefined {
    return this.nextAt >= end ? undefined : this.#near.pop();
  }

  /** Goes on to the next span in which something is due. */
  #approach(): void {
    const span = this.#spans.pop();
    if (span === undefined) return;
    this.#span = span;
    this.#near = new TinyQueue(this.#later.get(span)!, order);
    this.#later.delete(span);
  }
}
