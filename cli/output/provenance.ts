/**
 * Which folkmoot this is, by version, commit and Node, and the command line that makes a run again,
 * quoted for a POSIX shell, with values as `--set` reads them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, delimiter, dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Provenance } from '../../report/folder.js';
import { shellLine } from '../../report/shell.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
    version: string;
  };
  return version;
}

/** The commit of the checkout that runs, or null outside of one. */
export function commitHash(): string | null {
  if (!existsSync(`${root}.git`)) return null;
  try {
    const args = ['-C', root, 'rev-parse', 'HEAD'];
    return execFileSync('git', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}

/** What results name, for whoever makes them again. */
export const build = (): Provenance => ({
  version: packageVersion(),
  commit: commitHash(),
  node: process.version,
});

/** `--set` reads JSON, and everything else as text. */
function valueText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value;
  }
}

/** How the user started this program, so that a printed command works in the same folder. */
function programWords(): string[] {
  const path = process.argv[1]!;
  if (basename(path) !== 'folkmoot') return ['node', relative('', path)];
  if (process.env.npm_command === 'exec') return ['npx', 'folkmoot'];
  const onPath = (process.env.PATH ?? '').split(delimiter).includes(dirname(path));
  return [onPath ? 'folkmoot' : `./${relative('', path)}`];
}

/** How to run one run of a sweep by itself. */
export function simCommandLine(
  file: string,
  seed: string,
  values: readonly (readonly [path: string, value: unknown])[] = [],
): string {
  const sets = values.flatMap(([path, value]) => ['--set', `${path}=${valueText(value)}`]);
  return shellLine([...programWords(), 'sim', file, '--seed', seed, ...sets]);
}
