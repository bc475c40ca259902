/**
 * Jobs: many runs, each in a process of its own, as many at a time as there are workers. A job is
 * taken only when a worker is free, so that a million of them need no more memory than a few.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { DeciderOptions } from '../agents/deciders/deciders.js';
import { listExternals, scriptModules } from '../scenario/population.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { RuleViolation } from '../world/observer.js';
import type { SimResult } from './result.js';

interface JobOptions<T extends Job, R extends LastingResult = SimResult>
  extends Partial<JobLimits> {
  /** How many run at a time; default: one a core. */
  jobs?: number;
  /** Ends the runs that are under way at once; no `onDone` is called for them. */
  signal?: AbortSignal;
  /** Called as each ends, in no fixed order. What it throws ends everything. */
  onDone: (task: T, outcome: Outcome<R>) => void | Promise<void>;
}

/** For those who run them elsewhere. */
export interface JobRunnerOptions<T extends Job> extends JobOptions<T, LastingResult> {
  /** Whether nothing more need be done: asked after each. */
  enough?: () => boolean;
  /** Called for a task that was done twice, with two results; after `onDone` for the first. */
  onDiffers?: (task: T, message: string) => void;
}

/** Whoever runs many scenarios: `runJobs` does it here. */
export type JobRunner = <T extends Job>(
  tasks: Iterable<T> | AsyncIterable<T>,
  options: JobRunnerOptions<T>,
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

export interface JobLimits {
  /** A run that takes longer is ended. */
  wallMs: number;
  /** A run that holds more live memory is ended. */
  memoryMb: number;
}

/**
 * A worker: a process that works off one job after another. If the process dies, its job still gets
 * an outcome, and the next job a new process. A thread would be quicker to start, but one that
 * takes all the memory it may often ends the whole program.
 */
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

const program = fileURLToPath(new URL('./job-child.js', import.meta.url));

/** Young objects, in MiB: docs/decisions/0019-young-objects.md. */
const YOUNG_MB = 64;

/** With these words V8 begins to say why it ends a process. */
const LAST_WORDS = '<--- Last few GCs';

/** How long standard error may stay open after the end of the process. */
const PIPE_MS = 1_000;

/** How a process ended that was not asked to. */
interface Death {
  /** A signal's name, or an exit code. */
  how: string;
  outOfMemory: boolean;
}

/** The process of a worker, as the program that hands out the jobs sees it. */
class JobProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Death>;
  #alive = true;
  #lastWords = '';

  /** @param memoryMb V8 ends it where more than this lives. */
  constructor(memoryMb: number) {
    const memory = [`--max-semi-space-size=${YOUNG_MB}`, `--max-old-space-size=${memoryMb}`];
    this.#child = fork(program, {
      execArgv: [...process.execArgv, ...memory],
      serialization: 'advanced',
      // What a script prints must not get between the lines that the command prints.
      stdio: ['ignore', process.stderr.fd, 'pipe', 'ipc'],
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => this.#passOn(text));
    this.#ended = new Promise((resolve) => {
      const end = (how: string) => {
        this.#alive = false;
        resolve({ how, outOfMemory: this.#lastWords.includes('heap out of memory') });
      };
      this.#child.on('error', (error) => end(error.message));
      // After the last of what it said, unless a process of its own goes on holding the pipe.
      this.#child.on('exit', (code, signal) => {
        setTimeout(end, PIPE_MS, signal ?? `code ${code}`).unref();
      });
      this.#child.on('close', (code, signal) => end(signal ?? `code ${code}`));
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** One at a time. */
  run(job: Job): Promise<Outcome | Death> {
    const answered = new Promise<Outcome>((resolve) => this.#child.once('message', resolve));
    // What could not be sent is told by the end of the process.
    this.#child.send(job, () => {});
    return Promise.race([answered, this.#ended]);
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #passOn(text: string): void {
    const dying = this.#lastWords === '' ? text.indexOf(LAST_WORDS) : 0;
    process.stderr.write(dying < 0 ? text : text.slice(0, dying));
    if (dying >= 0) this.#lastWords += text.slice(dying);
  }
}

/** One run as it is handed to a process: plain values only. */
export interface Job {
  /** With all defaults. */
  scenario: Scenario;
  /** Takes the place of the scenario's own. */
  seed: string;
  /** From where the modules of scripts are found. */
  folder?: string;
  /** False leaves the auditor out. */
  audit?: boolean;
  /** Ends the run when the block with this hash has closed. */
  watch?: string;
  /** Where the run is kept, and who verifies; left out, it is not kept. */
  keep?: { out: string; verifier: 'pool' | 'inline' };
  /** Where the answers of external deciders come from. */
  deciders?: DeciderOptions;
}

/** Why a run has no result: its scenario or script is wrong, nobody decided, or it died. */
export interface Failure {
  kind: 'scenario' | 'unanswered' | 'crash';
  /** One line. */
  message: string;
  /** Of an error that is nobody's intention. */
  stack?: string;
}

/** What follows from a scenario and its seed alone: the same wherever, and whenever, it is run. */
export type LastingResult = Pick<SimResult, (typeof lastingMembers)[number]>;

export const lastingMembers = [
  ...(['verdict', 'ended_by', 'broken', 'digest', 'log_digest', 'entries', 'events'] as const),
  ...(['virtual_ms', 'refused', 'measures', 'groups', 'reported'] as const),
] as const satisfies (keyof SimResult)[];

export type Outcome<R extends LastingResult = SimResult> = { result: R } | { failure: Failure };

/** One line for a rule that the network broke. */
export const brokenText = ({ rule, actor, expected, found }: RuleViolation): string =>
  `rule ${rule}: ${actor}: ${found}; expected ${expected}`.split('\n', 1)[0]!;

/** A script's module may keep state between runs, or hold on to things: it gets a new process. */
function runsScripts({ scenario }: Job): boolean {
  return scriptModules(scenario).length > 0;
}

export const usesDeciders = ({ scenario }: Pick<Job, 'scenario'>): boolean =>
  listExternals(scenario).length > 0;
