/** The last events of a network, in memory: so many and no more. */
import type { Event } from '../../../../api/client/index.js';
import { eventTopics } from '../../../../engine/internal.js';
import type { Cursor } from './cursor.js';

const MOST_EVENTS = 5_000;
const MOST_CHARACTERS = 8 * 1024 * 1024;

export interface Wanted {
  topics: ReadonlySet<string>;
  limit: number;
}

/** Its figures come with every block and can be looked at any time: nobody is woken by them. */
export const isNews = ({ type }: Event, topics: ReadonlySet<string>): boolean =>
  type !== 'network_metrics' && eventTopics[type].some((topic) => topics.has(topic));

export class Held {
  #events: { event: Event; characters: number }[] = [];
  #characters = 0;
  /** All that came after this one is held. */
  #from: Cursor;
  #last: Cursor;

  constructor(from: Cursor) {
    this.#from = from;
    this.#last = from;
  }

  /** After where it begins. */
  get from(): Cursor {
    return this.#from;
  }

  /** Up to where it reaches. */
  get last(): Cursor {
    return this.#last;
  }

  add(event: Event): void {
    const characters = JSON.stringify(event).length;
    this.#events.push({ event, characters });
    this.#characters += characters;
    this.#last = { ...this.#last, seq: event.seq };
    while (this.#events.length > MOST_EVENTS || this.#characters > MOST_CHARACTERS) this.#drop();
  }

  /** The history is another one from here on. */
  restart(from: Cursor): void {
    this.#events = [];
    this.#characters = 0;
    this.#from = from;
    this.#last = from;
  }

  /** Whether what came after a place is all held; null where it is of another history. */
  reachesBackTo({ epoch, seq }: Cursor): boolean | null {
    if (epoch !== this.#from.epoch || seq > this.#last.seq) return null;
    return seq >= this.#from.seq;
  }

  /** Whether nothing is to be said to who knows all up to a place. */
  hasNothing(from: Cursor, topics: ReadonlySet<string>): boolean {
    if (this.reachesBackTo(from) === null) return false;
    return this.after(from, { topics, limit: 1 }).events.length === 0;
  }

  /** The first that are wanted after a place, and the place after them. */
  after({ seq }: Cursor, { topics, limit }: Wanted): { events: Event[]; cursor: Cursor } {
    const later = this.#events.filter(({ event }) => event.seq > seq && isNews(event, topics));
    const events = later.slice(0, limit).map(({ event }) => event);
    const reached = later.length > limit ? events.at(-1)!.seq : this.#last.seq;
    return { events, cursor: { ...this.#last, seq: reached } };
  }

  #drop(): void {
    const first = this.#events.shift()!;
    this.#characters -= first.characters;
    this.#from = { ...this.#from, seq: first.event.seq };
  }
}
