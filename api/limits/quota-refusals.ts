/**
 * The refusals of requests that exceed a limit, and what another node of a cluster has counted
 * against it.
 */

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

/** For a producer that has to wait until the network opens another block. */
export function refuseBlockShare({ quota }: BlockShare, waitMs: number): Refusal {
  const seconds = Math.ceil(waitMs / 1000);
  const details = { limit: 'blocks', quota, retry_after_s: seconds };
  return refuse('BLOCK_RATE_LIMIT', { quota, seconds }, { details });
}

/*
 * Quotas that agents use at other servers of one network: each counts them as the order brings what
 * was asked there, and so an agent has them once, whichever it asks.
 */

interface Counters {
  limits: Limits;
  charged: Pick<ChargedSignatures, 'has' | 'add'>;
  blocks: BlockShare | null;
}

/** Counts as the server did that let it in. What was captured and sent again costs nobody here. */
export function countRemoteUsage({ limits, charged, blocks }: Counters): (spent: Spent) => void {
  // What was done was done once, also where the same is under way here; a refusal tells nothing.
  const once = { has: () => false, add: charged.add.bind(charged) };
  return (spent) => {
    const { kind, publicKey, spender, outcome, ageMs } = spent;
    const known = outcome.result === 'refused' ? charged : once;
    const cost = computeCost(limits, known, spent, limits.account(spender));
    if (cost.again) return;
    cost.charge(ageMs);
    cost.conclude(outcome);
    if (kind === 'propose' && outcome.result === 'accepted') {
      blocks?.openedElsewhere(publicKey, ageMs);
    }
  };
}
