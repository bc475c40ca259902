/**
 * Watches the promises of scripts. What one does comes after the call that made it, where nothing
 * is timed or refused any more, so none may be made; and what one of them goes on to make, and what
 * they fail with, is nobody's.
 */
import { promiseHooks } from 'node:v8';

/** What goes on so often goes on for ever. */
const MOST_STEPS = 1_000_000;

/**
 * Looks at each promise of the process, until what it gives is called.
 * @param made whether a promise that is being made is a script's.
 * @param endless told when those of scripts go on for ever, and nothing else gets a turn; again
 * when they still do.
 */
export function watchPromises(made: () => boolean, endless: (again: boolean) => void): () => void {
  const strays = new WeakSet<Promise<unknown>>();
  let [steps, goesOn, own] = [0, false, false];
  return promiseHooks.createHook({
    init(promise) {
      if (own || !(goesOn || made())) return;
      strays.add(promise);
      own = true;
      promise.then(undefined, () => {});
      own = false;
    },
    before(promise) {
      goesOn = strays.has(promise);
      if (!goesOn) return;
      steps += 1;
      if (steps % MOST_STEPS === 0) endless(steps > MOST_STEPS);
    },
    after() {
      goesOn = false;
    },
  }) as () => void;
}
