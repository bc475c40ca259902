/** What several subscribers of a front are sent goes there once, and by its number from then on. */
import type { Outgoing } from './records.js';

/** How many are remembered over there: those of one commit, and a little more. */
const REMEMBERED = 64;
/** Larger ones go to each by themselves: they would fill a front's memory. */
const MOST_BYTES = 16 * 1024;

export class SharedBytes {
  readonly #out: Outgoing;
  readonly #numbers = new Map<Uint8Array, number>();
  readonly #kept: Uint8Array[] = [];
  #next = 0;

  constructor(out: Outgoing) {
    this.#out = out;
  }

  /** Its number, beginning with 1; 0 where it has none. */
  numberOf(bytes: Uint8Array): number {
    const known = this.#numbers.get(bytes);
    if (known !== undefined) return known;
    if (bytes.length > MOST_BYTES) return 0;
    const slot = this.#next;
    this.#next = (slot + 1) % REMEMBERED;
    const before = this.#kept[slot];
    if (before) this.#numbers.delete(before);
    this.#kept[slot] = bytes;
    this.#numbers.set(bytes, slot + 1);
    this.#out.send('shared', slot, { bytes });
    return slot + 1;
  }
}
