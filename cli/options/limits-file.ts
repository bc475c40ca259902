/** `serve --limits-file`: an operator's own figures in place of some of the profile's. */
import type { LimitName } from '../../api/index.js';
import { UsageError } from '../output/exit.js';

type Own = Partial<Record<LimitName, number>>;

const MOST = Number.MAX_SAFE_INTEGER;

/** @throws {UsageError} that names the file and what in it is not a limit. */
export async function limitsFile(path: string): Promise<Own> {
  const { limitNames } = await import('../../api/index.js');
  const { fileBounds, readBounded } = await import('../../engine/internal.js');
  const bad = (why: string) => new UsageError(`--limits-file ${path}: ${why}`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(readBounded(path, fileBounds.text).toString());
  } catch (error) {
    throw bad((error as Error).message);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw bad('expected an object such as {"vote": 20}');
  }
  for (const [name, figure] of Object.entries(parsed)) {
    if (!(limitNames as readonly string[]).includes(name)) {
      throw bad(`${name} is no limit; there are ${limitNames.join(', ')}`);
    }
    if (!Number.isInteger(figure) || figure < 1 || figure > MOST) {
      throw bad(`${name} is not a whole number from 1 to ${MOST}`);
    }
  }
  return parsed as Own;
}
