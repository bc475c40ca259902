/**
 * How a pool of worker threads is ended, whatever it works on: not before its threads have loaded.
 * In Node 20 a thread that is ended while it loads a module may end the whole process by a signal
 * (v8::Module::IsGraphAsync).
 */
import type { Worker } from 'node:worker_threads';

/** How long a thread may take to load before it is ended all the same. */
const LOADING_MS = 5_000;

/** What of piscina it needs. */
interface Pool {
  readonly threads: readonly Worker[];
  on(event: 'workerDestroy', listener: () => void): unknown;
  destroy(): Promise<void>;
}

/** A thread's first message says that it has loaded; one that has ended loads no more. */
const loaded = (thread: Worker) =>
  new Promise<void>((resolve) => {
    for (const event of ['message', 'exit', 'error']) thread.once(event, () => resolve());
  });

/** To be called in the turn in which the pool is made; gives what ends it. */
export function poolEnd(pool: Pool): () => Promise<void> {
  const watched = new WeakSet<Worker>();
  const loading = new Set<Promise<unknown>>();
  const watch = () => {
    for (const thread of pool.threads) {
      if (watched.has(thread)) continue;
      watched.add(thread);
      const one: Promise<unknown> = loaded(thread).then(() => loading.delete(one));
      loading.add(one);
    }
  };
  watch();
  // The event comes before the pool has started a replacement, hence the look afterwards.
  pool.on('workerDestroy', () => queueMicrotask(watch));
  return async () => {
    watch();
    const patience = new Promise((resolve) => setTimeout(resolve, LOADING_MS).unref());
    await Promise.race([Promise.all(loading), patience]);
    await pool.destroy();
  };
}
