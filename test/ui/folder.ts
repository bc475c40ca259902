/** Creates run folders and opens them with `folkmoot explore`. */
import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../support/cli.js';
import { temporaryFolder } from '../support/fixture.js';
import { main } from '../support/paths.js';

/** Runs `folkmoot sim` with the arguments and saves the run at the path. */
export async function keptRun(path: string, ...args: string[]): Promise<string> {
  const { code, stderr } = await folkmoot(['sim', ...args, '--no-audit', '--out', path]);
  expect([code, stderr.split('\n').filter((line) => /error/i.test(line))]).toEqual([0, []]);
  return path;
}

export function copyOf(run: string): string {
  const copy = join(temporaryFolder(), 'run');
  cpSync(run, copy, { recursive: true });
  return copy;
}

/**
 * Serves a folder in a separate process, and passes a function that stops the process to `over`.
 * Returns the server's origin.
 */
export function explore(path: string, over: (stop: () => void) => void): Promise<string> {
  const args = [main, 'explore', path, '--json', '--open', 'no'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  over(() => child.kill());
  return new Promise((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const [, found] = /"url":"([^"]+)"/.exec(text) ?? [];
      if (found) resolve(new URL(found).origin);
    });
  });
}

/** Serves a folder until the test ends. */
export const explored = (path: string): Promise<string> => explore(path, onTestFinished);
