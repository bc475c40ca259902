/**
 * What was appended here and has not come out of the order yet: whoever made a batch need not read
 * it again. The same bytes are the same batch, for they name the process that made it and count.
 */
import type { Batch } from './order.js';

/** One is under way at a time; more are kept where they come late. */
const MOST = 4;

export class Appended {
  #all: { value: Buffer; batch: Batch }[] = [];

  /** A batch, and its value in the order. */
  add(value: Buffer, batch: Batch): void {
    this.#all = [...this.#all.slice(1 - MOST), { value, batch }];
  }

  /** The batch whose value came out of the order; undefined of one that was made elsewhere. */
  take(value: Buffer): Batch | undefined {
    const found = this.#all.find((one) => one.value.equals(value));
    if (found) this.#all = this.#all.filter((one) => one !== found);
    return found?.batch;
  }
}
