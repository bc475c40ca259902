/**
 * Where a file is that a scenario names: in the folder of the scenario file that the user named, or
 * below it. A script is a program, and what a file holds shows in messages: a scenario from
 * elsewhere must not choose which one is read.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, posix, relative, resolve, win32 } from 'node:path';

/**
 * The file's real path, or why there is none, after its path in the scenario.
 * @param what is expected, as in "a module".
 */
export function fileInside(
  path: string,
  folder: string,
  what: string,
): { file: string } | { why: string } {
  const whole = posix.isAbsolute(path) || win32.isAbsolute(path) || /^\w[\w+.-]*:/.test(path);
  if (whole) return { why: `is ${path}; expected a path from the scenario's folder` };
  const named = resolve(folder, path);
  if (!existsSync(named)) return { why: `is not there: ${path}` };
  const file = realpathSync(named);
  const inside = relative(realpathSync(folder), file);
  if (inside.split(/[\\/]/, 1)[0] === '..' || isAbsolute(inside)) {
    return { why: `is ${path}, which leads out of the scenario's folder; expected one inside` };
  }
  if (statSync(file).isFile()) return { file };
  return { why: `is ${path}, which is no file; expected ${what}` };
}
