/** Runs the built command line in a separate process. */
import { execFile } from 'node:child_process';
import type { Ended } from './command.js';
import { full } from './counts.js';
import { main } from './paths.js';

/** Timeout far above the duration of any run, so that only a hanging command times out. */
const MOST_MS = full ? 3_600_000 : 600_000;

export interface Around {
  /** Path of a different build. */
  program?: string;
  input?: string;
  env?: Record<string, string>;
  /** Working directory (default: the current directory). */
  cwd?: string;
}

/** Runs `folkmoot` with these arguments until it ends. */
export function folkmoot(args: readonly string[], around: Around = {}): Promise<Ended> {
  const { program = main, input = '', env = {}, cwd } = around;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      {
        env: { ...process.env, ...env },
        ...(cwd === undefined ? {} : { cwd }),
        maxBuffer: 256 * 1024 * 1024,
        timeout: MOST_MS,
        killSignal: 'SIGKILL',
      },
      (_, stdout, stderr) =>
        resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
    );
    // A command that reads no input may end before the write.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
