/**
 * How often something was used in the last while, exactly: counts by millisecond, so that memory
 * and time follow the window's length, never the traffic in it.
 */
export class SlidingWindow {
  /** Milliseconds with uses, ascending, and how many; those before `#first` are forgotten. */
  readonly #times: number[] = [];
  readonly #counts: number[] = [];
  #first = 0;
  #total = 0;

  /** Uses that are not forgotten. */
  get total(): number {
    return this.#total;
  }

  /** When the oldest of them was, or null. */
  get oldest(): number | null {
    return this.#times[this.#first] ?? null;
  }

  /** When the n-th oldest of them was, counted from 0; null when there are fewer. */
  nth(n: number): number | null {
    let before = 0;
    for (let index = this.#first; index < this.#times.length; index += 1) {
      before += this.#counts[index]!;
      if (n < before) return this.#times[index]!;
    }
    return null;
  }

  use(now: number): void {
    const last = this.#times.length - 1;
    if (last >= this.#first && this.#times[last]! >= now) this.#counts[last]! += 1;
    else {
      this.#times.push(now);
      this.#counts.push(1);
    }
    this.#total += 1;
  }

  /** Takes back the last use. */
  giveBack(): void {
    const last = this.#times.length - 1;
    if (last < this.#first) return;
    this.#total -= 1;
    this.#counts[last]! -= 1;
    if (this.#counts[last] !== 0) return;
    this.#times.pop();
    this.#counts.pop();
  }

  /** Forgets uses at `time` and before. */
  forget(time: number): void {
    while (this.#first < this.#times.length && this.#times[this.#first]! <= time) {
      this.#total -= this.#counts[this.#first]!;
      this.#first += 1;
    }
    // Now and then, so that moving the rest down costs each use a constant.
    if (this.#first * 2 <= this.#times.length) return;
    this.#times.splice(0, this.#first);
    this.#counts.splice(0, this.#first);
    this.#first = 0;
  }
}
