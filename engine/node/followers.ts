/** Whoever follows the events of a network: history from the store, then live, without a seam. */
import type { Event } from '../protocol/schema/index.js';
import type { PublishedEvent } from './encode.js';
import type { Views } from './views.js';

type Listener = (events: readonly PublishedEvent[]) => void;

export class Followers {
  readonly #waiting = new Set<() => void>();
  readonly #listeners = new Set<Listener>();
  #ended = false;

  /** Calls back at each commit, in order, after it is durable. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Hands on events that were committed. */
  publish(events: readonly PublishedEvent[]): void {
    for (const listener of this.#listeners) listener(events);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume();
  }

  /** The store is about to close: who follows goes on where it was after the next opening. */
  end(): void {
    this.#ended = true;
    this.publish([]);
  }

  /** Committed events after `since`, read as fast as they are taken. */
  async *follow(read: Views, since: number): AsyncGenerator<Event, void> {
    let next = Math.max(0, since) + 1;
    while (!this.#ended) {
      const head = read.position.event_seq;
      if (head < next) {
        // Nothing awaits between this check and the wait: no commit can slip through.
        await new Promise<void>((resolve) => this.#waiting.add(resolve));
        continue;
      }
      // Read in whole pages: the store may close while a slow consumer holds one.
      const last = Math.min(head, next + PAGE - 1);
      const page = [...read.events(next, last)];
      next = last + 1;
      yield* page;
    }
  }
}

const PAGE = 256;
