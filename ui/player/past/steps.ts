/** Where a step leads: to another event, entry or block, or to the end where there is none. */
import type { Closings } from './closings.js';
import type { Past } from './past.js';

export type StepBy = 'event' | 'entry' | 'block';

export interface Step {
  by: StepBy;
  forward: boolean;
  /** The newest entry. */
  last: number;
  past: Past;
  closings: Closings;
  /** Whether the reader still wants it: looking for it may take a while. */
  wanted(): boolean;
}

/** @throws what fetching throws */
export async function stepFrom(from: number, step: Step): Promise<number> {
  const { by, forward, last, past, closings, wanted } = step;
  if (by === 'entry') return Math.min(last, Math.max(0, from + (forward ? 1 : -1)));
  const end = forward ? last : 0;
  const known = by === 'block' ? closings.beside(from, forward) : undefined;
  if (known !== undefined) return known ?? end;
  const kind = by === 'block' ? 'block_status' : undefined;
  const found = forward ? past.next(from, wanted, kind) : past.previous(from, wanted, kind);
  return (await found) ?? end;
}
