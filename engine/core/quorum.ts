/** Decides blocks by policy, in integers. The sum of all weights is below 2^27. */
import type { Genesis } from '../protocol/schema/genesis.js';

export type QuorumRule = Pick<Genesis, 'policy' | 'participation_bps'>;

/** Weights, except `voted` and `electors`, which count agents. */
export interface Tally {
  approve: number;
  reject: number;
  total: number;
  voted: number;
  electors: number;
  vetoed: boolean;
}

export type QuorumDecision = 'finalized' | 'rejected' | 'expired';

/** Returns the decision for a tally, or null while the block is undecided. */
export function decide(rule: QuorumRule, tally: Tally, atDeadline: boolean): QuorumDecision | null {
  const { approve, reject, total } = tally;
  if (rule.policy === 'majority') {
    if (!atDeadline && tally.voted < tally.electors) return null;
    if ((approve + reject) * 10_000 < rule.participation_bps * total) return 'expired';
    return approve > reject ? 'finalized' : 'rejected';
  }
  if (3 * approve > 2 * total) return 'finalized';
  if (3 * reject >= total) return 'rejected';
  if (rule.policy === 'veto' && tally.vetoed) return 'rejected';
  return atDeadline ? 'expired' : null;
}

/**
 * Returns the smallest approving weight that finalizes a block, given the rejecting weight so far.
 */
export function neededToFinalize(rule: QuorumRule, tally: Tally): number {
  if (rule.policy !== 'majority') return Math.floor((2 * tally.total) / 3) + 1;
  const turnout = Math.ceil((rule.participation_bps * tally.total) / 10_000);
  return Math.max(tally.reject + 1, turnout - tally.reject);
}

/**
 * Returns the minimum number of further votes that close a block before its deadline. That many
 * votes can be verified in one batch without any of them arriving after the block closes.
 * `closestVeto` is the smallest number of votes that a personality group needs for a veto.
 */
export function votesUntilClose(
  rule: QuorumRule,
  tally: Tally,
  largestWeight: number,
  closestVeto: number,
): number {
  if (rule.policy === 'majority') return Math.max(1, tally.electors - tally.voted);
  const toFinalize = (neededToFinalize(rule, tally) - tally.approve) / largestWeight;
  const toReject = (Math.ceil(tally.total / 3) - tally.reject) / largestWeight;
  const toVeto = rule.policy === 'veto' ? closestVeto : Number.POSITIVE_INFINITY;
  return Math.max(1, Math.ceil(Math.min(toFinalize, toReject, toVeto)));
}
