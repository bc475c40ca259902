/**
 * Which requests may be verified together. A request that the network would refuse anyway is turned
 * away at its entry, before its signature costs anything; so whatever is verified must still be
 * acceptable when its turn comes. A round ends where one request could spoil the next.
 */
import type { Admitted, CommandKind } from '../../../engine/internal.js';
import type { Sent } from '../society/society.js';

/** Whose acceptance, or whose effect on others, depends on more than their own sender and block. */
const alone = new Set<CommandKind>([
  'propose',
  'status',
  'alliance_propose',
  'alliance_respond',
  'alliance_leave',
]);

/** A request that has reached the network, and has been admitted. */
export interface Arrival {
  readonly sent: Sent;
  readonly admitted: Admitted;
}

/** What bounds a round. */
export interface RoundBounds {
  nextDeadline: number | null;
  /** Votes that a block can take before it may be closed; 0 when it is not open. */
  votesUntilClose(block: string): number;
}

/** How many arrivals from the front of the queue make the next round: one at least. */
export function roundLength(arrivals: readonly Arrival[], bounds: RoundBounds): number {
  const votesLeft = new Map<string, number>();
  const seen = new Set<string>();
  for (const [index, { sent, admitted }] of arrivals.entries()) {
    const { at, from } = sent;
    const { command } = admitted;
    const due = bounds.nextDeadline;
    const late = due !== null && at > due;
    if (late || alone.has(command.kind)) return Math.max(1, index);
    if (command.kind !== 'vote' && command.kind !== 'discuss') continue;
    const block = command.block_hash;
    const open = bounds.votesUntilClose(block);
    // A closed block stays closed: what comes for it is turned away in any round.
    if (open === 0) continue;
    const left = votesLeft.get(block) ?? open;
    // Two votes of one sender on one block: the second depends on the first.
    const own = `${command.kind} ${from} ${block}`;
    if (left === 0 || seen.has(own)) return index;
    seen.add(own);
    if (command.kind !== 'vote') continue;
    // The vote that may close its block may orphan the others: nothing after it is certain.
    if (left === 1) return index + 1;
    votesLeft.set(block, left - 1);
  }
  return arrivals.length;
}
