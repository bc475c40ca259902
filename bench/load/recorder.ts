/**
 * Records the outcomes of requests of the measured time, by operation, cause, second and scenario.
 */
import type { Histogram } from './bundled/hdr.js';
import { Counts, FaultRecord, PACE } from './faults.js';
import type { Nodes } from './nodes.js';
import {
  glance,
  merged,
  newHistogram,
  percentile,
  percentiles,
  record,
  type Summary,
} from './percentiles.js';
import type { LoadResult, Operation, Percentiles, Second } from './result.js';
import type { Exchange } from './sender.js';
import type { CallOutcome } from './workload.js';

export type Half = LoadResult['arrivals']['halves'][number];

interface Window {
  startMs: number;
  endMs: number;
}

export type RecordedResult = Pick<
  LoadResult,
  'transactions' | 'finality' | 'operations' | 'seconds' | 'nodes' | 'outages' | 'faults'
> & {
  arrivals: Omit<LoadResult['arrivals'], 'of_target' | 'halves' | 'held' | 'limit'>;
  delivery: Omit<LoadResult['delivery'], 'subscribers'>;
  lag: Percentiles;
  tracks: RecordedTrack[];
  /** Late transactions that were open during an outage. */
  excusedLate: number;
  failedInFaults: number;
};

export interface RecordedTrack {
  intended: number;
  sent: number;
  accepted: number;
  /** Sent arrivals without an outcome yet. */
  underWay: number;
  lag: Percentiles;
  response: Percentiles;
  halves: [Half, Half];
}

class Track {
  readonly lag = newHistogram();
  /** Response times of accepted arrivals, by the half of the run in which they were scheduled. */
  readonly halves: readonly [Histogram, Histogram] = [newHistogram(), newHistogram()];
  intended = 0;
  sent = 0;
  /** Number of sent arrivals that have a response or were abandoned. */
  ended = 0;

  get accepted(): number {
    return this.halves[0].totalCount + this.halves[1].totalCount;
  }

  result(summary: Summary): RecordedTrack {
    const half = (one: Histogram): Half => ({
      accepted: one.totalCount,
      response_p50: percentile(one, 50),
    });
    const { intended, sent, ended, accepted, halves, lag } = this;
    return {
      ...{ intended, sent, accepted, underWay: sent - ended, lag: summary(lag) },
      response: summary(merged(halves)),
      halves: [half(halves[0]), half(halves[1])],
    };
  }
}

export class Recorder {
  readonly #window: Window;
  readonly #tallies = new Map<string, Tally>();
  readonly #seconds: Seconds;
  readonly #transactions: Transactions;
  readonly #nodes: Nodes;
  /** Counts from which recovery is judged. */
  readonly #pace: Record<'accepted' | 'finalized', Counts>;
  readonly #tracks: readonly Track[];
  readonly #delivery = { expected: 0, delivered: 0, holes: 0, disconnects: 0 };
  readonly #latency = newHistogram();
  /** Updates that subscribers must receive. All receive an update at about the same time. */
  #updates = 0;

  /** Record of the faults, which is known when the run starts. */
  faults: FaultRecord;

  /** @param window measured time; infinite until it is known @param scenarios their number */
  constructor(window: Window, finalityTimeoutMs: number, nodes: Nodes, scenarios: number) {
    this.faults = new FaultRecord([], 0, window);
    this.#window = window;
    this.#tracks = Array.from({ length: scenarios }, () => new Track());
    this.#nodes = nodes;
    const counts = () => new Counts(() => window.startMs);
    this.#pace = { accepted: counts(), finalized: counts() };
    this.#seconds = new Seconds(window);
    this.#transactions = new Transactions(finalityTimeoutMs, nodes);
  }

  measures(intendedMs: number): boolean {
    return intendedMs >= this.#window.startMs && intendedMs < this.#window.endMs;
  }

  intended(scenario: number, intendedMs: number): void {
    if (!this.measures(intendedMs)) return;
    this.#tracks[scenario]!.intended += 1;
    this.#seconds.count('intended', intendedMs);
  }

