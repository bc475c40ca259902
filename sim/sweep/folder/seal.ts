/**
 * runs.sha256: what a finished shard holds, file by file, in the form that `sha256sum -c` reads. It
 * is written when all is there, and a merge takes nothing that is otherwise: neither what was cut
 * short on its way to another machine, nor what was changed by hand.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../../engine/internal.js';
import { WholeFile } from '../../../report/whole-file.js';
import { sha256Of, textOf } from './bytes.js';
import { cassettePath, type RunName, runPath } from './names.js';

export const SEAL = 'runs.sha256';

/** @param runs those of the shard; cells that are the same have theirs in common. */
export function sealFolder(folder: string, runs: Iterable<RunName>): void {
  const file = new WholeFile(folder, SEAL);
  const sealed = new Set<string>();
  const add = (name: string) => {
    if (sealed.has(name)) return;
    sealed.add(name);
    file.write(`${sha256Of(join(folder, name))}  ${name}\n`);
  };
  try {
    for (const run of runs) {
      add(runPath(run));
      if (existsSync(join(folder, cassettePath(run)))) add(cassettePath(run));
    }
    file.finish();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

/**
 * The sha256 of each file by its path; null when the shard has not been finished.
 * @throws {StoreError} `CORRUPT` when it is not as `sealFolder` writes it.
 */
export function readSeal(folder: string): Map<string, string> | null {
  const path = join(folder, SEAL);
  if (!existsSync(path)) return null;
  const sealed = new Map<string, string>();
  for (const [index, line] of textOf(path).split('\n').slice(0, -1).entries()) {
    const [, hash, name] = /^([0-9a-f]{64}) {2}((?:runs|cassettes)\/[\w-]+\.\w+)$/.exec(line) ?? [];
    if (name === undefined || sealed.has(name)) {
      const what = `${path}:${index + 1} is not as folkmoot writes it`;
      throw new StoreError('CORRUPT', `${what}; remove it, and sweep --resume writes it again`);
    }
    sealed.set(name, hash!);
  }
  return sealed;
}
