/** When a tally decides, by each policy. */
import type { BlockStatus, Genesis } from '../../../../engine/internal.js';
import type { Block } from './state.js';

type End = Exclude<BlockStatus, 'voting' | 'orphaned'>;

/** What becomes of a block after a vote, or (`isOver`) at its deadline; null while it is open. */
export function decide(genesis: Genesis, block: Block, isOver: boolean): End | null {
  const { approve, reject, electorate } = block;
  const { voters, vetoed } = block.ballots!;
  if (genesis.policy === 'majority') {
    if (!isOver && voters.length < electorate.heads) return null;
    const turnout = (approve + reject) * 10_000;
    if (turnout < genesis.participation_bps * electorate.total) return 'expired';
    return approve > reject ? 'finalized' : 'rejected';
  }
  if (approve * 3 > electorate.total * 2) return 'finalized';
  if (reject * 3 >= electorate.total) return 'rejected';
  if (genesis.policy === 'veto' && vetoed) return 'rejected';
  return isOver ? 'expired' : null;
}

/** The smallest approving weight that finalizes, as things stand. */
export function needed({ policy, participation_bps }: Genesis, block: Block): number {
  const { reject, electorate } = block;
  if (policy !== 'majority') return Math.floor((electorate.total * 2) / 3) + 1;
  const turnout = Math.ceil((participation_bps * electorate.total) / 10_000);
  return Math.max(reject + 1, turnout - reject);
}
