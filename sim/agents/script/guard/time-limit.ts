/**
 * Ends what runs for too long, an endless loop too: V8's own watchdog, by node:vm. It costs some 50
 * microseconds each time, so whoever has much to do does it a slice at a time.
 */
import { Script } from 'node:vm';
import { abandon } from './misuse.js';

/** What was begun has not come back in time. What it had got to is unknown. */
export class TookTooLong extends Error {
  override name = 'TookTooLong';
}

/** Where the program of the watchdog finds what it is to run. */
const slot = Symbol.for('folkmoot.script.work');
const holder = globalThis as unknown as Record<symbol, (() => void) | undefined>;
const run = new Script('globalThis[Symbol.for("folkmoot.script.work")]()');

/**
 * Runs something that does not wait, for so many milliseconds at most.
 * @throws {TookTooLong} when it was ended. @throws what it throws itself.
 */
export function within(milliseconds: number, work: () => void): void {
  const outer = holder[slot];
  holder[slot] = work;
  try {
    run.runInThisContext({ timeout: milliseconds, displayErrors: false });
  } catch (cause) {
    const { code } = (cause ?? {}) as { code?: unknown };
    if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause;
    abandon();
    throw new TookTooLong(`it took more than ${milliseconds / 1000} s and was ended`, { cause });
  } finally {
    if (outer) holder[slot] = outer;
    else delete holder[slot];
  }
}

/** A slice lasts so long: then the watchdog begins anew, so that it times single calls. */
const SLICE_MS = 1_000;

/** Takes step after step, each of which says whether there are more; none may take so long. */
export function eachWithin(milliseconds: number, next: () => boolean): void {
  let more = true;
  while (more) {
    within(milliseconds + SLICE_MS, () => {
      const until = performance.now() + SLICE_MS;
      do more = next();
      while (more && performance.now() < until);
    });
  }
}
