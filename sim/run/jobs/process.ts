/** The process that runs jobs, seen from the one that hands them out: started, asked, ended. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Job, Outcome } from './job.js';

const program = fileURLToPath(new URL('./child.js', import.meta.url));

/** Young objects, in MiB: docs/decisions/0019-young-objects.md. */
const YOUNG_MB = 64;

/** With these words V8 begins to say why it ends a process. */
const LAST_WORDS = '<--- Last few GCs';

/** How long standard error may stay open after the end of the process. */
const PIPE_MS = 1_000;

/** How a process ended that was not asked to. */
export interface Death {
  /** A signal's name, or an exit code. */
  how: string;
  outOfMemory: boolean;
}

export class JobProcess {
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
