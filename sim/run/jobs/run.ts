/**
 * Runs many scenarios, as many at a time as there are workers. Jobs are taken only when a worker
 * is free, so that a million of them need no more memory than a few.
 */
import { availableParallelism } from 'node:os';
import type { SimResult } from '../result.js';
import type { Job, Lasting, Outcome } from './job.js';
import { type JobLimits, JobWorker } from './worker.js';

export interface JobOptions<T extends Job, R extends Lasting = SimResult>
  extends Partial<JobLimits> {
  /** How many run at a time; default: one a core. */
  jobs?: number;
  /** Ends the runs that are under way at once; no `onDone` is called for them. */
  signal?: AbortSignal;
  /** Called as each ends, in no fixed order. What it throws ends everything. */
  onDone: (task: T, outcome: Outcome<R>) => void | Promise<void>;
}

/** For those who run them elsewhere. */
export interface SpreadOptions<T extends Job> extends JobOptions<T, Lasting> {
  /** Whether nothing more need be done: asked after each. */
  enough?: () => boolean;
  /** Called for a task that was done twice, with two results; after `onDone` for the first. */
  onDiffers?: (task: T, message: string) => void;
}

/** Whoever runs many scenarios: `runJobs` does it here. */
export type Spread = <T extends Job>(
  tasks: Iterable<T> | AsyncIterable<T>,
  options: SpreadOptions<T>,
) => Promise<void>;

export const jobDefaults = { wallMs: 3_600_000, memoryMb: 4_096 } as const;

/** Resolves when all tasks are done, or those under way when `signal` ended them. */
export async function runJobs<T extends Job>(
  tasks: Iterable<T> | AsyncIterable<T>,
  options: JobOptions<T>,
): Promise<void> {
  const { jobs = availableParallelism(), onDone } = options;
  const limits = { ...jobDefaults, ...options };
  const end = new AbortController();
  const { signal } = end;
  const stop = () => end.abort();
  options.signal?.addEventListener('abort', stop);
  if (options.signal?.aborted) stop();
  const waiting = iteratorOf(tasks);
  const work = async () => {
    const worker = new JobWorker(limits);
    try {
      while (!signal.aborted) {
        const task = await waiting.next();
        if (task.done || signal.aborted) return;
        const outcome = await worker.run(task.value, signal);
        if (!signal.aborted) await onDone(task.value, outcome);
      }
    } catch (error) {
      stop();
      throw error;
    } finally {
      await worker.close();
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: jobs }, work));
  options.signal?.removeEventListener('abort', stop);
  for (const one of ends) if (one.status === 'rejected') throw one.reason;
}

function iteratorOf<T>(tasks: Iterable<T> | AsyncIterable<T>): Iterator<T> | AsyncIterator<T> {
  return Symbol.asyncIterator in tasks ? tasks[Symbol.asyncIterator]() : tasks[Symbol.iterator]();
}
