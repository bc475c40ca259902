/** Reputation and attendance by agent ordinal, in one table of integers: changed only inside apply. */
import type { Standing } from '../schema/index.js';
import type { Changes } from './changes.js';

/** One whole: 1,000,000 stands for a score of 100. */
export const SCALE = 1_000_000;

const fields = [
  'meme',
  'consistency',
  'peer',
  'alliance',
  'overall',
  'penalty',
  'told',
  'missed',
] as const satisfies readonly (keyof Standing)[];
type Field = (typeof fields)[number];

const column = Object.fromEntries(fields.map((field, index) => [field, index])) as Record<
  Field,
  number
>;
const WIDTH = fields.length;
const HALF = SCALE / 2;
const initial: Record<Field, number> = {
  meme: HALF,
  consistency: HALF,
  peer: HALF,
  alliance: HALF,
  overall: HALF,
  penalty: 0,
  told: HALF,
  missed: 0,
};

export class Standings {
  #values = new Int32Array(64 * WIDTH);
  readonly #changed = new Set<number>();

  add(ordinal: number, standing: Standing = initial): void {
    const end = (ordinal + 1) * WIDTH;
    if (end > this.#values.length) {
      const grown = new Int32Array(Math.max(end, this.#values.length * 2));
      grown.set(this.#values);
      this.#values = grown;
    }
    for (const field of fields) this.#values[ordinal * WIDTH + column[field]] = standing[field];
  }

  get(ordinal: number, field: Field): number {
    return this.#values[ordinal * WIDTH + column[field]]!;
  }

  set(ordinal: number, field: Field, value: number): void {
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
      const row = fields.map((field) => [field, this.get(ordinal, field)]);
      changes.put('standings', ordinal, Object.fromEntries(row) as Standing);
    }
    this.#changed.clear();
  }
}
