/** What is known of numbers that come one after another: mean, standard deviation, skewness. */

/** Beyond these, digits are rounding of the arithmetic. */
const DIGITS = 9;

/** A mean that is smaller than this share of the largest number is rounding of the arithmetic. */
const CANCELLED = 1e-14;

/** The difference of two figures, without the digits that rounding leaves behind their last. */
export function differenceOf(a: number, b: number): number {
  const size = Math.max(Math.abs(a), Math.abs(b));
  if (!Number.isFinite(size)) return a - b;
  const places = 14 - Number(size.toExponential().split('e')[1]);
  return places < 0 || places > 100 ? a - b : Number((a - b).toFixed(places)) || 0;
}

/** As tables show a figure. */
export const rounded = (value: number): number => Number(value.toPrecision(DIGITS));

export interface Moments {
  n: number;
  mean: number;
  /** Standard deviation (n - 1); 0 when n < 2. */
  sd: number;
  /** Corrected for few numbers (the G1 of Joanes and Gill 1998); 0 when n < 3 or without spread. */
  skewness: number;
  least: number;
  most: number;
}

/** Welford's method, with Terriberry's third moment: one pass, and no digits lost where all are
 * large and alike. */
export class Sample {
  #n = 0;
  #mean = 0;
  /** Sums of squared and cubed distances from the mean. */
  #squares = 0;
  #cubes = 0;
  #least = Number.POSITIVE_INFINITY;
  #most = Number.NEGATIVE_INFINITY;

  static of(values: Iterable<number>): Sample {
    const sample = new Sample();
    for (const value of values) sample.add(value);
    return sample;
  }

  add(value: number): void {
    this.#n += 1;
    const n = this.#n;
    const distance = value - this.#mean;
    const step = distance / n;
    const square = distance * step * (n - 1);
    this.#mean += step;
    this.#cubes += square * step * (n - 2) - 3 * step * this.#squares;
    this.#squares += square;
    this.#least = Math.min(this.#least, value);
    this.#most = Math.max(this.#most, value);
  }

  get n(): number {
    return this.#n;
  }

  /** Null of nothing. */
  moments(): Moments | null {
    const n = this.#n;
    if (n === 0) return null;
    const [least, most] = [this.#least, this.#most];
    // What rounding leaves of the sums where all numbers are the same is not spread.
    if (least === most) return { n, mean: least, sd: 0, skewness: 0, least, most };
    const sd = Math.sqrt(this.#squares / (n - 1));
    const corrected = n < 3 ? 0 : Math.sqrt(n * (n - 1)) / (n - 2);
    const spread = Math.sqrt(this.#squares / n);
    const skewness = (corrected * this.#cubes) / n / (spread * spread * spread);
    // Rounding leaves a last digit of the largest number where the numbers cancel.
    const cancels = Math.abs(this.#mean) < CANCELLED * Math.max(Math.abs(least), Math.abs(most));
    return { n, mean: cancels ? 0 : this.#mean, sd, skewness, least, most };
  }
}
