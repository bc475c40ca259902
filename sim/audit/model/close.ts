/** How a block leaves voting, and all that follows from it. */
import type { BlockStatus } from '../../../engine/internal.js';
import { emitEnd, emitMetrics } from './events.js';
import { rate } from './reputation.js';
import { countMisses } from './state/dormancy.js';
import { blockFinal } from './state/metrics.js';
import { decide } from './state/quorum.js';
import type { Block, PredictedEvents, State } from './state/state.js';

/** Closes a block if its tally, or its deadline, says so. */
export function closeIfDecided(
  state: State,
  predicted: PredictedEvents,
  block: Block,
  { at, isOver }: { at: number; isOver: boolean },
): void {
  const status = decide(state.genesis, block, isOver);
  if (status === null) return;
  end(state, predicted, block, status, at);
  if (status === 'finalized') finalize(state, predicted, block, at);
  if (status === 'expired') countMisses(state, block);
  emitMetrics(state, predicted, at);
  if (status !== 'expired') rate(state, predicted, block);
  block.ballots = null;
}

function end(
  state: State,
  predicted: PredictedEvents,
  block: Block,
  status: BlockStatus,
  at: number,
): void {
  block.status = status;
  block.closedAt = at;
  block.producer.open = null;
  state.open.delete(block.hash);
  state.pendingTransactions -= block.transactions;
  state.counts[status as keyof State['counts']] += 1;
  emitEnd(state, predicted, block);
}

function finalize(state: State, predicted: PredictedEvents, block: Block, at: number): void {
  const { transactions, additions, deletions } = block.ballots!.proposal;
  state.head = { hash: block.hash, height: block.height };
  block.producer.produced += 1;
  for (const { hash, signer } of transactions) state.transactions.add(`${hash} ${signer}`);
  for (const [key, value] of Object.entries(additions)) {
    state.values.set(key, { value, block: block.hash });
  }
  for (const key of deletions) state.values.delete(key);
  for (const hash of [...state.open.keys()].sort())
    giveWay(state, predicted, state.open.get(hash)!, at);
  state.stall.periods = 0;
  state.counts.transactions += transactions.length;
  blockFinal(state, at, transactions.length);
}

/** Another of its height is final, or a better reputed producer takes its place. */
export function giveWay(state: State, predicted: PredictedEvents, block: Block, at: number): void {
  end(state, predicted, block, 'orphaned', at);
  block.ballots = null;
}
