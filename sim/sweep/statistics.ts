/** Mean, standard deviation and confidence interval of numbers that come one after another. */
import jstat from 'jstat';

/** Of a sample; what cannot be said about so few numbers is null. */
export interface Statistics {
  n: number;
  mean: number | null;
  sd: number | null;
  /** The 95 % interval of the mean. */
  low: number | null;
  high: number | null;
}

/** Two-sided 95 %. */
const QUANTILE = 0.975;
/** Beyond these, digits are rounding of the arithmetic and of the quantile. */
const DIGITS = 9;

const rounded = (value: number): number => Number(value.toPrecision(DIGITS));

/** Welford's method: one pass, and no loss of digits where numbers are large and alike. */
export class Sample {
  #n = 0;
  #mean = 0;
  /** Sum of squared distances from the mean. */
  #squares = 0;

  add(value: number): void {
    this.#n += 1;
    const distance = value - this.#mean;
    this.#mean += distance / this.#n;
    this.#squares += distance * (value - this.#mean);
  }

  statistics(): Statistics {
    const n = this.#n;
    if (n === 0) return { n, mean: null, sd: null, low: null, high: null };
    const mean = rounded(this.#mean);
    if (n === 1) return { n, mean, sd: null, low: null, high: null };
    const sd = Math.sqrt(this.#squares / (n - 1));
    const half = (jstat.jStat.studentt.inv(QUANTILE, n - 1) * sd) / Math.sqrt(n);
    const ends = { low: rounded(this.#mean - half), high: rounded(this.#mean + half) };
    return { n, mean, sd: rounded(sd), ...ends };
  }
}
