/** What to do when a signal interrupts a flush to disk: nothing of it counts, it is done again. */
import { constants } from 'node:os';

/** How often a transaction is tried again that a signal interrupted before it was committed. */
export const interruptions = 100;

/** Whether a signal ended it early. */
export const isInterruption = (error: unknown): boolean =>
  (error as { code?: unknown }).code === constants.errno.EINTR;

/** A flush that a signal ended early has written nothing that counts: it is done again. */
export function untilUninterrupted<Result>(work: () => Result): Result {
  for (let left = interruptions; ; left -= 1) {
    try {
      return work();
    } catch (error) {
      if (!isInterruption(error) || left === 0) throw error;
    }
  }
}
