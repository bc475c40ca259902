/** The figures of a result, or of one so far, as a page is given them: few, short and bounded. */
import type { LoadFailure, LoadFigures, LoadSeconds } from '../../../api/view/load.js';
import { figureOf, scheduled } from '../figures/figures.js';
import { timesOf } from '../figures/histograms.js';
import { failures } from '../figures/tables.js';
import type { LoadResult, Operation } from '../result.js';
import { cut } from './cut.js';

const MOST_FAILURES = 50;
/** A run has six kinds of requests, and what is sent beside its schedule. */
const MOST_OPERATIONS = 20;

export function figuresShown(result: LoadResult, seconds: LoadSeconds): LoadFigures {
  const operations = result.operations.slice(0, MOST_OPERATIONS);
  const all = failuresOf(operations);
  const { arrivals, transactions, delivery, generator, measured_s } = result;
  const { intended, accepted, accepted_per_s, of_target } = arrivals;
  const { accepted: _, ...final } = transactions;
  const { latency: __, ...delivered } = delivery;
  return {
    measured_s,
    arrivals: { intended, accepted, accepted_per_s, of_target },
    errors: errorShare(scheduled(result)),
    response: {
      p50: figure('p50', result),
      p95: figure('p95', result),
      p99: figure('p99', result),
    },
    transactions: transactions.proposed > 0 ? final : null,
    delivery: delivery.subscribers > 0 ? delivered : null,
    times: timesOf({ ...result, operations }).map(({ operation, time, percentiles }) => {
      const { count, p50, p95, p99, max } = percentiles;
      return { operation: operation && cut(operation), time, ...{ count, p50, p95, p99, max } };
    }),
    operations: operations.map((one) => ({
      operation: cut(one.operation),
      sent: one.sent,
      accepted: one.accepted,
      failed: failed(one),
    })),
    failures: all.slice(0, MOST_FAILURES).map(failureShown),
    failures_omitted: Math.max(0, all.length - MOST_FAILURES),
    generator: { lag_p99: generator.lag.p99, utilization: generator.utilization },
    seconds,
  };
}

const figure = (name: string, result: LoadResult) => figureOf(name)!.of(result);

const failed = (one: Operation) => failures(one).reduce((sum, { count }) => sum + count, 0);

/** Of what is known: what is under way is neither accepted nor an error. */
function errorShare(operations: readonly Operation[]): number | null {
  const errors = operations.reduce((sum, one) => sum + failed(one), 0);
  const known = operations.reduce((sum, one) => sum + one.accepted, errors);
  return known === 0 ? null : errors / known;
}

/** Whatever was not accepted, of whichever operation, the most frequent first. */
const failuresOf = (operations: readonly Operation[]) =>
  operations
    .flatMap((one) => failures(one).map((failure) => ({ one, failure })))
    .sort((a, b) => b.failure.count - a.failure.count);

const failureShown = ({ one, failure }: ReturnType<typeof failuresOf>[number]): LoadFailure => ({
  operation: cut(one.operation),
  ...failure,
  code: failure.code && cut(failure.code),
  reason: failure.reason && cut(failure.reason),
  share: failure.count / Math.max(1, one.sent),
});
