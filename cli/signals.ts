/** Ending long work in good order: the first SIGINT or SIGTERM asks it to stop. */

/** `signal` aborts at the first signal; `end` then dies by it. */
export function interruption(): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  let by: NodeJS.Signals = 'SIGINT';
  const handle = (signal: NodeJS.Signals) => {
    by = signal;
    for (const name of signals) process.off(name, handle);
    controller.abort();
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const name of signals) process.once(name, handle);
  return { signal: controller.signal, end: () => process.kill(process.pid, by) };
}
