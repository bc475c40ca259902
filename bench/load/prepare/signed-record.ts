/** Counts what was signed and used: how many keys and messages, and how many were ready in time. */

export class SignedRecord {
  readonly #keys = new Set<number>();
  #messages = 0;
  #ahead = 0;
  /** When the measured time begins; what is signed later was not signed ahead. */
  measuredFromMs = Number.POSITIVE_INFINITY;

  /** A signed message is about to be sent. */
  used(key: number, signedAtMs: number): void {
    this.#keys.add(key);
    this.#messages += 1;
    if (signedAtMs < this.measuredFromMs) this.#ahead += 1;
  }

  /** 0 of 0 is nothing that was late. */
  get signed(): { keys: number; messages: number; preparedAhead: number } {
    const messages = this.#messages;
    const preparedAhead = messages === 0 ? 1 : this.#ahead / messages;
    return { keys: this.#keys.size, messages, preparedAhead };
  }
}
