/**
 * Quotas that agents use at other servers of one network: each counts them as the order brings what
 * was asked there, and so an agent has them once, whichever it asks.
 */
import type { Spent } from '../../engine/internal.js';
import type { BlockShare } from './block-share.js';
import type { ChargedSignatures } from './charged-signatures.js';
import type { Limits } from './limits.js';
import { costOf } from './operation-cost.js';

interface Counters {
  limits: Limits;
  charged: Pick<ChargedSignatures, 'has' | 'add'>;
  blocks: BlockShare | null;
}

/** Counts as the server did that let it in. What was captured and sent again costs nobody here. */
export function countSpent({ limits, charged, blocks }: Counters): (spent: Spent) => void {
  // What was done was done once, also where the same is under way here; a refusal tells nothing.
  const once = { has: () => false, add: charged.add.bind(charged) };
  return (spent) => {
    const { kind, publicKey, spender, outcome, ageMs } = spent;
    const known = outcome.result === 'refused' ? charged : once;
    const cost = costOf(limits, known, spent, spender);
    if (cost.again) return;
    cost.charge(ageMs);
    cost.conclude(outcome);
    if (kind === 'propose' && outcome.result === 'accepted') {
      blocks?.openedElsewhere(publicKey, ageMs);
    }
  };
}
