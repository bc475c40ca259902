/** Runs the built command line as a user does: a process of its own, and what it leaves behind. */
import { execFile } from 'node:child_process';
import type { Ended } from './command.js';
import { full } from './counts.js';
import { main } from './paths.js';

/** Far above what any of these runs takes: a command that hangs is a failure, not a wait. */
const MOST_MS = full ? 3_600_000 : 600_000;

export interface Around {
  /** Another build of the command line. */
  program?: string;
  input?: string;
  env?: Record<string, string>;
  /** Where it is started; else here. */
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
    // Commands that read no input may end before it is written.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
