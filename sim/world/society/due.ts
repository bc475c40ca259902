/**
 * What is due, in order: by instant, then by whom it is of, then by its own number. Instants lie in
 * an array of their own, where most comparisons end; the rest is asked of the items.
 */
export interface Due {
  at: number;
  /** Ordinal. */
  from: number;
  /** Counts what is due of the same agent. */
  number: number;
}

/** A binary heap. */
export class DueQueue<T extends Due> {
  #at = new Float64Array(1_024);
  readonly #items: T[] = [];

  /** When the next one is due; infinite without any. */
  get nextAt(): number {
    return this.#items.length === 0 ? Number.POSITIVE_INFINITY : this.#at[0]!;
  }

  push(item: T): void {
    const items = this.#items;
    let place = items.length;
    items.push(item);
    if (place === this.#at.length) this.#grow();
    const instants = this.#at;
    const { at } = item;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const upper = instants[above]!;
      if (upper < at || (upper === at && !before(item, items[above]!))) break;
      instants[place] = upper;
      items[place] = items[above]!;
      place = above;
    }
    instants[place] = at;
    items[place] = item;
  }

  /** Takes the next one that is due before `end`. */
  takeBefore(end: number): T | undefined {
    if (this.nextAt >= end) return undefined;
    const items = this.#items;
    const first = items[0]!;
    const last = items.pop()!;
    if (items.length > 0) this.#sink(last, this.#at[items.length]!);
    return first;
  }

  /** From the top to where it belongs. */
  #sink(item: T, at: number): void {
    const items = this.#items;
    const instants = this.#at;
    const { length } = items;
    let place = 0;
    for (let below = 1; below < length; below = 2 * place + 1) {
      const right = below + 1;
      if (right < length && this.#precedes(right, below)) below = right;
      const lower = instants[below]!;
      if (at < lower || (at === lower && before(item, items[below]!))) break;
      instants[place] = lower;
      items[place] = items[below]!;
      place = below;
    }
    instants[place] = at;
    items[place] = item;
  }

  #precedes(a: number, b: number): boolean {
    const [first, second] = [this.#at[a]!, this.#at[b]!];
    return first < second || (first === second && before(this.#items[a]!, this.#items[b]!));
  }

  #grow(): void {
    const larger = new Float64Array(2 * this.#at.length);
    larger.set(this.#at);
    this.#at = larger;
  }
}

/** Of two at one instant. */
function before(a: Due, b: Due): boolean {
  return a.from < b.from || (a.from === b.from && a.number < b.number);
}
