/**
 * How much of something was used in the last while, exactly to the slot of time: counts by slot, so
 * that memory and time follow the window's length, never the traffic in it.
 */
export class SlidingWindow {
  readonly #windowMs: number;
  readonly #slotMs: number;
  /** Slots with uses, ascending, and how much; those before `#first` are forgotten. */
  readonly #times: number[] = [];
  readonly #amounts: number[] = [];
  #first = 0;
  #total = 0;

  /** A use counts as of the end of its slot: it is never forgotten early. */
  constructor(windowMs: number, slotMs = 1) {
    this.#windowMs = windowMs;
    this.#slotMs = slotMs;
  }

  /** What was used and is not forgotten. */
  get total(): number {
    return this.#total;
  }

  /** When the oldest of it was, or null. */
  get oldest(): number | null {
    return this.#times[this.#first] ?? null;
  }

  /** When the n-th oldest of them was, counted from 0; null when there are fewer. */
  nth(n: number): number | null {
    let before = 0;
    for (let index = this.#first; index < this.#times.length; index += 1) {
      before += this.#amounts[index]!;
      if (n < before) return this.#times[index]!;
    }
    return null;
  }

  /** Gives the time that it is counted at, by which it can be given back. */
  use(now: number, amount = 1): number {
    const at = Math.ceil(now / this.#slotMs) * this.#slotMs;
    const last = this.#times.length - 1;
    this.#total += amount;
    if (last >= this.#first && this.#times[last]! >= at) {
      this.#amounts[last]! += amount;
      return this.#times[last]!;
    }
    this.#times.push(at);
    this.#amounts.push(amount);
    return at;
  }

  /** Takes back what was counted at `at`, by default the last, if it is not forgotten by now. */
  refund(at = this.#times.at(-1) ?? 0, amount = 1): void {
    // From the end, because what is given back was used lately.
    let index = this.#times.length - 1;
    while (index >= this.#first && this.#times[index]! > at) index -= 1;
    if (index < this.#first || this.#times[index] !== at) return;
    this.#total -= amount;
    this.#amounts[index]! -= amount;
    if (this.#amounts[index] !== 0) return;
    this.#times.splice(index, 1);
    this.#amounts.splice(index, 1);
  }

  /** When `amount` of `quota` is free, if nothing else is used meanwhile. */
  freeAt(amount: number, quota: number, now: number): number {
    let left = this.#total;
    for (let index = this.#first; index < this.#times.length; index += 1) {
      if (left + amount <= quota) return index === this.#first ? now : this.#end(index - 1);
      left -= this.#amounts[index]!;
    }
    return this.#times.length === this.#first ? now : this.#end(this.#times.length - 1);
  }

  #end(index: number): number {
    return this.#times[index]! + this.#windowMs;
  }

  /** Forgets what was used a window ago and before. */
  forget(now: number): void {
    const time = now - this.#windowMs;
    while (this.#first < this.#times.length && this.#times[this.#first]! <= time) {
      this.#total -= this.#amounts[this.#first]!;
      this.#first += 1;
    }
    // Now and then, so that moving the rest down costs each use a constant.
    if (this.#first * 2 <= this.#times.length) return;
    this.#times.splice(0, this.#first);
    this.#amounts.splice(0, this.#first);
    this.#first = 0;
  }
}
