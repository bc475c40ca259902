/**
 * Transactions one after another. Two at a time would share the lock that keeps openings away, and
 * the first to end would give it up under the second; between them an opening gets its chance.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work that waits for what was begun before it, in order, and a turn longer if it had to. */
export function inTurn<Argument>(
  work: (argument: Argument) => Promise<void>,
): (argument: Argument) => Promise<void> {
  let last: Promise<void> | null = null;
  return async (argument) => {
    const before = last;
    let finish!: () => void;
    const mine = new Promise<void>((resolve) => {
      finish = resolve;
    });
    last = mine;
    try {
      if (before !== null) {
        await before;
        await nextTurn();
      }
      await work(argument);
    } finally {
      if (last === mine) last = null;
      finish();
    }
  };
}
