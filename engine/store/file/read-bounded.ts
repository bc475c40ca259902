/** Files that other people made, read whole: never more of one than its reader allows. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const MIB = 1_048_576;
const PIPE_BYTES = 65_536;

/** Size limits of files, in bytes. */
export const fileBounds = {
  /** A scenario's script, a limits file, a key or certificate of TLS. */
  text: 4 * MIB,
  /** Results of runs, sweeps and test suites, and data files of a scenario. */
  result: 256 * MIB,
} as const;

/** A file that is larger than its reader allows. */
export class FileTooLarge extends Error {
  override name = 'FileTooLarge';
}

/**
 * Reads a file. A pipe or a device, whose size is unknown, has the same limit.
 *
 * @param most in bytes.
 * @throws {FileTooLarge} before more than that is in memory.
 */
export function readBounded(path: string, most: number): Buffer {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    if (size > most) throw tooLarge(path, `it has ${size} bytes`, most);
    const parts: Buffer[] = [];
    for (let length = 0; ; ) {
      // A byte more than the rest, so that the end shows; of a pipe the size says nothing.
      const rest = size > length ? size - length + 1 : PIPE_BYTES;
      const part = Buffer.allocUnsafe(Math.min(MIB, rest));
      const read = readSync(fd, part);
      if (read === 0) return Buffer.concat(parts, length);
      length += read;
      if (length > most) throw tooLarge(path, 'it has more bytes', most);
      parts.push(part.subarray(0, read));
    }
  } finally {
    closeSync(fd);
  }
}

const tooLarge = (path: string, what: string, most: number) =>
  new FileTooLarge(`${path} is too large: ${what}; expected at most ${most}`);
