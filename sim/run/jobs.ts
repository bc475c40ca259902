/**
 * Runs many scenarios in parallel, each in a child process. A job is taken only when a worker is
 * free, so memory use does not depend on the number of jobs. A worker starts its next job while the
 * outcome of the last one is saved, because a flush to disk can take as long as a short run.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { DeciderOptions } from '../agents/deciders/deciders.js';
import type { ModuleCache } from '../agents/script/prepare.js';
import type { GivenModules } from '../agents/script/scripts.js';
import { listExternals, scriptModules } from '../scenario/population.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { RuleViolation } from '../world/observer.js';
import type { SimResult } from './result.js';

interface JobOptions<T extends Job, R extends LastingResult = SimResult> {
  /** Limits of each run. Default: an hour and 4 GiB. */
  wallMs?: number | undefined;
  memoryMb?: number | undefined;
  /** Number of workers. Default: one per core. */
  jobs?: number | undefined;
  /** First worker, whose process may already run. It is closed at the end. */
  worker?: JobWorker;
  /** Aborts running jobs. `onDone` is not called for aborted jobs. */
  signal?: AbortSignal | undefined;
  /**
   * Called when a job ends, in no fixed order. The part up to the first `await` runs before the
   * worker takes its next job, and the rest during that job. An exception stops all jobs.
   */
  onDone: (task: T, outcome: Outcome<R>) => void | Promise<void>;
}

/** Options for distributed runners. */
export interface JobRunnerOptions<T extends Job> extends JobOptions<T, LastingResult> {
  /** Called after each job. Returns true if the remaining jobs are unnecessary. */
  enough?: () => boolean;
  /** Called if a task was done twice with different results, after `onDone` for the first. */
  onDiffers?: (task: T, message: string) => void;
}

/** Runs many jobs. `runJobs` is the local implementation. */
export type JobRunner = <T extends Job>(
  tasks: Iterable<T> | AsyncIterable<T>,
  options: JobRunnerOptions<T>,
) => Promise<void>;

/** Returns the limits of each run, with the defaults for absent ones. */
export const toJobLimits = ({
  wallMs = 3_600_000,
  memoryMb = 4_096,
}: { [K in keyof JobLimits]?: JobLimits[K] | undefined }): JobLimits => ({ wallMs, memoryMb });

/** Resolves when all jobs are done, or when running jobs have stopped after an abort. */
export async function runJobs<T extends Job>(
  tasks: Iterable<T> | AsyncIterable<T>,
  options: JobOptions<T>,
): Promise<void> {
  const { jobs = availableParallelism(), onDone } = options;
  const limits = toJobLimits(options);
  const end = new AbortController();
  const { signal } = end;
  const stop = () => end.abort();
  options.signal?.addEventListener('abort', stop);
  if (options.signal?.aborted) stop();
  const waiting = iteratorOf(tasks);
  const work = async (worker = new JobWorker(limits)) => {
    let report: Promise<void> = Promise.resolve();
    try {
      while (!signal.aborted) {
        const task = await waiting.next();
        if (task.done || signal.aborted) break;
        const outcome = await worker.run(task.value, signal);
        // At most one outcome of a worker waits, so memory use stays bounded if saving is slow.
        await report;
        if (!signal.aborted) report = (async () => onDone(task.value, outcome))();
        report.catch(stop);
      }
      await report;
    } catch (error) {
      stop();
      throw error;
    } finally {
      await Promise.allSettled([report, worker.close()]);
    }
  };
  const ends = await Promise.allSettled(
    Array.from({ length: jobs }, (_, at) => work(at === 0 ? options.worker : undefined)),
  );
  options.signal?.removeEventListener('abort', stop);
  for (const one of ends) if (one.status === 'rejected') throw one.reason;
}

function iteratorOf<T>(tasks: Iterable<T> | AsyncIterable<T>): Iterator<T> | AsyncIterator<T> {
  return Symbol.asyncIterator in tasks ? tasks[Symbol.asyncIterator]() : tasks[Symbol.iterator]();
}

export interface JobLimits {
  /** Time limit per run, in wall time. */
  wallMs: number;
  /** Limit on live heap memory. */
  memoryMb: number;
}

/**
 * Worker: a child process that runs one job after another. If the process dies, its job gets an
 * outcome and the next job gets a new process. Threads start faster, but a thread that exhausts its
 * memory often ends the whole program.
 */
export class JobWorker {
  readonly #limits: JobLimits;
  #process: JobProcess | null = null;

  constructor(limits: JobLimits) {
    this.#limits = limits;
  }

  /** @param signal aborts the run. The outcome is then a failure that the caller ignores. */
  async run(given: Job, signal: AbortSignal): Promise<Outcome> {
    const modules = await givenModules(given);
    // A task of a sweep or a swarm has more members, which the run does not need.
    const members = jobMembers.filter((name) => given[name] !== undefined);
    const own = Object.fromEntries(members.map((name) => [name, given[name]])) as unknown as Job;
    const job: Job = modules ? { ...own, modules } : own;
    const fresh = modules !== null && !isContainedIn(modules);
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
    const answer = await process.run(job);
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    const died = 'how' in answer;
    const outcome = died ? { failure: this.#failureOf(answer, late) } : answer.outcome;
    // The process may be damaged after a failure, or a script may have left something behind.
    const isUsed = fresh || died || !answer.reusable || 'failure' in outcome;
    if (isUsed) await this.close();
    return outcome;
  }

  async close(): Promise<void> {
    const process = this.#process;
    this.#process = null;
    await process?.end();
  }

  #failureOf({ how, outOfMemory }: Death, late: boolean): Failure {
    const { wallMs, memoryMb } = this.#limits;
    if (late) return crash(`run stopped after ${wallMs / 1000} s`);
    if (outOfMemory) return crash(`run stopped at ${memoryMb} MiB of memory`);
    return crash(`process of the run ended: ${how}`);
  }
}

