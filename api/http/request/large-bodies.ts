/**
 * Large bodies are dealt with one a turn of the event loop: parsing one takes tens of milliseconds,
 * and whoever asks for little waits for one of them at most, however many came together.
 */

/** What is smaller takes less than a millisecond. */
const LARGE_BYTES = 64 * 1024;

export class LargeBodies {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is this body's turn; null for one that need not wait. */
  turn(bytes: number): Promise<void> | null {
    if (bytes <= LARGE_BYTES) return null;
    // What waits for a turn lets others in between: immediates come after the poll for events.
    this.#last = this.#last.then(() => new Promise((resolve) => void setImmediate(resolve)));
    return this.#last;
  }
}
