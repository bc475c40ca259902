/** How many of something there were in the last minute. */
const WINDOW_MS = 60_000;

export class MessageRate {
  #times: number[] = [];

  /** Counts one more; how many there are with it. */
  count(now: number): number {
    this.#times = this.#times.filter((at) => at > now - WINDOW_MS);
    this.#times.push(now);
    return this.#times.length;
  }
}
