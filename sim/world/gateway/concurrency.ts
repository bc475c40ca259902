/** Lets a bounded number of tasks go on at a time, and a bounded number wait for their turn. */

export class ConcurrencyLimit {
  readonly #most: number;
  readonly #mostWaiting: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number, mostWaiting: number) {
    this.#most = most;
    this.#mostWaiting = mostWaiting;
  }

  /** What the task gives, in its turn; null when too many wait already. */
  async run<T>(task: () => Promise<T>): Promise<T | null> {
    if (this.#taken < this.#most) this.#taken += 1;
    else if (this.#waiting.length >= this.#mostWaiting) return null;
    // Who frees a slot hands it over: it stays taken.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#taken -= 1;
    }
  }
}
