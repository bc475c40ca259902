/**
 * Values over time, sampled every so often. A long run stays small: when there are too many
 * instants, every second one is dropped and the spacing doubles.
 */
import type { Row } from '../dictionary.js';

/** Instants kept at most. */
export const MOST_INSTANTS = 20_000;

export interface Curve {
  measure: string;
  /** Null for the whole network. */
  group: string | null;
  value(): number | null;
}

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
