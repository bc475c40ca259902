/**
 * A worker: one thread, by piscina, that works off one job after another. Whatever becomes of the
 * thread, each job gets an outcome, and the next job a thread that works.
 */
import { Piscina } from 'piscina';
import { poolEnd } from '../../../engine/internal.js';
import { type Failure, type Job, type Outcome, runsScripts } from './job.js';

export interface JobLimits {
  /** A run that takes longer is ended. */
  wallMs: number;
  /** A run that holds more live memory is ended. */
  memoryMb: number;
}

/**
 * Three times the 64 MiB of a half space that the command line gives its main thread: V8 counts
 * both halves and the space of large young objects.
 */
const YOUNG_MB = 192;

export class JobWorker {
  readonly #limits: JobLimits;
  #thread: Piscina<Job, Outcome> | null = null;
  #end: () => Promise<void> = async () => {};

  constructor(limits: JobLimits) {
    this.#limits = limits;
  }

  /** @param signal ends the run at once; the outcome then is a failure that means nothing. */
  async run(given: Job, signal: AbortSignal): Promise<Outcome> {
    const { scenario, seed, folder, audit, watch, keep, deciders } = given;
    const job: Job = {
      scenario,
      seed,
      ...(folder === undefined ? {} : { folder }),
      ...(audit === undefined ? {} : { audit }),
      ...(watch === undefined ? {} : { watch }),
      ...(keep === undefined ? {} : { keep }),
      ...(deciders === undefined ? {} : { deciders }),
    };
    const fresh = runsScripts(job);
    if (fresh) await this.close();
    this.#thread ??= this.#start();
    const run = new AbortController();
    const end = () => run.abort();
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      end();
    }, this.#limits.wallMs);
    signal.addEventListener('abort', end);
    try {
      return await this.#thread.run(job, { signal: run.signal });
    } catch (error) {
      await this.close();
      return { failure: this.#failureOf(error, late) };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      if (fresh) await this.close();
    }
  }

  async close(): Promise<void> {
    if (!this.#thread) return;
    this.#thread = null;
    await this.#end();
  }

  #start(): Piscina<Job, Outcome> {
    const thread = new Piscina<Job, Outcome>({
      filename: new URL('./thread.js', import.meta.url).href,
      name: 'runJob',
      minThreads: 1,
      maxThreads: 1,
      // Saves microseconds a job by sleeping where no event gets through; a job takes far longer.
      atomics: 'disabled',
      resourceLimits: {
        maxYoungGenerationSizeMb: YOUNG_MB,
        maxOldGenerationSizeMb: this.#limits.memoryMb,
      },
    });
    this.#end = poolEnd(thread);
    // A thread that dies between two runs: piscina replaces it, and nothing was lost.
    thread.on('error', () => {});
    return thread;
  }

  #failureOf(error: unknown, late: boolean): Failure {
    const { wallMs, memoryMb } = this.#limits;
    if (late) return crash(`the run took more than ${wallMs / 1000} s and was ended`);
    const { message, stack, code } = error as Error & { code?: string };
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
      return crash(`the run needed more than ${memoryMb} MiB of memory and was ended`);
    }
    const exit = /^worker exited with code: (\d+)$/.exec(message);
    if (exit) {
      return crash(`the thread of the run ended with code ${exit[1]}; a script may not exit`);
    }
    const line = `the thread of the run died: ${message.split('\n', 1)[0]}`;
    return { ...crash(line), ...(stack === undefined ? {} : { stack }) };
  }
}

const crash = (message: string): Failure => ({ kind: 'crash', message });