  lag(scenario: number, lagMs: number, atMs: number): void {
    if (!this.measures(atMs - lagMs)) return;
    record(this.#tracks[scenario]!.lag, lagMs);
    this.#seconds.lag(lagMs, atMs);
  }

  sent(exchange: Exchange): void {
    if (!this.measures(exchange.intendedMs)) return;
    this.#tally(exchange).sent();
    if (!exchange.arrival) return;
    this.#tracks[exchange.arrival.scenario]!.sent += 1;
    this.#seconds.count('sent', exchange.sentMs);
  }

  completed(exchange: Exchange, outcome: CallOutcome, atMs: number): void {
    const { intendedMs, sentMs, arrival } = exchange;
    if (!this.measures(intendedMs)) return;
    const tally = this.#tally(exchange);
    this.#nodes.count(exchange.node, tally.name, outcome.kind);
    const responseMs = atMs - intendedMs;
    if (outcome.kind === 'accepted') tally.accepted(responseMs, atMs - sentMs);
    else tally.failed(outcome);
    if (!arrival) return;
    const track = this.#tracks[arrival.scenario]!;
    track.ended += 1;
    if (outcome.kind !== 'unfinished') {
      this.faults.completed(outcome.kind === 'accepted', intendedMs, atMs);
    }
    if (outcome.kind === 'accepted') {
      record(track.halves[this.#half(intendedMs)], responseMs);
      this.#seconds.count('accepted', atMs);
      this.#progress('accepted', intendedMs, atMs, 1);
      this.#seconds.response(responseMs, atMs);
    } else if (outcome.kind !== 'unfinished') {
      this.#seconds.count('failed', atMs);
    }
  }

  /** Records transactions that were proposed for the arrival scheduled at this time. */
  proposed(count: number, intendedMs: number): void {
    if (this.measures(intendedMs)) this.#transactions.proposed(count, intendedMs);
  }

  transactionsAccepted(count: number, intendedMs: number): void {
    if (this.measures(intendedMs)) this.#transactions.accepted(count);
  }

  /** Records transactions that the event stream showed as final at `atMs`. */
  finalized(count: number, intendedMs: number, atMs: number): void {
    if (!this.measures(intendedMs)) return;
    const counted = this.#transactions.finalized(count, intendedMs, atMs);
    if (counted === 0) return;
    this.#seconds.count('finalized_transactions', atMs, counted);
    this.#progress('finalized', intendedMs, atMs, counted);
  }

  /** Records that a subscriber received an event this long after the time of its cause. */
  delivered(latencyMs: number, intendedMs: number): void {
    if (!this.measures(intendedMs)) return;
    this.#delivery.delivered += 1;
    record(this.#latency, latencyMs);
  }

  /** Adds to counts. The time is that of the cause, or of the preceding request. */
  deliveries(
    {
      expected = 0,
      holes = 0,
      disconnects = 0,
    }: { expected?: number; holes?: number; disconnects?: number },
    intendedMs: number,
  ): void {
    if (!this.measures(intendedMs)) return;
    this.#delivery.expected += expected;
    if (expected > 0) this.#updates += 1;
    this.#delivery.holes += holes;
    this.#delivery.disconnects += disconnects;
  }

  get last(): Second | null {
    return this.#seconds.last;
  }

  /** Returns the result up to `stoppedMs`, with rates over the measured time. */
  result(measuredS: number, stoppedMs: number): RecordedResult {
    return this.#recorded(measuredS, stoppedMs, percentiles, this.#seconds.result());
  }

  /** Returns a cheap result during the run, up to the last complete second. */
  soFar(measuredS: number, nowMs: number): RecordedResult {
    return this.#recorded(measuredS, nowMs, glance, this.#seconds.over);
  }

  #recorded(
    measuredS: number,
    untilMs: number,
    summary: Summary,
    seconds: Second[],
  ): RecordedResult {
    const perS = (count: number) => (measuredS > 0 ? count / measuredS : 0);
    const tracks = this.#tracks.map((track) => track.result(summary));
    const sum = (of: (track: RecordedTrack) => number) =>
      tracks.reduce((all, track) => all + of(track), 0);
    const accepted = sum((track) => track.accepted);
    const intended = sum((track) => track.intended);
    return {
      arrivals: { intended, accepted, accepted_per_s: perS(accepted) },
      ...this.#transactions.result(measuredS, untilMs, summary),
      delivery: {
        ...this.#delivery,
        deliveries_per_s: perS(this.#delivery.delivered),
        latency: summary(this.#latency, this.#updates),
      },
      operations: [...this.#tallies.values()].map((tally) => tally.result(summary)),
      seconds,
      ...this.#outages(untilMs),
      ...this.faults.result(seconds, untilMs),
      failedInFaults: this.faults.failed,
      lag: summary(merged(this.#tracks.map(({ lag }) => lag))),
      tracks,
    };
  }

  /** Work begun before the end of an outage does not count as progress after it. */
  #progress(what: 'accepted' | 'finalized', intendedMs: number, atMs: number, count: number): void {
    const { keepGoing, returnedMs } = this.#nodes;
    if (keepGoing && intendedMs >= returnedMs) this.#pace[what].add(atMs, count);
  }

  /** Returns the outages of the measured time, and the counts of each server. */
  #outages(stoppedMs: number): Pick<LoadResult, 'nodes' | 'outages'> {
    const { startMs, endMs } = this.#window;
    const { urls, keepGoing, outages } = this.#nodes;
    const untilMs = Math.min(endMs, stoppedMs);
    const pace = this.#transactions.isEmpty ? this.#pace.accepted : this.#pace.finalized;
    const rounded = (ms: number) => Math.round(ms);
    const seen = outages.map((one, index) => {
      const sinceMs = outages[index - 1]?.endMs ?? startMs;
      const limitMs = outages[index + 1]?.startMs ?? untilMs;
      const before = pace.perS(Math.max(sinceMs, one.startMs - PACE.beforeMs), one.startMs);
      const atMs = before && one.endMs && pace.regained(PACE.share * before, one.endMs, limitMs);
      const start_ms = rounded(one.startMs - startMs);
      const end_ms = one.endMs === null ? null : rounded(one.endMs - startMs);
      return {
        ...{ start_ms, end_ms },
        duration_ms: (end_ms ?? rounded(stoppedMs - startMs)) - start_ms,
        failed: [...one.failed].map(([operation, count]) => ({ operation, count })),
        rate_before: before,
        recovery_ms: atMs ? rounded(Math.max(0, atMs - one.endMs!)) : null,
      };
    });
    return {
      ...(urls.length > 1 ? { nodes: this.#nodes.result(startMs, untilMs) } : {}),
      // An outage of the warm-up is over before the measured time.
      ...(keepGoing ? { outages: seen.filter(({ end_ms }) => end_ms === null || end_ms > 0) } : {}),
    };
  }

  #half(intendedMs: number): 0 | 1 {
    return intendedMs < (this.#window.startMs + this.#window.endMs) / 2 ? 0 : 1;
  }

  #tally({ call, arrival }: Exchange): Tally {
    const name = arrival ? call.operation : `${call.operation} (beside)`;
    const known = this.#tallies.get(name);
    if (known) return known;
    const tally = new Tally(name);
    this.#tallies.set(name, tally);
    return tally;
  }
}

type Counter = 'intended' | 'sent' | 'accepted' | 'failed' | 'finalized_transactions';

class Seconds {
  readonly #window: Window;
  readonly #rows: Second[] = [];
  readonly #response = newHistogram();

  constructor(window: Window) {
    this.#window = window;
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

  get last(): Second | null {
    return this.#rows.at(-2) ?? null;
  }

  get over(): Second[] {
    return this.#rows.slice(0, -1);
  }

  result(): Second[] {
    this.#finish();
    return this.#rows;
  }

  #row(atMs: number): Second {
    const second = Math.max(0, Math.floor((atMs - this.#window.startMs) / 1000));
    while (this.#rows.length <= second) {
      this.#finish();
      this.#rows.push(emptyRow(this.#rows.length));
    }
    return this.#rows[second]!;
  }

  /** Sets the last row's percentiles, because the row is now complete. */
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

const emptyRow = (second: number): Second => ({
  ...{ second, intended: 0, sent: 0, accepted: 0, failed: 0, finalized_transactions: 0 },
  ...{ response_p50: null, response_p95: null, response_p99: null, lag_max: null },
});

/** Limit on kinds of refusals, because codes and reasons are text from the server. */
const KINDS_OF_REFUSAL = 200;

class Tally {
  readonly name: string;
  readonly #counts = { accepted: 0, lies: 0, timed_out: 0, broken: 0, unfinished: 0 };
  readonly #refused = new Map<string, Refused>();
  readonly #response = newHistogram();
  readonly #service = newHistogram();
  #sent = 0;

  constructor(name: string) {
    this.name = name;
  }

  sent(): void {
    this.#sent += 1;
  }

  accepted(responseMs: number, serviceMs: number): void {
    this.#counts.accepted += 1;
    record(this.#response, responseMs);
    record(this.#service, serviceMs);
  }

  failed(outcome: Exclude<CallOutcome, { kind: 'accepted' }>): void {
    if (outcome.kind === 'refused') this.#refuse(outcome);
    else this.#counts[outcome.kind === 'lie' ? 'lies' : outcome.kind] += 1;
  }

  result(summary: Summary): Operation {
    return {
      ...{ operation: this.name, sent: this.#sent, ...this.#counts },
      refused: [...this.#refused.values()].sort(byCount),
      response: summary(this.#response),
      service: summary(this.#service),
    };
  }

  #refuse({ status, code, reason }: CallOutcome & { kind: 'refused' }): void {
    const full = this.#refused.size >= KINDS_OF_REFUSAL;
    const named = full ? { status, code: '-', reason: '-' } : { status, code, reason };
    const key = Object.values(named).join(' ');
    const known = this.#refused.get(`${status} ${code} ${reason}`) ?? this.#refused.get(key);
    if (known) known.count += 1;
    else this.#refused.set(key, { ...named, count: 1 });
  }
}

type Refused = Operation['refused'][number];

const byCount = (a: Refused, b: Refused) => b.count - a.count || a.status - b.status;

class Transactions {
  readonly #timeoutMs: number;
  readonly #nodes: Nodes;
  /** Transactions that are proposed but not final, by scheduled time. */
  readonly #open = new Map<number, number>();
  readonly #finality: Histogram = newHistogram();
  #proposed = 0;
  #accepted = 0;
  #finalized = 0;
  /** Blocks of the finalized transactions. All transactions of a block are final at once. */
  #blocks = 0;
  #late = 0;
  /** Late transactions that were open during an outage. */
  #excused = 0;

  constructor(timeoutMs: number, nodes: Nodes) {
    this.#timeoutMs = timeoutMs;
    this.#nodes = nodes;
  }

  get isEmpty(): boolean {
    return this.#proposed === 0;
  }

  proposed(count: number, intendedMs: number): void {
    this.#proposed += count;
    this.#open.set(intendedMs, (this.#open.get(intendedMs) ?? 0) + count);
  }

  accepted(count: number): void {
    this.#accepted += count;
  }

  /** Counts finalized transactions. Returns how many of them were measured and are not late. */
  finalized(count: number, intendedMs: number, atMs: number): number {
    const open = this.#open.get(intendedMs) ?? 0;
    const known = Math.min(count, open);
    if (known === open) this.#open.delete(intendedMs);
    else this.#open.set(intendedMs, open - known);
    if (atMs - intendedMs > this.#timeoutMs) {
      this.#late += known;
      if (this.#nodes.hadOutage(intendedMs, atMs)) this.#excused += known;
      return 0;
    }
    this.#finalized += known;
    if (known > 0) this.#blocks += 1;
    for (let index = 0; index < known; index += 1) record(this.#finality, atMs - intendedMs);
    return known;
  }

  result(
    measuredS: number,
    stoppedMs: number,
    summary: Summary,
  ): Pick<LoadResult, 'transactions' | 'finality'> & { excusedLate: number } {
    const open = [...this.#open];
    const late = open.filter(([intendedMs]) => stoppedMs - intendedMs >= this.#timeoutMs);
    const sum = (groups: [number, number][]) => groups.reduce((all, [, count]) => all + count, 0);
    const excused = late.filter(([intendedMs]) =>
      this.#nodes.hadOutage(intendedMs, intendedMs + this.#timeoutMs),
    );
    return {
      transactions: {
        ...{ proposed: this.#proposed, accepted: this.#accepted, finalized: this.#finalized },
        timed_out: this.#late + sum(late),
        unfinished: sum(open) - sum(late),
        tps: measuredS > 0 ? this.#finalized / measuredS : 0,
      },
      finality: summary(this.#finality, this.#blocks),
      excusedLate: this.#excused + sum(excused),
    };
  }
}
