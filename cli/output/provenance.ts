/** Version, commit and Node version of the build; the command line of a run, POSIX-quoted. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, delimiter, dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Provenance } from '../../report/folder.js';
import { shellLine } from '../../report/shared/format.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
    version: string;
  };
  return version;
}

/** Returns the commit of this checkout, or null outside a checkout. */
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

/** Returns the build information that results record for reproduction. */
export const build = (): Provenance => ({
  version: packageVersion(),
  commit: commitHash(),
  node: process.version,
});

/** Formats a value for `--set`, which parses JSON and treats any other text as a string. */
function valueText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value;
  }
}

/** Returns the program path as typed, so that a printed command works in this folder. */
function programWords(): string[] {
  const path = process.argv[1]!;
  if (basename(path) !== 'folkmoot') return ['node', relative('', path)];
  if (process.env.npm_command === 'exec') return ['npx', 'folkmoot'];
  const onPath = (process.env.PATH ?? '').split(delimiter).includes(dirname(path));
  return [onPath ? 'folkmoot' : `./${relative('', path)}`];
}

/**
 * Returns the command line that executes one run by itself.
 *
 * @param words file and options, without the seed and the changed values.
 */
export function simCommandLine(
  words: readonly string[],
  seed: string,
  values: readonly (readonly [path: string, value: unknown, ...rest: unknown[]])[] = [],
): string {
  const sets = values.flatMap(([path, value]) => ['--set', `${path}=${valueText(value)}`]);
  return shellLine([...programWords(), 'sim', ...words, '--seed', seed, ...sets]);
}
