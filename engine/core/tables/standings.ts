/** Reputation and attendance by agent ordinal, a table of integers: changed only inside apply. */
import { type StandingField, standingFields } from '../../protocol/schema/index.js';
import type { Changes } from '../changes.js';

/** One whole: 1,000,000 stands for a score of 100. */
export const SCALE = 1_000_000;

const column = Object.fromEntries(standingFields.map((field, index) => [field, index])) as Record<
  StandingField,
  number
>;
const WIDTH = standingFields.length;
const HALF = SCALE / 2;
const counts = new Set<StandingField>(['penalty', 'missed', 'judged']);
const initial = standingFields.map((field) => (counts.has(field) ? 0 : HALF));

export class Standings {
  #values = new Int32Array(64 * WIDTH);
  readonly #changed = new Set<number>();

  add(ordinal: number, row: readonly number[] = initial): void {
    const end = (ordinal + 1) * WIDTH;
    if (end > this.#values.length) {
      const grown = new Int32Array(Math.max(end, this.#values.length * 2));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values.set(row, ordinal * WIDTH);
  }

  get(ordinal: number, field: StandingField): number {
    return this.#values[ordinal * WIDTH + column[field]]!;
  }

  set(ordinal: number, field: StandingField, value: number): void {
    this.#values[ordinal * WIDTH + column[field]] = value;
    this.#changed.add(ordinal);
  }

  /** Marks a new agent's row for saving. */
  touch(ordinal: number): void {
    this.#changed.add(ordinal);
  }

  save(changes: Changes): void {
    if (this.#changed.size === 0) return;
    for (const ordinal of [...this.#changed].sort((a, b) => a - b)) {
      const start = ordinal * WIDTH;
      changes.put('standings', ordinal, [...this.#values.subarray(start, start + WIDTH)]);
    }
    this.#changed.clear();
  }
}
