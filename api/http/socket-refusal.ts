/** What the opening of a WebSocket is refused for, with the headers that belong to it. */
import { type Refusal, refuse } from '../../engine/internal.js';
import { socketLimits } from '../contract/channels.js';
import { quotaUsed } from '../limits/refusals.js';
import type { RequestHead } from '../transport/transport.js';
import type { Services } from './handler.js';
import type { EntryChecks } from './request/entry-checks.js';
import type { Problem } from './request/request-budget.js';
import type { Refused } from './response/envelope.js';

interface Opening {
  head: RequestHead;
  addressKey: string;
  problem: Problem | null;
}

export function socketRefusal(
  { head, addressKey, problem }: Opening,
  { limits, connections }: Services,
  entryChecks: EntryChecks,
): Refused | null {
  const waiting = limits.profile === 'spec' ? connections.unauthenticated(addressKey) : 0;
  const refusal =
    entryChecks.refuseSocket(head) ??
    (problem && 'quota' in problem ? quotaUsed(problem.quota) : null) ??
    tooManyWaiting(waiting);
  if (refusal?.reason !== 'SOCKET_VERSION') return refusal && { refusal };
  return { refusal, headers: { 'Sec-WebSocket-Version': '13' } };
}

/** Whoever opens connections without saying who it is has so many of them. */
function tooManyWaiting(open: number): Refusal | null {
  const most = socketLimits.unauthenticatedPerAddress;
  if (open < most) return null;
  const message = `${most} connections of an address may wait for their auth`;
  return refuse('QUOTA_USED', message, { details: { limit: 'strangers', quota: most } });
}
