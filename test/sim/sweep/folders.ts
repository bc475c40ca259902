/** Runs sweeps by the command line, and reads their folders. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { folkmoot } from '../../support/cli.js';
import type { Ended } from '../../support/command.js';
import { main } from '../../support/paths.js';
import { seed } from '../../support/seeded.js';

/** Runs a sweep with one thread, which is fastest for a few small runs, unless --jobs is given. */
export const sweepIn = (file: string, out: string, ...args: string[]): Promise<Ended> =>
  folkmoot(['sweep', file, '--out', out, '--jobs', '1', ...args]);

export function filesIn(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

export function expectSame(a: string, b: string): void {
  const [first, second] = [filesIn(a), filesIn(b)];
  expect([...second.keys()]).toEqual([...first.keys()]);
  for (const [name, text] of first) expect(second.get(name) === text, name).toBe(true);
}

/** Rows with values by column name; each row must have every column. */
export function rowsIn(file: string): Record<string, string>[] {
  return parse(readFileSync(file), { columns: true });
}

export const runsIn = (folder: string): number => {
  const runs = join(folder, 'runs');
  return readdirSync(runs).filter((name) => /^[0-9a-f]{16}-\d+\.json$/.test(name)).length;
};

/** Starts a command and kills it after `changes` changes in a folder, unless it ends earlier. */
export async function killed(watched: string, changes: number, args: readonly string[]) {
  mkdirSync(watched, { recursive: true });
  let left = changes;
  const child = spawn(process.execPath, [main, ...args], { stdio: 'ignore' });
  const watcher = watch(watched, { recursive: true }, () => {
    left -= 1;
    if (left === 0) child.kill('SIGKILL');
  });
  onTestFinished(() => {
    watcher.close();
    child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.on('close', resolve));
}

/** Draws numbers from 1 to `most`. */
export const drawn = (count: number, most: number) =>
  Array.from({ length: count }, (_, at) => 1 + ((Math.imul(seed + at, 0x9e3779b1) >>> 0) % most));