const crash = (message: string): Failure => ({ kind: 'crash', message });

const program = fileURLToPath(new URL('./job-child.js', import.meta.url));

/** Size in MiB of V8's young generation: docs/decisions/0019-young-objects.md. */
const YOUNG_MB = 64;

/** V8 prints this line before it aborts a process. */
const LAST_WORDS = '<--- Last few GCs';

/** Time for which standard error may stay open after the process ends. */
const PIPE_MS = 1_000;

/** Unexpected exit of a process. */
interface Death {
  /** Signal name or exit code. */
  how: string;
  outOfMemory: boolean;
}

class JobProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Death>;
  #alive = true;
  #lastWords = '';

  /** @param memoryMb heap size above which V8 aborts the process. */
  constructor(memoryMb: number) {
    const memory = [`--max-semi-space-size=${YOUNG_MB}`, `--max-old-space-size=${memoryMb}`];
    this.#child = fork(program, {
      execArgv: [...process.execArgv, ...memory],
      serialization: 'advanced',
      // Script output must not mix with the command's output.
      stdio: ['ignore', process.stderr.fd, 'pipe', 'ipc'],
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => this.#passOn(text));
    this.#ended = new Promise((resolve) => {
      const end = (how: string) => {
        this.#alive = false;
        resolve({ how, outOfMemory: this.#lastWords.includes('heap out of memory') });
      };
      this.#child.on('error', (error) => end(error.message));
      // Read stderr to its end first, unless a grandchild keeps the pipe open.
      this.#child.on('exit', (code, signal) => {
        setTimeout(end, PIPE_MS, signal ?? `code ${code}`).unref();
      });
      this.#child.on('close', (code, signal) => end(signal ?? `code ${code}`));
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  run(job: Job): Promise<Answer | Death> {
    const answered = new Promise<Answer>((resolve) => this.#child.once('message', resolve));
    // If sending fails, the process has ended. That is reported separately.
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

/** Run for a child process. Contains only plain values. */
export interface Job {
  /** Scenario with all defaults. */
  scenario: Scenario;
  /** Replaces the scenario's seed. */
  seed: string;
  /** Base folder for scripts and data files. */
  folder?: string;
  /** False disables the auditor. */
  audit?: boolean;
  /** `none` runs without a log, unless the run is saved. Default: `full`. */
  log?: 'full' | 'none';
  /** Hash of a block. The run ends when this block closes. */
  watch?: string;
  /** Output folder and verifier. If absent, the run is not saved. */
  keep?: { out: string; verifier: 'pool' | 'inline' };
  /** Answers from external deciders. */
  deciders?: DeciderOptions;
  /** Script modules. A job of a sweep names only the SHA-256 that they must have. */
  modules?: GivenModules;
}

/** Members of a job that a child process gets as they are. */
const jobMembers = [
  ...(['scenario', 'seed', 'folder', 'audit', 'log', 'watch', 'keep', 'deciders'] as const),
] as const satisfies (keyof Job)[];

/** Answer of a child process. */
export interface Answer {
  outcome: Outcome;
  /** False if scripts changed objects that the next run would see. */
  reusable: boolean;
}

/** Failed run: invalid scenario or script, unanswered decider, or crash. */
export interface Failure {
  kind: 'scenario' | 'unanswered' | 'crash';
  message: string;
  /** Stack trace for an unexpected error. */
  stack?: string;
}

/** Part of a result that depends only on scenario and seed. */
export type LastingResult = Pick<SimResult, (typeof lastingMembers)[number]>;

export const lastingMembers = [
  ...(['verdict', 'ended_by', 'broken', 'digest', 'log_digest', 'trace_digest'] as const),
  ...(['entries', 'events'] as const),
  ...(['virtual_ms', 'refused', 'interventions', 'measures', 'groups', 'reported'] as const),
] as const satisfies (keyof SimResult)[];

export type Outcome<R extends LastingResult = SimResult> = { result: R } | { failure: Failure };

/** Formats a rule violation as one line. */
export const brokenText = ({ rule, actor, expected, found }: RuleViolation): string =>
  `rule ${rule}: ${actor}: ${found}; expected ${expected}`.split('\n', 1)[0]!;

/** Modules that this process has prepared. They are prepared anew when their files change. */
let cache: ModuleCache | null = null;

/** Prepares the script modules of a job. Returns null for a job without scripts. */
async function givenModules({ scenario, folder, modules }: Job): Promise<GivenModules | null> {
  const paths = scriptModules(scenario);
  if (paths.length === 0 || folder === undefined) return null;
  cache ??= new (await import('../agents/script/prepare.js')).ModuleCache();
  return { ...modules, prepared: await cache.prepare([...new Set(paths)], folder) };
}

/**
 * Returns true if the modules keep no state outside themselves. Other scripts may keep state
 * between runs, so each such run gets a new process.
 */
const isContainedIn = ({ prepared = {} }: GivenModules): boolean =>
  Object.values(prepared).every((module) => module?.contained === true);

export const usesDeciders = ({ scenario }: Pick<Job, 'scenario'>): boolean =>
  listExternals(scenario).length > 0;
