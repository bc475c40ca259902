/** Converts a run's result to the data of the page, for a live run and for a stored run. */
import type {
  LoadFailure,
  LoadFigures,
  LoadSearch,
  LoadSeconds,
  LoadSlowest,
  LoadState,
  LoadTarget,
} from '../../api/contract/load.js';
import {
  findSlowest,
  mean,
  type Step,
  scheduledOperations,
  wholeSeconds,
  worst,
} from './figures.js';
import { failures, listTimes } from './histograms.js';
import type { Bracket, LoadResult, Operation, Probe, Second } from './result.js';

/** @param page URL of the network's explorer; null if unknown */
export function toLoadState(result: LoadResult, page: string | null = null): LoadState {
  const { asked, server, r, saturation } = result;
  const ms = result.measured_s * 1_000;
  return {
    ...{ phase: 'over', said: '', passed_ms: ms, of_ms: asked.duration_s * 1_000 },
    ...{ asked, server: toLoadTarget(server, page), r },
    verdict: toLoadVerdict(result, result.ended),
    figures: toLoadFigures(result, new Steps().of(wholeSeconds(result))),
    search: saturation && searchShown(saturation),
  };
}

export function toLoadTarget(server: LoadResult['server'], page: string | null): LoadTarget {
  const { url, version, limits_profile, durable, network_id } = server;
  const text = (value: string | null) => value && cutText(value);
  return {
    ...{ url: cutText(url), version: text(version), limits_profile: text(limits_profile) },
    ...{ durable, network_id: text(network_id), page },
  };
}

const MOST_REASONS = 20;

export const toLoadVerdict = (
  { verdict, reasons }: Pick<LoadResult, 'verdict' | 'reasons'>,
  ended: LoadResult['ended'] | null,
) => ({ verdict, reasons: reasons.slice(0, MOST_REASONS).map(cutText), ended });

/** A probe and its bracket, numbered from 1. */
export interface BracketSearch {
  bracket: number;
  probe: Probe;
}

const MOST_PROBES = 300;

export const toProbes = (
  all: readonly BracketSearch[],
): Pick<LoadSearch, 'probes' | 'probes_omitted'> => ({
  probes: all.slice(-MOST_PROBES).map(({ bracket, probe }) => {
    const { rate, accepted_per_s, p99, holds, verdict, reasons, r_before } = probe;
    const reason = cutText(reasons[0] ?? '');
    return { bracket, rate, accepted_per_s, p99, holds, verdict, reason, r_before };
  }),
  probes_omitted: Math.max(0, all.length - MOST_PROBES),
});

export const toBrackets = (brackets: readonly Pick<Bracket, 'holds' | 'fails'>[]) =>
  brackets.slice(0, MOST_PROBES).map(({ holds, fails }) => ({ holds, fails }));

function searchShown({ slo, brackets }: NonNullable<LoadResult['saturation']>): LoadSearch {
  const all = brackets.flatMap(({ probes }, index) =>
    probes.map((probe) => ({ bracket: index + 1, probe })),
  );
  return {
    slo: slo.slice(0, MOST_REASONS).map(cutText),
    repeat: brackets.length,
    rate: null,
    brackets: toBrackets(brackets),
    ...toProbes(all),
  };
}

const MOST_FAILURES = 50;
/** A run has six kinds of scheduled operations, plus the operations outside the schedule. */
const MOST_OPERATIONS = 20;

export function toLoadFigures(result: LoadResult, seconds: LoadSeconds): LoadFigures {
  const operations = result.operations.slice(0, MOST_OPERATIONS);
  const all = failuresOf(operations);
  const { arrivals, transactions, delivery, generator, measured_s } = result;
  const { intended, accepted, accepted_per_s, of_target } = arrivals;
  const { accepted: _, ...final } = transactions;
  const { latency: __, ...delivered } = delivery;
  return {
    measured_s,
    arrivals: { intended, accepted, accepted_per_s, of_target },
    errors: errorShare(scheduledOperations(result)),
    response: {
      p50: toSlowest(result, 'p50'),
      p95: toSlowest(result, 'p95'),
      p99: toSlowest(result, 'p99'),
    },
    transactions: transactions.proposed > 0 ? final : null,
    delivery: delivery.subscribers > 0 ? delivered : null,
    times: listTimes({ ...result, operations }).map(({ operation, time, percentiles }) => {
      const { count, p50, p95, p99, max } = percentiles;
      return { operation: operation && cutText(operation), time, ...{ count, p50, p95, p99, max } };
    }),
    operations: operations.map((one) => ({
      operation: cutText(one.operation),
      sent: one.sent,
      accepted: one.accepted,
      failed: failedCount(one),
    })),
    failures: all.slice(0, MOST_FAILURES).map(failureShown),
    failures_omitted: Math.max(0, all.length - MOST_FAILURES),
    generator: { lag_p99: generator.lag.p99, utilization: generator.utilization },
    seconds,
  };
}

