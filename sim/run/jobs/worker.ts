/**
 * A worker: a process that works off one job after another. Whatever becomes of the process, each
 * job gets an outcome, and the next job a process that works. A thread would be quicker to start,
 * but one that takes all the memory it may often ends the whole program.
 */
import { type Failure, type Job, type Outcome, runsScripts } from './job.js';
import { type Death, JobProcess } from './process.js';

export interface JobLimits {
  /** A run that takes longer is ended. */
  wallMs: number;
  /** A run that holds more live memory is ended. */
  memoryMb: number;
}

export class JobWorker {
  readonly #limits: JobLimits;
  #process: JobProcess | null = null;

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
    if (fresh || !this.#process?.alive) await this.close();
    this.#process ??= new JobProcess(this.#limits.memoryMb);
    const process = this.#process;
    const end = () => void process.end();
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      end();
    }, this.#limits.wallMs);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    const found = await process.run(job);
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    const outcome = 'how' in found ? { failure: this.#failureOf(found, late) } : found;
    // What has crashed once may be damaged.
    const crashed = 'failure' in outcome && outcome.failure.kind === 'crash';
    if (fresh || crashed) await this.close();
    return outcome;
  }

  async close(): Promise<void> {
    const process = this.#process;
    this.#process = null;
    await process?.end();
  }

  #failureOf({ how, outOfMemory }: Death, late: boolean): Failure {
    const { wallMs, memoryMb } = this.#limits;
    if (late) return crash(`the run took more than ${wallMs / 1000} s and was ended`);
    if (outOfMemory)
      return crash(`the run needed more than ${memoryMb} MiB of memory and was ended`);
    return crash(`the process of the run ended (${how})`);
  }
}

const crash = (message: string): Failure => ({ kind: 'crash', message });
