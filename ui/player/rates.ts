/** How much happens in a second of engine time, over the last ten. */
import { isEvent } from '../../api/view/cut.js';
import { type Rows, rowKinds } from '../../api/view/model.js';
import type { Rates } from '../data/messages.js';

const SECONDS = 10;
const vote = rowKinds.indexOf('block_validation');
const metrics = rowKinds.indexOf('network_metrics');

export class RateMeter {
  readonly #events = new Float64Array(SECONDS);
  readonly #votes = new Float64Array(SECONDS);
  /** The second that each place stands for. */
  readonly #stamps = new Float64Array(SECONDS).fill(-1);
  #since: number | null = null;
  #transactions: number | null = null;

  reset(): void {
    this.#stamps.fill(-1);
    this.#since = null;
    this.#transactions = null;
  }

  /** Rows `start` to `end`, the latter exclusive. */
  add({ at, kind, value }: Rows, start: number, end: number): void {
    for (let row = start; row < end; row += 1) {
      const second = Math.floor(at[row]! / 1_000);
      const place = second % SECONDS;
      if (this.#stamps[place] !== second) {
        this.#stamps[place] = second;
        this.#events[place] = 0;
        this.#votes[place] = 0;
      }
      this.#since ??= second;
      if (isEvent(kind[row]!)) this.#events[place]! += 1;
      if (kind[row] === vote) this.#votes[place]! += 1;
      if (kind[row] === metrics) this.#transactions = value[row]! / 1_000;
    }
  }

  at(ms: number): Rates {
    const now = Math.floor(ms / 1_000);
    const transactions = this.#transactions;
    if (this.#since === null) return { events: null, votes: null, transactions };
    const covered = Math.min(SECONDS, Math.max(1, now - this.#since + 1));
    const sum = (counts: Float64Array) =>
      counts.reduce((all, count, place) => {
        const age = now - this.#stamps[place]!;
        return age >= 0 && age < SECONDS ? all + count : all;
      }, 0) / covered;
    return { events: sum(this.#events), votes: sum(this.#votes), transactions };
  }
}
