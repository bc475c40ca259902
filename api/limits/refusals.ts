/** The refusals of what is beyond a limit. */
import { type Refusal, refuse } from '../../engine/internal.js';
import { limitTable } from '../contract/limit-table.js';
import type { BlockShare } from './block-share.js';
import type { Quota } from './limits.js';

export function quotaUsed({ name, quota, windowSeconds, resetSeconds }: Quota): Refusal {
  const unit = limitTable[name].unit === 'bytes' ? ' bytes' : '';
  const allowed = `${quota}${unit} ${per(windowSeconds)} are allowed`;
  const message = `${allowed}; try again in ${resetSeconds} s`;
  const details = { limit: name, quota, retry_after_s: resetSeconds };
  return refuse('QUOTA_USED', message, { details });
}

const windows: Record<number, string> = { 1: 'a second', 60: 'a minute', 86400: 'a day' };
const per = (seconds: number) => windows[seconds] ?? `in ${seconds} s`;

/** For a producer that has to wait until the network opens another block. */
export function blocksUsed({ quota }: BlockShare, waitMs: number): Refusal {
  const seconds = Math.ceil(waitMs / 1000);
  const message =
    `the network opens at most ${quota} blocks a minute, shared among all producers; ` +
    `try again in ${seconds} s`;
  const details = { limit: 'blocks', quota, retry_after_s: seconds };
  return refuse('BLOCKS_USED', message, { details });
}
