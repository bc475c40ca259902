/** The scenarios that come with the package: each can be named where no such file exists. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The same from the built files of a checkout and of an installed package. */
const folder = fileURLToPath(new URL('../../../../sim/scenarios/', import.meta.url));

const ENDING = '.yaml';

/** A scenario that comes with folkmoot. */
export interface Shipped {
  name: string;
  path: string;
}

/** The scenarios that come with folkmoot, by name. */
export function shippedScenarios(): Shipped[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(ENDING));
  return files.sort().map((file) => ({
    name: file.slice(0, -ENDING.length),
    path: join(folder, file),
  }));
}

/** The path of what a user names, a file or a shipped scenario; null where it is neither. */
export function findScenario(named: string): string | null {
  const found = statSync(named, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) return named;
  return shippedScenarios().find(({ name }) => name === named)?.path ?? null;
}
