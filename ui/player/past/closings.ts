/** Entries by which blocks closed: those that the overview has, and those that came since. */
import { type Overview, rowKinds, type Span } from '../../../api/view/model.js';

const CLOSING = rowKinds.indexOf('block_status');

export class Closings {
  /** Ascending. */
  #entries: number[] = [];
  /** From this entry on there are no others. */
  #from = Number.POSITIVE_INFINITY;

  /** Another network has others. */
  forget(): void {
    this.#entries = [];
    this.#from = Number.POSITIVE_INFINITY;
  }

  /** It is asked for only now and then. */
  know({ closings, closings_omitted }: Overview): void {
    const told = closings.map(({ entry }) => entry);
    const last = told.at(-1) ?? -1;
    this.#from = closings_omitted > 0 ? told[0]! : 0;
    this.#entries = [...told, ...this.#entries.filter((entry) => entry > last)];
  }

  note({ from, rows }: Span): void {
    for (const [row, kind] of rows.kind.entries()) {
      const entry = from + rows.entry[row]!;
      if (kind === CLOSING && entry > (this.#entries.at(-1) ?? -1)) this.#entries.push(entry);
    }
  }

  /** The next one, or the one before; null where there is none, undefined where it is unknown. */
  beside(entry: number, forward: boolean): number | null | undefined {
    if (forward && entry < this.#from) return undefined;
    if (forward) return this.#entries.find((one) => one > entry) ?? null;
    const found = this.#entries.findLast((one) => one < entry);
    if (found !== undefined && found >= this.#from) return found;
    return this.#from === 0 ? null : undefined;
  }
}
