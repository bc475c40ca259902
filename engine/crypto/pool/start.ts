/**
 * How a pool of worker threads is started, whatever it works on, and how it is ended: not before
 * its threads have loaded. In Node 20 a thread that is ended while it loads a module may end the
 * whole process by a signal (v8::Module::IsGraphAsync).
 */
import { createRequire } from 'node:module';
import type { Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';

/** How long a thread may take to load before it is ended all the same. */
const LOADING_MS = 5_000;

/** What piscina is asked for. */
export type PoolOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

/** Loaded when threads are started: a program that starts none needs none of its modules. */
const load = () => createRequire(import.meta.url)('piscina') as typeof import('piscina');

/** The pool, and what ends it. */
export function startPool<Task, Answer>(options: PoolOptions) {
  const { Piscina } = load();
  const pool = new Piscina<Task, Answer>(options);
  return { pool, end: endOf(pool) };
}

/** A thread's first message says that it has loaded; one that has ended loads no more. */
const loaded = (thread: Worker) =>
  new Promise<void>((resolve) => {
    for (const event of ['message', 'exit', 'error']) thread.once(event, () => resolve());
  });

/** To be called in the turn in which the pool is made. */
function endOf(pool: Piscina): () => Promise<void> {
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
