/** Ending long work in good order: the first SIGINT or SIGTERM asks it to stop. */

/** How often the parent is looked at. */
const LOOK_MS = 250;

/**
 * npx and npm run a command through a shell, to which they pass a signal on; that shell may die of
 * it silently. So under npm, and only there, a parent that is gone is a SIGTERM.
 */
export function onParentGone(call: () => void): void {
  if (process.env.npm_execpath === undefined || process.platform === 'win32') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    call();
  }, LOOK_MS);
  timer.unref();
}

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
  onParentGone(() => handle('SIGTERM'));
  return { signal: controller.signal, end: () => process.kill(process.pid, by) };
}
