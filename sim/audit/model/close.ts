/** How a block leaves voting, and all that follows from it. */
import type { BlockStatus } from '../../../engine/index.js';
import { standingChanged } from './electorate.js';
import { blockFinal } from './metrics.js';
import { decide } from './quorum.js';
import { rate } from './reputation.js';
import type { Agent, Block, State, Told } from './state.js';
import { tellEnd, tellMetrics } from './tell.js';

/** Closes a block if its tally, or its deadline, says so. */
export function closeIfDecided(
  state: State,
  told: Told,
  block: Block,
  { at, isOver }: { at: number; isOver: boolean },
): void {
  const status = decide(state.genesis, block, isOver);
  if (status === null) return;
  end(state, told, block, status, at);
  if (status === 'finalized') finalize(state, told, block, at);
  if (status === 'expired') countMisses(state, block);
  tellMetrics(state, told, at);
  if (status !== 'expired') rate(state, told, block);
  block.ballots = null;
}

function end(state: State, told: Told, block: Block, status: BlockStatus, at: number): void {
  block.status = status;
  block.closedAt = at;
  block.producer.open = null;
  state.open.delete(block.hash);
  state.pendingTransactions -= block.transactions;
  state.counts[status as keyof State['counts']] += 1;
  tellEnd(state, told, block);
}

function finalize(state: State, told: Told, block: Block, at: number): void {
  const { transactions, additions, deletions } = block.ballots!.proposal;
  state.head = { hash: block.hash, height: block.height };
  block.producer.produced += 1;
  for (const { hash, signer } of transactions) state.transactions.add(`${hash} ${signer}`);
  for (const [key, value] of Object.entries(additions)) {
    state.values.set(key, { value, block: block.hash });
  }
  for (const key of deletions) state.values.delete(key);
  for (const hash of [...state.open.keys()].sort()) {
    const sibling = state.open.get(hash)!;
    end(state, told, sibling, 'orphaned', at);
    sibling.ballots = null;
  }
  state.counts.transactions += transactions.length;
  blockFinal(state, at, transactions.length);
}

/** Who let too many blocks in a row expire falls dormant. */
function countMisses(state: State, block: Block): void {
  const most = state.genesis.dormant_after;
  if (most === 0) return;
  for (const [number, weight] of block.electorate.weights.entries()) {
    if (weight === 0) continue;
    const agent = state.agents[number]!;
    agent.missed = block.marks[number] === 0 ? Math.min(most, agent.missed + 1) : 0;
    if (agent.missed === most && !agent.dormant) setDormant(state, agent, true);
  }
}

export function setDormant(state: State, agent: Agent, dormant: boolean): void {
  agent.dormant = dormant;
  standingChanged(state, agent);
}
