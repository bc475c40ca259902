/** Refusals for requests over a limit, and usage on other cluster nodes. */

import type { Spent } from '../../engine/node/kept-network.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { limitTable } from '../contract/limit-table.js';
import type { BlockShare } from './block-share.js';
import { computeCost } from './cost.js';
import type { Limits, Quota } from './limits.js';
import type { ChargedSignatures } from './signature-quota.js';

export function refuseQuota({ name, quota, windowSeconds, resetSeconds }: Quota): Refusal {
  const unit = limitTable[name].unit === 'bytes' ? ' bytes' : '';
  const window = windows[windowSeconds] ?? `${windowSeconds} s`;
  const values = { limit: name, quota: `${quota}${unit}`, window, seconds: resetSeconds };
  const details = { limit: name, quota, retry_after_s: resetSeconds };
  return refuse('RATE_LIMIT', values, { details });
}

const windows: Record<number, string> = { 1: 'second', 60: 'minute', 86400: 'day' };

/** Refuses a proposal until the network may open a further block. */
export function refuseBlockShare({ quota }: BlockShare, waitMs: number): Refusal {
  const seconds = Math.ceil(waitMs / 1000);
  const details = { limit: 'blocks', quota, retry_after_s: seconds };
  return refuse('BLOCK_RATE_LIMIT', { quota, seconds }, { details });
}

/*
 * Usage on other cluster nodes. Each node counts the requests that the order delivers, so an agent
 * has one quota across all nodes.
 */

interface Counters {
  limits: Limits;
  charged: Pick<ChargedSignatures, 'has' | 'add'>;
  blocks: BlockShare | null;
}

/**
 * Counts usage as the admitting node did. Replaying a captured request on a different node costs
 * nothing.
 */
export function countRemoteUsage({ limits, charged, blocks }: Counters): (spent: Spent) => void {
  // An accepted request counts once, even if a copy is in flight here. A refusal may be a replay.
  const once = { has: () => false, add: charged.add.bind(charged) };
  return (spent) => {
    const { kind, publicKey, spender, outcome, ageMs } = spent;
    const known = outcome.result === 'refused' ? charged : once;
    const cost = computeCost(limits, known, spent, limits.address(spender));
    if (cost.again) return;
    cost.charge(ageMs);
    cost.conclude(outcome);
    if (kind === 'propose' && outcome.result === 'accepted') {
      blocks?.openedElsewhere(publicKey, ageMs);
    }
  };
}
