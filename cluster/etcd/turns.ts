/**
 * Which member of an etcd is asked, and which after it. One that gave no sign of life is left out
 * for a while, as long as another answers: that one says at once what it cannot do.
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

  /** Whom to ask now, one after the other; who was silent, and is left out, comes last. */
  now(): { at: number; leftOut: boolean }[] {
    return this.#from(this.#first);
  }

  /** Where the next watch is to be: each time at another member. */
  watch(): number {
    const { at } = this.#from(this.#first + this.#watches)[0]!;
    this.#watches += 1;
    return at;
  }

  answered(member: number): void {
    this.#leftOutUntil[member] = Number.NEGATIVE_INFINITY;
  }

  /** It cannot help; others may have moved on meanwhile. */
  failed(member: number, silent: boolean): void {
    if (silent) this.#leftOutUntil[member] = performance.now() + SILENT_MS;
    if (this.#first === member) this.#first = this.#from(member + 1)[0]!.at;
  }

  #from(first: number): { at: number; leftOut: boolean }[] {
    const now = performance.now();
    const all = this.#leftOutUntil.map((_, step, { length }) => {
      const at = (first + step) % length;
      return { at, leftOut: this.#leftOutUntil[at]! > now };
    });
    return [...all.filter(({ leftOut }) => !leftOut), ...all.filter(({ leftOut }) => leftOut)];
  }
}
