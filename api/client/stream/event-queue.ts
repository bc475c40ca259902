/** A queue between one who pushes and one who awaits, with an end. Its pusher keeps it bounded. */

interface Waiting<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

export class EventQueue<T> {
  #items: T[] = [];
  readonly #waiting: Waiting<T>[] = [];
  #onEmpty: (() => void) | null = null;
  #ended = false;
  /** Thrown once, after the last item. */
  #failure: { error: unknown } | null = null;

  get size(): number {
    return this.#items.length;
  }

  push(item: T): void {
    if (this.#ended) return;
    const first = this.#waiting.shift();
    if (first) first.resolve({ done: false, value: item });
    else this.#items.push(item);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      const value = this.#items.shift();
      if (value !== undefined) resolve({ done: false, value });
      else if (!this.#ended) this.#waiting.push({ resolve, reject });
      else this.#sayEnd({ resolve, reject });
      if (this.#items.length === 0) this.#emptied();
    });
  }

  /** Resolves when all items have been taken, or at the end. */
  empty(): Promise<void> {
    if (this.#items.length === 0 || this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Ends at once: what is left is dropped. */
  end(): void {
    this.#items = [];
    this.#failure = null;
    this.#close();
  }

  /** Ends after what is left, with an error. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#failure = { error };
    this.#close();
  }

  #close(): void {
    this.#ended = true;
    for (const one of this.#waiting.splice(0)) this.#sayEnd(one);
    this.#emptied();
  }

  #sayEnd({ resolve, reject }: Waiting<T>): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure) reject(failure.error);
    else resolve({ done: true, value: undefined });
  }

  #emptied(): void {
    this.#onEmpty?.();
    this.#onEmpty = null;
  }
}
