/**
 * Arguments, streams and exit code for one command line run. The program uses its process's
 * arguments and streams. A caller of `run` can pass different ones, so that several commands can
 * run concurrently in one process.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';

export interface Io {
  /** Arguments, beginning with the name of the command. */
  readonly argv: readonly string[];
  readonly stdin: Readable;
  readonly stdout: NodeJS.WritableStream & { isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  /** Ends the process at once, even with open handles. Only the program sets this. */
  readonly end?: (code: number) => void;
}

/** Returns the streams of this process. @param end ends the process after an error. */
export const processIo = (end?: (code: number) => void): Io => ({
  argv: process.argv.slice(2),
  // Reading this property opens standard input.
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
 * The program's command. A variable holds the command, because on Node 20 and 22 an active
 * AsyncLocalStorage slows down every promise.
 */
let program: Running | null = null;
const running = new AsyncLocalStorage<Running>();
const current = (): Running | null => running.getStore() ?? program;

/** Returns the arguments and streams of the current command. */
export const io = (): Io => current() ?? processIo();

/** Sets the exit code for a command that ends without an error. */
export function setExitCode(code: number): void {
  const here = current();
  if (here) here.exitCode = code;
}

/** Ends the program with its exit code, even if a page or a session is still open. */
export function endNow(): void {
  const here = current();
  here?.end?.(here.exitCode);
}

/** Registers a callback for the end of the command, to release process-wide handlers. */
export function onFinished(finish: () => void): void {
  current()?.finishers.push(finish);
}

/** Runs a command with its streams. @returns the exit code: 0 unless the command set one. */
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
