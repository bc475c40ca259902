/**
 * What happened to what was intended in the measured time. Everything else, the warm-up above all,
 * passes by unrecorded.
 */
import type { LoadResult, Percentiles, Second } from '../result.js';
import type { Exchange } from '../send/connection.js';
import type { CallOutcome, RunContext } from '../workload.js';
import {
  glance,
  type Histogram,
  newHistogram,
  percentile,
  percentiles,
  record,
  type Summary,
} from './histogram.js';
import { Seconds } from './seconds.js';
import { Tally } from './tally.js';
import { Transactions } from './transactions.js';

export type Half = LoadResult['arrivals']['halves'][number];

export interface Window {
  startMs: number;
  endMs: number;
}

export type Recorded = Pick<LoadResult, 'transactions' | 'finality' | 'operations' | 'seconds'> & {
  arrivals: Omit<LoadResult['arrivals'], 'of_target' | 'halves' | 'held' | 'limit'>;
  delivery: Omit<LoadResult['delivery'], 'subscribers'>;
  sentPerS: number;
  lag: Percentiles;
};

export class Recorder {
  readonly #window: Window;
  readonly #tallies = new Map<string, Tally>();
  readonly #seconds: Seconds;
  readonly #transactions: Transactions;
  readonly #lag = newHistogram();
  /** Response times of accepted arrivals, by the half of the run for which they were intended. */
  readonly #halves: [Histogram, Histogram] = [newHistogram(), newHistogram()];
  readonly #delivery = { expected: 0, delivered: 0, holes: 0, disconnects: 0 };
  readonly #latency = newHistogram();
  #intended = 0;
  #sent = 0;
  /** Of the arrivals that were sent, those that are answered or given up. */
  #ended = 0;

  constructor(window: Window, finalityTimeoutMs: number) {
    this.#window = window;
    this.#seconds = new Seconds(window.startMs);
    this.#transactions = new Transactions(finalityTimeoutMs);
  }

  /** Whether it counts. */
  measures(intendedMs: number): boolean {
    return intendedMs >= this.#window.startMs && intendedMs < this.#window.endMs;
  }

  intended(intendedMs: number): void {
    if (!this.measures(intendedMs)) return;
    this.#intended += 1;
    this.#seconds.count('intended', intendedMs);
  }

  /** So late the generator did what it should have done before. */
  lag(lagMs: number, atMs: number): void {
    if (!this.measures(atMs - lagMs)) return;
    record(this.#lag, lagMs);
    this.#seconds.lag(lagMs, atMs);
  }

  sent(exchange: Exchange): void {
    if (!this.measures(exchange.intendedMs)) return;
    this.#tally(exchange).sent();
    if (!exchange.scheduled) return;
    this.#sent += 1;
    this.#seconds.count('sent', exchange.sentMs);
  }

  completed(exchange: Exchange, outcome: CallOutcome, atMs: number): void {
    const { intendedMs, sentMs, scheduled } = exchange;
    if (!this.measures(intendedMs)) return;
    const tally = this.#tally(exchange);
    const responseMs = atMs - intendedMs;
    if (outcome.kind === 'accepted') tally.accepted(responseMs, atMs - sentMs);
    else tally.failed(outcome);
    if (!scheduled) return;
    this.#ended += 1;
    if (outcome.kind === 'accepted') {
      record(this.#halves[this.#half(intendedMs)], responseMs);
      this.#seconds.count('accepted', atMs);
      this.#seconds.response(responseMs, atMs);
    } else if (outcome.kind !== 'unfinished') {
      this.#seconds.count('failed', atMs);
    }
  }

  proposed(count: number, intendedMs: number): void {
    if (this.measures(intendedMs)) this.#transactions.proposed(count, intendedMs);
  }

  transactionsAccepted(count: number, intendedMs: number): void {
    if (this.measures(intendedMs)) this.#transactions.accepted(count);
  }

  finalized(count: number, intendedMs: number, atMs: number): void {
    if (!this.measures(intendedMs)) return;
    const counted = this.#transactions.finalized(count, intendedMs, atMs);
    if (counted > 0) this.#seconds.count('finalized_transactions', atMs, counted);
  }

  delivered(latencyMs: number, intendedMs: number): void {
    if (!this.measures(intendedMs)) return;
    this.#delivery.delivered += 1;
    record(this.#latency, latencyMs);
  }

  deliveries(
    { expected = 0, holes = 0, disconnects = 0 }: Parameters<RunContext['deliveries']>[0],
    intendedMs: number,
  ): void {
    if (!this.measures(intendedMs)) return;
    this.#delivery.expected += expected;
    this.#delivery.holes += holes;
    this.#delivery.disconnects += disconnects;
  }

  /** The last second that is over. */
  get last(): Second | null {
    return this.#seconds.last;
  }

  /** What was seen until `stoppedMs`, with rates a second of the measured time. */
  result(measuredS: number, stoppedMs: number): Recorded {
    return this.#recorded(measuredS, stoppedMs, percentiles, this.#seconds.result());
  }

  /** The same as it stands while the run goes on, of the seconds that are over; costs little. */
  soFar(measuredS: number, nowMs: number): Recorded {
    return this.#recorded(measuredS, nowMs, glance, this.#seconds.over);
  }

  /** Arrivals of which it is not known yet what becomes of them. */
  get open(): { underWay: number; inLine: number } {
    return { underWay: this.#sent - this.#ended, inLine: this.#intended - this.#sent };
  }

  #recorded(measuredS: number, untilMs: number, summary: Summary, seconds: Second[]): Recorded {
    const perS = (count: number) => (measuredS > 0 ? count / measuredS : 0);
    const halves = this.#halves.map((half) => half.totalCount);
    const accepted = halves[0]! + halves[1]!;
    return {
      arrivals: { intended: this.#intended, accepted, accepted_per_s: perS(accepted) },
      ...this.#transactions.result(measuredS, untilMs, summary),
      delivery: {
        ...this.#delivery,
        deliveries_per_s: perS(this.#delivery.delivered),
        latency: summary(this.#latency),
      },
      operations: [...this.#tallies.values()].map((tally) => tally.result(summary)),
      seconds,
      sentPerS: perS(this.#sent),
      lag: summary(this.#lag),
    };
  }

  get halves(): [Half, Half] {
    const [first, second] = this.#halves;
    const half = (one: Histogram): Half => ({
      accepted: one.totalCount,
      response_p50: percentile(one, 50),
    });
    return [half(first), half(second)];
  }

  /** Of accepted arrivals. */
  responseAt(percent: number): number | null {
    const all = newHistogram();
    for (const half of this.#halves) all.add(half);
    return percentile(all, percent);
  }

  #half(intendedMs: number): 0 | 1 {
    return intendedMs < (this.#window.startMs + this.#window.endMs) / 2 ? 0 : 1;
  }

  #tally({ call, scheduled }: Exchange): Tally {
    const name = scheduled ? call.operation : `${call.operation} (beside)`;
    const known = this.#tallies.get(name);
    if (known) return known;
    const tally = new Tally(name);
    this.#tallies.set(name, tally);
    return tally;
  }
}
