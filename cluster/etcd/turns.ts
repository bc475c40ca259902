/**
 * Which member of an etcd is asked, and which after it. One that gave no sign of life is left out
 * for a while, as long as there are others: they say at once what they cannot do.
 */

/** How long one is left out that fell silent. */
const SILENT_MS = 3_000;

export class Turns {
  readonly #leftOutUntil: number[];
  /** The member that is asked first: the one that answered last. */
  #first = 0;
  #watches = 0;

  constructor(members: number) {
    this.#leftOutUntil = Array<number>(members).fill(Number.NEGATIVE_INFINITY);
  }

  /** Whom to ask now, one after the other; at least one. */
  now(): number[] {
    return this.#from(this.#first);
  }

  /** Where the next watch is to be: each time at another member. */
  watch(): number {
    const at = this.#from(this.#first + this.#watches)[0]!;
    this.#watches += 1;
    return at;
  }

  answered(member: number): void {
    this.#leftOutUntil[member] = Number.NEGATIVE_INFINITY;
  }

  /** It cannot help; others may have moved on meanwhile. */
  failed(member: number, silent: boolean): void {
    if (silent) this.#leftOutUntil[member] = performance.now() + SILENT_MS;
    if (this.#first === member) this.#first = this.#from(member + 1)[0]!;
  }

  #from(first: number): number[] {
    const count = this.#leftOutUntil.length;
    const all = Array.from({ length: count }, (_, step) => (first + step) % count);
    const now = performance.now();
    const alive = all.filter((at) => this.#leftOutUntil[at]! <= now);
    return alive.length > 0 ? alive : all;
  }
}
