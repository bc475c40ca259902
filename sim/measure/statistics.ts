/**
 * Means, shares, percentiles, the Gini coefficient, and series of values over time. Only + - * /
 * and comparisons, whose results IEEE 754 fixes to the bit, so the figures are the same on every
 * machine.
 */
import type { Row } from './dictionary.js';

/** To six decimals. */
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

/** Null where there is nothing to take a share of. */
export const share = (part: number, whole: number): number | null =>
  whole === 0 ? null : rounded(part / whole);

/** A mean that grows value by value. */
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

/** Nearest rank: the least value that so many percent of all are not above. */
export function percentile(sorted: ArrayLike<number>, percent: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.max(1, Math.ceil((percent * sorted.length) / 100)) - 1]!;
}

/** 0 when all have the same, towards 1 when one has all; null when there is nothing to have. */
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

/** Instants kept at most. */
const MOST_INSTANTS = 20_000;

interface Curve {
  measure: string;
  /** Null for the whole network. */
  group: string | null;
  value(): number | null;
}

/**
 * Values over time, sampled every so often. A long run stays small: when there are too many
 * instants, every second one is dropped and the spacing doubles.
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

  /** To be called before whatever happens at `at`: takes the samples due before. */
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

  /** The last instant is the end, whether it was due or not. */
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
