/** The network's figures, and when they are published without anybody asking. */
import type { State } from './state.js';

const WINDOW_MS = 60_000;
const INTERVAL_MS = 5_000;

/** Finalized transactions a second over the last minute, two decimals, cut. */
export function throughput({ finalized }: State, at: number): number {
  while (finalized[0] && finalized[0].at <= at - WINDOW_MS) finalized.shift();
  const count = finalized.reduce((sum, { count }) => sum + count, 0);
  return Math.trunc((count * 100) / 60) / 100;
}

export function figures(state: State, at: number) {
  return {
    block_height: state.head.height,
    tps: throughput(state, at),
    active_validators: state.activeValidators,
    active_producers: state.activeProducers,
    pending_transactions: state.pendingTransactions,
    head_hash: state.head.hash,
  };
}

/**
 * A block was finalized: while anything flows, metrics come from this instant on. Those that came
 * with the block stand for those that were due with it.
 */
export function blockFinal(state: State, at: number, transactions: number): void {
  if (transactions > 0) {
    state.finalized.push({ at, count: transactions });
    state.stillAt = at + WINDOW_MS;
  }
  if (at < state.stillAt) setMetrics(state, Math.ceil(at / INTERVAL_MS) * INTERVAL_MS);
}

/** Metrics that were due have come: the next ones follow if anything flowed when they were due. */
export function renewMetrics(state: State, due: number): void {
  state.metricsDue = null;
  if (due + 1 >= state.stillAt) return;
  setMetrics(state, Math.floor(due / INTERVAL_MS) * INTERVAL_MS + INTERVAL_MS);
}

/** At a multiple of the interval, or before it at the instant at which nothing flows any more. */
function setMetrics(state: State, multiple: number): void {
  const due = Math.min(multiple, state.stillAt);
  if (due === state.metricsDue) return;
  state.metricsDue = due;
  state.deadlines.push({ due, of: 'metrics', id: '' });
}
