/**
 * The clock and timers of the machine on which a node runs. Code of a node takes its time only from
 * here, so that a simulation can run it in virtual time.
 */

/** A machine's clock. Calls from timers never overlap with running code. */
export interface HostClock {
  /** Wall clock in milliseconds since 1970. An operator can set it, so it can jump. */
  now(): number;
  /** Milliseconds since an arbitrary moment, with a fraction. The value never decreases. */
  monotonic(): number;
  /** Calls once after `ms` milliseconds, or early if that is weeks away. Returns a canceller. */
  after(ms: number, call: () => void): () => void;
  /** Calls every `ms` milliseconds. Returns a canceller. */
  every(ms: number, call: () => void): () => void;
}

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export const hostClock: HostClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, Math.min(LONGEST_TIMEOUT_MS, Math.max(0, ms)));
    return () => clearTimeout(timer);
  },
  every(ms, call) {
    const timer = setInterval(call, ms);
    return () => clearInterval(timer);
  },
};

/** Resolves after `ms` milliseconds, or as soon as `signal` aborts. */
export function sleep(clock: HostClock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.after(ms, wake);
    signal?.addEventListener('abort', wake);
  });
}
