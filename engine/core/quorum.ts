/** Policies as data: when a tally decides a block. Integers only; weights sum to below 2^27. */
import type { Genesis } from '../protocol/schema/genesis.js';

export type QuorumRule = Pick<Genesis, 'policy' | 'participation_bps'>;

/** Weights, except `voted` and `electors`, which are heads. */
export interface Tally {
  approve: number;
  reject: number;
  total: number;
  voted: number;
  electors: number;
  vetoed: boolean;
}

export type QuorumDecision = 'finalized' | 'rejected' | 'expired';

/** What the tally decides now, or null while it decides nothing. */
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

/** The smallest approving weight that finalizes, given what has been rejected so far. */
export function neededToFinalize(rule: QuorumRule, tally: Tally): number {
  if (rule.policy !== 'majority') return Math.floor((2 * tally.total) / 3) + 1;
  const turnout = Math.ceil((rule.participation_bps * tally.total) / 10_000);
  return Math.max(tally.reject + 1, turnout - tally.reject);
}

/**
 * How many further votes it takes at the least to close the block before its deadline: up to that
 * many may be verified together without any of them coming late. `closestVeto` is the number of
 * votes that the nearest personality group still lacks for a veto.
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
