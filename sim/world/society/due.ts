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

export class DueQueue<T extends Due> {
  readonly #heap = new TinyQueue<T>([], order);

  /** When the next one is due; infinite without any. */
  get nextAt(): number {
    return this.#heap.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  push(item: T): void {
    this.#heap.push(item);
  }

  /** Takes the next one that is due before `end`. */
  takeBefore(end: number): T | undefined {
    return this.nextAt >= end ? undefined : this.#heap.pop();
  }
}
