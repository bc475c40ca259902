/**
 * Where a script of a scenario is: in the folder of the scenario file that the user named, or below
 * it. A script is a program: a scenario from elsewhere must not choose which one runs.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, posix, relative, resolve, win32 } from 'node:path';

/** The module's real path, or why there is none, after the word "script" or its path. */
export function scriptFile(module: string, folder: string): { file: string } | { why: string } {
  const whole = posix.isAbsolute(module) || win32.isAbsolute(module) || /^\w[\w+.-]*:/.test(module);
  if (whole) return { why: `is ${module}; expected a path from the scenario's folder` };
  const named = resolve(folder, module);
  if (!existsSync(named)) return { why: `is not there: ${module}` };
  const file = realpathSync(named);
  const inside = relative(realpathSync(folder), file);
  if (inside.split(/[\\/]/, 1)[0] === '..' || isAbsolute(inside)) {
    return { why: `is ${module}, which leads out of the scenario's folder; expected one inside` };
  }
  if (statSync(file).isFile()) return { file };
  return { why: `is ${module}, which is no file; expected a module` };
}
