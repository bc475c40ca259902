/** Files with a secret in them: written for their owner alone, and read with a word of warning. */
import { closeSync, fstatSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { UsageError } from '../output/exit.js';
import { say } from '../output/output.js';

/** Nobody but the owner, whatever the umask says. */
const OWNER = 0o600;
const OTHERS = 0o077;

/** Writes a new file. @throws {UsageError} where something is, or nothing can be written. */
export function writeSecret(file: string, text: string): void {
  let fd: number;
  try {
    // A link that stands there is not followed.
    fd = openSync(file, 'wx', OWNER);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const taken = `${file} exists already, and a key is not overwritten; expected another name`;
    throw new UsageError(code === 'EEXIST' ? taken : `${file} cannot be written: ${code}`);
  }
  try {
    writeFileSync(fd, text);
  } catch (error) {
    unlinkSync(file);
    throw new UsageError(`${file} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  } finally {
    closeSync(fd);
  }
}

/** A key file is some hundred bytes; what is larger is something else. */
const LARGEST_BYTES = 65_536;

/**
 * The text of a key file. Whoever else can read it is the agent too: that is warned of.
 * @throws {UsageError} when it cannot be read.
 */
export function readSecret(file: string, option: string): string {
  try {
    const fd = openSync(file, 'r');
    try {
      const { mode, size } = fstatSync(fd);
      if (size > LARGEST_BYTES) throw new UsageError(`${option} ${file}: ${size} bytes are no key`);
      // Windows keeps other permissions, which the mode does not show.
      if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
        say(`folkmoot: warning: others can read the key in ${file}; expected: chmod 600 ${file}`);
      }
      return readFileSync(fd, 'utf8');
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`${option} ${file} cannot be read: ${code}`);
  }
}
