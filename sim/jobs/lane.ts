/**
 * A lane: one process that works off one job after another. Whatever becomes of the process, each
 * job gets an outcome, and the next job a process that works.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Failure, type Job, type Outcome, runsScripts } from './job.js';

export interface LaneLimits {
  /** A run that takes longer is ended. */
  wallMs: number;
  /** A run that holds more live memory is ended. */
  memoryMb: number;
  /** There is a job for every core: V8's helper threads would only be in the other jobs' way. */
  crowded?: boolean;
}

const worker = fileURLToPath(new URL('./worker.js', import.meta.url));

/** What a process ends with when V8 runs out of memory: an abort, or its exit code in a shell. */
const OUT_OF_MEMORY = new Set(['SIGABRT', '134']);
/** What scripts print in one run, at most, in characters. */
const PRINTED = 65_536;

export class Lane {
  readonly #limits: LaneLimits;
  #process: ChildProcess | null = null;
  #printed = '';

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  /** @param signal ends the run at once; the outcome then is a failure that means nothing. */
  async run({ scenario, seed, folder }: Job, signal: AbortSignal): Promise<Outcome> {
    const job: Job = { scenario, seed, ...(folder === undefined ? {} : { folder }) };
    const fresh = runsScripts(job);
    if (fresh) await this.close();
    this.#process ??= this.#start();
    this.#printed = '';
    const outcome = await this.#outcomeOf(this.#process, job, signal);
    if ('result' in outcome) process.stderr.write(this.#printed);
    if (fresh || ('failure' in outcome && outcome.failure.kind === 'crash')) await this.close();
    return outcome;
  }

  async close(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  #start(): ChildProcess {
    const { memoryMb, crowded } = this.#limits;
    const flags = [`--max-old-space-size=${memoryMb}`, '--max-semi-space-size=64'];
    const child = fork(worker, {
      execArgv: crowded ? [...flags, '--single-threaded'] : flags,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (this.#printed.length < PRINTED) this.#printed += text;
    });
    return child;
  }

  #outcomeOf(child: ChildProcess, job: Job, signal: AbortSignal): Promise<Outcome> {
    const { wallMs } = this.#limits;
    return new Promise((resolve) => {
      const end = (outcome: Outcome) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        child.off('message', told);
        child.off('exit', died);
        child.off('error', unsent);
        resolve(outcome);
      };
      const told = (outcome: Outcome) => end(outcome);
      const died = (code: number | null, by: NodeJS.Signals | null) =>
        end({ failure: this.#failureOf(by ?? String(code)) });
      const unsent = ({ message }: Error) => end({ failure: crash(`no process runs: ${message}`) });
      const abort = () => end({ failure: crash('the run was ended') });
      const late = () =>
        end({ failure: crash(`the run took more than ${wallMs / 1000} s and was ended`) });
      const timer = setTimeout(late, wallMs);
      signal.addEventListener('abort', abort);
      child.on('message', told);
      child.on('exit', died);
      child.on('error', unsent);
      child.send(job, (error) => {
        if (error) unsent(error);
      });
    });
  }

  #failureOf(end: string): Failure {
    const { memoryMb } = this.#limits;
    if (OUT_OF_MEMORY.has(end)) {
      return crash(`the run needed more than ${memoryMb} MiB of memory and was ended`);
    }
    return crash(`the process of the run ended with code ${end}; a script may not exit`);
  }
}

const crash = (message: string): Failure => ({ kind: 'crash', message });
