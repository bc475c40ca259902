/** The time that requests are signed with: this machine's, corrected by the server's. */
export class Clock {
  #offsetMs = 0;
  #lastMs = 0;

  /** A timestamp, later than the one before: a status update must not share its millisecond. */
  stamp(): string {
    this.#lastMs = Math.max(Date.now() + this.#offsetMs, this.#lastMs + 1);
    return new Date(this.#lastMs).toISOString();
  }

  /** Takes over the server's time; false when that is no time. */
  correct(serverTime: unknown): boolean {
    const at = typeof serverTime === 'string' ? Date.parse(serverTime) : Number.NaN;
    if (Number.isNaN(at)) return false;
    this.#offsetMs = at - Date.now();
    this.#lastMs = 0;
    return true;
  }
}
