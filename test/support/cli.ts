/** Runs the built command line as a user does: a process of its own, and what it leaves behind. */
import { execFile } from 'node:child_process';
import type { SimResult } from 'folkmoot/sim';
import { expect } from 'vitest';
import { full } from './counts.js';
import { main } from './paths.js';
import { linesOf, type Replayed } from './runs.js';

/** Far above what any of these runs takes: a command that hangs is a failure, not a wait. */
const MOST_MS = full ? 3_600_000 : 600_000;

export interface Ended {
  /** Null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

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

/** What `sim --json` prints. */
export type SimJson = SimResult & { version: string; commit: string | null; node: string };

/** Runs `sim --json`; expects the exit code that goes with the verdict. */
export async function simJson(...args: string[]): Promise<{ json: SimJson; ended: Ended }> {
  const ended = await folkmoot(['sim', '--json', ...args]);
  expect([0, 10], ended.stderr).toContain(ended.code);
  const json = JSON.parse(ended.stdout) as SimJson;
  expect(ended.code).toBe(json.verdict === 'pass' ? 0 : 10);
  return { json, ended };
}

export async function logText(folder: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await folkmoot(['log', folder, ...args]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

/** Runs `replay --json`; expects the exit code that goes with what it found. */
export async function replayJson(source: string, ...args: string[]): Promise<Replayed> {
  const { code, stdout, stderr } = await folkmoot(['replay', source, '--json', ...args]);
  expect(stderr).toBe('');
  const found = JSON.parse(stdout) as Replayed;
  expect(code).toBe(found.match ? 0 : 12);
  return found;
}

/** A failure that a user can understand: one line on standard error after what else it says. */
export function expectOneLine({ code, signal, stderr }: Ended, skip = 0): void {
  expect(signal).toBe(null);
  expect(code, stderr).not.toBe(0);
  const lines = linesOf(stderr).slice(skip);
  expect(lines, stderr).toEqual([expect.stringMatching(/^folkmoot: .{10,}/)]);
}
