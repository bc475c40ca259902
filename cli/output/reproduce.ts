/** Command lines for a user to paste: quoted for a POSIX shell, values as `--set` reads them. */
import { basename, delimiter, dirname, relative } from 'node:path';
import { shellLine } from '../../report/shell.js';

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
function program(): string[] {
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
  return shellLine([...program(), 'sim', file, '--seed', seed, ...sets]);
}
