/** What happens when a block leaves voting: siblings, records, metrics, reputation. */
import { formatInstant } from '../protocol/schema/index.js';
import { countAbsences } from './attendance.js';
import type { BlockEnd } from './machines/block.js';
import type { QuorumDecision } from './quorum.js';
import { judgeBlock } from './reputation.js';
import { METRICS, type State } from './state.js';
import { blockContext, type OpenBlock } from './tables/blocks.js';
import { tpsAt } from './tables/throughput.js';

/** Ends a block whose votes, or whose deadline, have decided. */
export function closeBlock(state: State, block: OpenBlock, outcome: QuorumDecision): void {
  retire(state, block, outcome);
  if (outcome === 'finalized') {
    finalize(state, block);
    for (const sibling of state.blocks.open()) orphan(state, sibling);
  }
  sayMetrics(state);
  if (outcome === 'finalized' || outcome === 'rejected') judgeBlock(state, block, outcome);
  if (outcome === 'expired') countAbsences(state, block);
}

/** Another of its height is final, or a proposal takes its place. */
export function orphan(state: State, block: OpenBlock): void {
  retire(state, block, 'orphaned');
}

/** The block leaves voting, which its actor says, and memory. */
function retire(state: State, block: OpenBlock, status: BlockEnd): void {
  block.actor.send({ type: status, at: state.now, tally: block.ballots.tally });
  state.blocks.drop(block.hash);
  state.deadlines.remove(deadlineId(block.hash));
  state.changes.drop('open', ['block', block.hash]);
  state.changes.put('blocks', block.hash, { state: status, context: blockContext(block) });
}

export const deadlineId = (blockHash: string): string => `block_${blockHash}`;

function finalize(state: State, block: OpenBlock): void {
  const { height, producer } = blockContext(block);
  const { proposal, hash } = block;
  state.height = height;
  state.headHash = hash;
  state.failed = 0;
  state.changes.put('heights', height, { block_hash: hash });
  for (const [index, transaction] of proposal.transactions.entries()) {
    const key = [transaction.hash, transaction.signer];
    state.changes.put('transactions', key, { block_hash: hash, height, index });
  }
  for (const key of Object.keys(proposal.additions).sort()) {
    const value = proposal.additions[key];
    state.changes.put('state', key, { value, block_hash: hash });
  }
  for (const key of proposal.deletions) state.changes.drop('state', key);
  state.agents.send(state.agents.byId(producer)!, { type: 'produced' });
  state.throughput.add(state.now, proposal.transactions.length);
  scheduleMetrics(state, state.now);
}

/** `from` is the first instant that may carry a report. */
function scheduleMetrics(state: State, from: number): void {
  state.metricsAt = state.throughput.nextReport(from);
  if (state.metricsAt === 0) state.deadlines.remove(METRICS);
  else state.deadlines.set(METRICS, state.metricsAt);
}

/** The periodic report: the last one says that the rate has become zero. */
export function reportMetrics(state: State): void {
  sayMetrics(state);
  scheduleMetrics(state, state.now);
}

function sayMetrics(state: State): void {
  const data = {
    ...metricsOf(state, state.now),
    head_hash: state.headHash,
    timestamp: formatInstant(state.now),
  };
  state.outbox.emit({ type: 'network_metrics', data });
}

/** The figures of network_metrics and of the network state. */
export function metricsOf(state: State, now: number) {
  const pending = state.blocks.open().reduce((sum, b) => sum + b.proposal.transactions.length, 0);
  return {
    block_height: state.height,
    tps: tpsAt(state.throughput.recent, now),
    active_validators: state.agents.activeValidators,
    active_producers: state.agents.activeProducers,
    pending_transactions: pending,
  };
}
