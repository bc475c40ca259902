/** Whether and when a connection is tried again. */

const FIRST_MS = 250;
const MOST_MS = 30_000;
/** What the server asks of who sent too many messages, or watches too often. */
const TOO_FAST_MS = 60_000;

/**
 * Close codes after which trying again changes nothing: message too large, malformed, agent
 * unknown, nobody may watch, too many connections, history that cannot be read. 4401 (not
 * authenticated) is worth one more try.
 */
const finalCodes: ReadonlySet<number> = new Set([1009, 4400, 4403, 4405, 4409, 4503]);
const UNAUTHENTICATED = 4401;
const tooFast: ReadonlySet<number> = new Set([4429, 4430]);

/** Exponential backoff with full jitter: anything up to twice as long after each failure. */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  return random() * Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
}

/** Milliseconds to wait before the next try, or null when there must be none. */
export function retryMs(code: number, tries: { failures: number; refusals: number }) {
  if (finalCodes.has(code)) return null;
  if (code === UNAUTHENTICATED && tries.refusals > 1) return null;
  return tooFast.has(code) ? TOO_FAST_MS : backoffMs(tries.failures);
}

export const isRefusal = (code: number) => code === UNAUTHENTICATED;

/** Waits; an abort ends the wait early. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
}
