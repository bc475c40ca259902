/**
 * An exact sliding window. Counts uses per time slot, so memory and time depend on the window
 * length, not on the traffic.
 */
export class SlidingWindow {
  readonly #windowMs: number;
  readonly #slotMs: number;
  /** Times and amounts of used slots, ascending. Slots before `#first` have expired. */
  readonly #times: number[] = [];
  readonly #amounts: number[] = [];
  #first = 0;
  #total = 0;

  /** Creates a window. A use counts from the end of its slot, so it never expires early. */
  constructor(windowMs: number, slotMs = 1) {
    this.#windowMs = windowMs;
    this.#slotMs = slotMs;
  }

  get total(): number {
    return this.#total;
  }

  get oldest(): number | null {
    return this.#times[this.#first] ?? null;
  }

  /** Returns the time of the n-th oldest use (from 0), or null. */
  nth(n: number): number | null {
    let before = 0;
    for (let index = this.#first; index < this.#times.length; index += 1) {
      before += this.#amounts[index]!;
      if (n < before) return this.#times[index]!;
    }
    return null;
  }

  /** Adds a use. Returns its time, for a refund. */
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

  /** Takes back an unexpired use made at `at`. Default: the last use. */
  refund(at = this.#times.at(-1) ?? 0, amount = 1): void {
    // Searches from the end, because refunded uses are recent.
    let index = this.#times.length - 1;
    while (index >= this.#first && this.#times[index]! > at) index -= 1;
    if (index < this.#first || this.#times[index] !== at) return;
    this.#total -= amount;
    this.#amounts[index]! -= amount;
    if (this.#amounts[index] !== 0) return;
    this.#times.splice(index, 1);
    this.#amounts.splice(index, 1);
  }

  /** Returns the time at which `amount` of `quota` becomes available without further uses. */
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

  forget(now: number): void {
    const time = now - this.#windowMs;
    while (this.#first < this.#times.length && this.#times[this.#first]! <= time) {
      this.#total -= this.#amounts[this.#first]!;
      this.#first += 1;
    }
    // Moving the remaining slots down takes amortized constant time per use.
    if (this.#first * 2 <= this.#times.length) return;
    this.#times.splice(0, this.#first);
    this.#amounts.splice(0, this.#first);
    this.#first = 0;
  }
}
