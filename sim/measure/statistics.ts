/**
 * Means, shares, percentiles, the Gini coefficient and time series. The functions use only + - * /
 * and comparisons, which IEEE 754 defines exactly, so the figures are identical on every machine.
 */
import type { Row } from './dictionary.js';

const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

/** Share of a whole; null for a share of nothing. */
export const share = (part: number, whole: number): number | null =>
  whole === 0 ? null : rounded(part / whole);

export class Mean {
  #sum = 0;
  #count = 0;

  add(value: number): void {
    this.#sum += value;
    this.#count += 1;
  }

  get value(): number | null {
    return share(this.#sum, this.#count);
  }
}

/** Computes a percentile by the nearest-rank method. */
export function percentile(sorted: ArrayLike<number>, percent: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.max(1, Math.ceil((percent * sorted.length) / 100)) - 1]!;
}

/** Gini coefficient: 0 if all values are equal, near 1 if one dominates; null if the sum is 0. */
export function gini(values: readonly number[]): number | null {
  const sorted = Float64Array.from(values).sort();
  let sum = 0;
  let ranked = 0;
  for (const [index, value] of sorted.entries()) {
    sum += value;
    ranked += (index + 1) * value;
  }
  if (sum === 0) return null;
  const n = sorted.length;
  return rounded((2 * ranked) / (n * sum) - (n + 1) / n);
}

/** Maximum number of sampled instants. */
const MOST_INSTANTS = 20_000;

interface Curve {
  measure: string;
  /** Group name; null for the whole network. */
  group: string | null;
  value(): number | null;
}

/**
 * Time series sampled at regular intervals. Memory is bounded: above the limit, every second
 * instant is dropped and the spacing doubles.
 */
export class Series {
  readonly #startMs: number;
  readonly #curves: readonly Curve[];
  #everyMs: number;
  #next: number;
  #samples: { at: number; values: (number | null)[] }[] = [];

  constructor(startMs: number, everyMs: number, curves: readonly Curve[]) {
    this.#startMs = startMs;
    this.#everyMs = everyMs;
    this.#next = startMs;
    this.#curves = curves;
  }

  /** Takes the samples due before `at`. Call this before the events at `at`. */
  passTo(at: number): void {
    while (this.#next < at) {
      this.#sample(this.#next);
      if (this.#samples.length === MOST_INSTANTS) {
        this.#samples = this.#samples.filter((_, index) => index % 2 === 0);
        this.#everyMs *= 2;
      }
      this.#next = this.#startMs + this.#samples.length * this.#everyMs;
    }
  }

  finish(endMs: number): void {
    this.passTo(endMs);
    this.#sample(endMs);
  }

  *rows(): Iterable<Row<'series.csv'>> {
    for (const { at, values } of this.#samples) {
      for (const [index, { measure, group }] of this.#curves.entries()) {
        yield { t_ms: at - this.#startMs, measure, group, value: values[index]! };
      }
    }
  }

  #sample(at: number): void {
    this.#samples.push({ at, values: this.#curves.map((curve) => curve.value()) });
  }
}
