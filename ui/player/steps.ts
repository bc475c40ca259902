/** Where a step leads: to another event, entry or block, or to the end where there is none. */
import type { Tape } from './tape.js';

export type StepBy = 'event' | 'entry' | 'block';

export interface Step {
  by: StepBy;
  forward: boolean;
  /** Entries by which blocks closed, ascending. */
  blocks: readonly number[];
  /** The newest entry. */
  last: number;
  tape: Tape;
}

export function stepFrom(from: number, { by, forward, blocks, last, tape }: Step): number {
  const end = forward ? last : 0;
  if (by === 'entry') return Math.min(last, Math.max(0, from + (forward ? 1 : -1)));
  if (by === 'event') return (forward ? tape.nextEvent(from) : tape.previousEvent(from)) ?? end;
  const next = forward
    ? blocks.find((entry) => entry > from)
    : blocks.findLast((entry) => entry < from);
  return next ?? end;
}
