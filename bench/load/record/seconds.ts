/** The run second by second, each fact in the second in which it happened. */
import type { Second } from '../result.js';
import { newHistogram, percentile, record } from './histogram.js';

type Counter = 'intended' | 'sent' | 'accepted' | 'failed' | 'finalized_transactions';

export class Seconds {
  readonly #startMs: number;
  readonly #rows: Second[] = [];
  /** Response times of the last row. */
  readonly #response = newHistogram();

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  count(what: Counter, atMs: number, by = 1): void {
    this.#row(atMs)[what] += by;
  }

  response(durationMs: number, atMs: number): void {
    this.#row(atMs);
    record(this.#response, durationMs);
  }

  lag(lagMs: number, atMs: number): void {
    const row = this.#row(atMs);
    if (lagMs > (row.lag_max ?? -1)) row.lag_max = rounded(lagMs);
  }

  /** The last row that is over, or null. */
  get last(): Second | null {
    return this.#rows.at(-2) ?? null;
  }

  /** The rows that are over. */
  get over(): Second[] {
    return this.#rows.slice(0, -1);
  }

  result(): Second[] {
    this.#finish();
    return this.#rows;
  }

  #row(atMs: number): Second {
    const second = Math.max(0, Math.floor((atMs - this.#startMs) / 1000));
    while (this.#rows.length <= second) {
      this.#finish();
      this.#rows.push(emptyRow(this.#rows.length));
    }
    return this.#rows[second]!;
  }

  /** Percentiles of the last row: nothing that comes is in it. */
  #finish(): void {
    const row = this.#rows.at(-1);
    if (!row) return;
    row.response_p50 = percentile(this.#response, 50);
    row.response_p95 = percentile(this.#response, 95);
    row.response_p99 = percentile(this.#response, 99);
    this.#response.reset();
  }
}

const rounded = (milliseconds: number) => Math.max(0, Math.round(milliseconds * 1000) / 1000);

function emptyRow(second: number): Second {
  return {
    second,
    intended: 0,
    sent: 0,
    accepted: 0,
    failed: 0,
    finalized_transactions: 0,
    response_p50: null,
    response_p95: null,
    response_p99: null,
    lag_max: null,
  };
}
