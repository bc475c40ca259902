/**
 * The surroundings of one run of the command line: arguments, streams and the exit code. The
 * program has those of its process. A caller of `run` may give others, so that several commands
 * can run in one process, also at the same time.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';

export interface Io {
  /** Arguments, beginning with the name of the command. */
  readonly argv: readonly string[];
  readonly stdin: Readable;
  readonly stdout: NodeJS.WritableStream & { isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  /** Given by the program: ends the process at once, even with open handles. */
  readonly end?: (code: number) => void;
}

/** Those of this process. @param end how it ends after an error. */
export const processIo = (end?: (code: number) => void): Io => ({
  argv: process.argv.slice(2),
  // Looking at standard input opens it.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  ...(end ? { end } : {}),
});

interface Running extends Io {
  exitCode: number;
  readonly finishers: (() => void)[];
}

/**
 * The program runs one command, which a variable holds: on Node 20 and 22 an AsyncLocalStorage that
 * is in use makes every promise slower.
 */
let program: Running | null = null;
const running = new AsyncLocalStorage<Running>();
const current = (): Running | null => running.getStore() ?? program;

/** The surroundings of the command that runs here. */
export const io = (): Io => current() ?? processIo();

/** Sets the exit code of a command that ends without an error. */
export function setExitCode(code: number): void {
  const here = current();
  if (here) here.exitCode = code;
}

/** Ends the program with the exit code that was set: a page or a session may still be open. */
export function endNow(): void {
  const here = current();
  here?.end?.(here.exitCode);
}

/** Calls back when the command is over, to give back what belongs to the process. */
export function onFinished(finish: () => void): void {
  current()?.finishers.push(finish);
}

/** Runs work in its surroundings. @returns the exit code: 0 unless it was set. */
export async function runWith(around: Io, work: () => Promise<void>): Promise<number> {
  const here: Running = Object.assign(Object.create(around) as Io, { exitCode: 0, finishers: [] });
  const finished = async () => {
    try {
      await work();
      return here.exitCode;
    } finally {
      for (const finish of here.finishers) finish();
    }
  };
  if (!around.end) return running.run(here, finished);
  program = here;
  return finished();
}
