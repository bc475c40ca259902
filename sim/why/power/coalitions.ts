/**
 * Counts coalitions by weight, and by size where asked: the coefficients of a generating function.
 * They outgrow 2^53 soon, so each of these counts modulo a number below 2^52, in plain doubles
 * without any rounding; remainders.ts puts several together.
 */
export class Coalitions {
  /** `rows[size][weight]`; one row only where sizes are not told apart. */
  readonly #rows: Float64Array[];
  readonly #modulus: number;
  /** Larger ones there are none. */
  #largest = 0;

  /** Of nobody: the empty one. Those that weigh `width` or more are not counted. */
  constructor(sizes: number, width: number, modulus: number) {
    this.#rows = Array.from({ length: sizes }, () => new Float64Array(width));
    this.#rows[0]![0] = 1;
    this.#modulus = modulus;
  }

  copy(): Coalitions {
    const copy = new Coalitions(this.#rows.length, this.#rows[0]!.length, this.#modulus);
    for (const [size, row] of this.#rows.entries()) copy.#rows[size]!.set(row);
    copy.#largest = this.#largest;
    return copy;
  }

  /** Times 1 + x^weight: a voter who may be in or not. */
  join(weight: number): void {
    const rows = this.#rows;
    this.#largest = Math.min(rows.length - 1, this.#largest + 1);
    if (rows.length === 1) return this.#add(rows[0]!, rows[0]!, weight);
    for (let size = this.#largest; size >= 1; size -= 1) {
      this.#add(rows[size]!, rows[size - 1]!, weight);
    }
  }

  /** Times the voters of a group, of which one at least is in. */
  joinSome(weights: readonly number[]): void {
    const none = this.copy();
    for (const weight of weights) this.join(weight);
    for (const [size, row] of this.#rows.entries()) this.#subtract(row, none.#rows[size]!, 0);
  }

  /** Divided by 1 + x^weight: what there was before that voter joined. Exact, as all of it is. */
  without(weight: number): Coalitions {
    const left = this.copy();
    const rows = left.#rows;
    if (rows.length === 1) left.#subtract(rows[0]!, rows[0]!, weight);
    for (let size = 1; size <= left.#largest; size += 1) {
      left.#subtract(rows[size]!, rows[size - 1]!, weight);
    }
    return left;
  }

  /** How many of each size weigh from `from` up to, but not including, `to`. */
  between(from: number, to: number): number[] {
    return this.#rows.map((row) => {
      let sum = 0;
      for (let at = Math.max(0, from); at < Math.min(to, row.length); at += 1) {
        sum += row[at]!;
        if (sum >= this.#modulus) sum -= this.#modulus;
      }
      return sum;
    });
  }

  /** Downwards: where both are one row, what is added is what was there before. */
  #add(to: Float64Array, from: Float64Array, by: number): void {
    const modulus = this.#modulus;
    for (let at = to.length - 1; at >= by; at -= 1) {
      const sum = to[at]! + from[at - by]!;
      to[at] = sum >= modulus ? sum - modulus : sum;
    }
  }

  /** Upwards: where both are one row, what is subtracted is what is left. */
  #subtract(to: Float64Array, from: Float64Array, by: number): void {
    const modulus = this.#modulus;
    for (let at = by; at < to.length; at += 1) {
      const rest = to[at]! - from[at - by]!;
      to[at] = rest < 0 ? rest + modulus : rest;
    }
  }
}