function toSlowest(result: LoadResult, percentile: 'p50' | 'p95' | 'p99'): LoadSlowest | null {
  const slowest = findSlowest(result, percentile);
  if (!slowest) return null;
  const { operation, isAttributed: attributed, ...times } = slowest;
  return { operation: cutText(operation), ...times, attributed };
}

const failedCount = (one: Operation) => failures(one).reduce((sum, { count }) => sum + count, 0);

/**
 * Returns errors as a fraction of the requests with a known outcome. Requests that still wait for a
 * response count neither as accepted nor as errors.
 */
function errorShare(operations: readonly Operation[]): number | null {
  const errors = operations.reduce((sum, one) => sum + failedCount(one), 0);
  const known = operations.reduce((sum, one) => sum + one.accepted, errors);
  return known === 0 ? null : errors / known;
}

/** Returns all failures across all operations, most frequent first. */
const failuresOf = (operations: readonly Operation[]) =>
  operations
    .flatMap((one) => failures(one).map((failure) => ({ one, failure })))
    .sort((a, b) => b.failure.count - a.failure.count);

const failureShown = ({ one, failure }: ReturnType<typeof failuresOf>[number]): LoadFailure => ({
  operation: cutText(one.operation),
  ...failure,
  code: failure.code && cutText(failure.code),
  reason: failure.reason && cutText(failure.reason),
  share: failure.count / Math.max(1, one.sent),
});

/*
 * A run's seconds in at most a few hundred steps. Finished steps are cached. When there are too
 * many steps, the step width doubles.
 */

/** Maximum number of points. More points would be indistinguishable on a screen. */
const MOST_STEPS = 400;
/**
 * Delay before a second counts as complete, because a stalled generator still adds to past seconds.
 */
const SETTLED_S = 2;

const counts = ['intended', 'accepted', 'failed', 'finalized_transactions'] as const;
const times = ['response_p50', 'response_p95', 'response_p99', 'lag_max'] as const;

type Point = Record<(typeof counts)[number], number> &
  Record<(typeof times)[number], number | null>;

export class Steps {
  #width = 1;
  #made: Point[] = [];

  /** @param seconds seconds of one run from its start; each call extends the previous list */
  of(seconds: readonly Second[]): LoadSeconds {
    while (Math.ceil(seconds.length / this.#width) > MOST_STEPS) {
      this.#width *= 2;
      this.#made = [];
    }
    const step = (index: number): Step =>
      seconds.slice(index * this.#width, (index + 1) * this.#width);
    const settled = Math.floor(Math.max(0, seconds.length - SETTLED_S) / this.#width);
    while (this.#made.length < settled) this.#made.push(pointOf(step(this.#made.length)));
    const all = Math.ceil(seconds.length / this.#width);
    const rest = Array.from({ length: all - settled }, (_, index) =>
      pointOf(step(settled + index)),
    );
    return columnsOf(this.#width, [...this.#made, ...rest]);
  }
}

const pointOf = (step: Step): Point =>
  Object.fromEntries([
    ...counts.map((name) => [name, rounded(mean(name)(step))]),
    ...times.map((name) => [name, rounded(worst(step, name))]),
  ]) as Point;

/** Rounds to microseconds, the resolution of all times. A mean needs no more digits. */
const rounded = (value: number | null) => (value === null ? null : Math.round(value * 1e3) / 1e3);

const columnsOf = (width: number, points: readonly Point[]): LoadSeconds =>
  ({
    width,
    ...Object.fromEntries(
      [...counts, ...times].map((name) => [name, points.map((point) => point[name])]),
    ),
  }) as unknown as LoadSeconds;

const MOST_CHARACTERS = 400;

export const cutText = (text: string): string =>
  text.length <= MOST_CHARACTERS
    ? text
    : `${[...text.slice(0, 2 * MOST_CHARACTERS)].slice(0, MOST_CHARACTERS - 1).join('')}…`;
