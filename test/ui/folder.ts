/** Creates run folders and opens them with `folkmoot explore`. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { folkmoot } from '../support/cli.js';
import { temporaryFolder } from '../support/fixture.js';
import { type Begun, begin } from '../support/running-command.js';

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

/** Serves a folder until the test ends. */
export async function explored(path: string): Promise<{ url: string; begun: Begun }> {
  const begun = begin(['explore', path, '--json', '--open', 'no']);
  const [, url] = await begun.printed(/"url":"([^"]+)"/);
  return { url: url!, begun };
}
