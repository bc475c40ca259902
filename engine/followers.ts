/** Whoever follows the events of a network: history from the store, then live, without a seam. */
import type { Event } from './schema/index.js';
import type { Views } from './views.js';

export class Followers {
  readonly #waiting = new Set<() => void>();
  #ended = false;

  /** Something was committed. */
  tell(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Followers read what is left, then finish. */
  end(): void {
    this.#ended = true;
    this.tell();
  }

  /** Committed events after `since`, read as fast as they are taken. */
  async *follow(read: Views, since: number): AsyncGenerator<Event, void> {
    for (let next = since + 1; ; ) {
      const head = read.position.event_seq;
      if (next <= head) {
        yield* read.events(next, head);
        next = head + 1;
      } else if (this.#ended) return;
      else await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }
}
