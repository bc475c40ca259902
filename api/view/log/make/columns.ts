/** Columns that grow: rows of entries that are still being added to. */
import { newRows, type Rows } from '../../index.js';

export interface Row {
  entry: number;
  at: number;
  kind: number;
  who: number;
  what: number;
  value: number;
}

const names = ['entry', 'at', 'kind', 'who', 'what', 'value'] as const;

export class Columns {
  #rows = newRows(1_024);
  length = 0;

  push(row: Row): void {
    if (this.length === this.#rows.entry.length) this.#grow();
    for (const name of names) this.#rows[name][this.length] = row[name];
    this.length += 1;
  }

  /** The rows so far; those that come later are not in it. */
  view(): Rows {
    const { entry, at, kind, who, what, value } = this.#rows;
    const { length } = this;
    return {
      entry: entry.subarray(0, length),
      at: at.subarray(0, length),
      kind: kind.subarray(0, length),
      who: who.subarray(0, length),
      what: what.subarray(0, length),
      value: value.subarray(0, length),
    };
  }

  #grow(): void {
    const grown = newRows(2 * this.length);
    for (const name of names) grown[name].set(this.#rows[name]);
    this.#rows = grown;
  }
}
