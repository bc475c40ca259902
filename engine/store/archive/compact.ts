/**
 * Gives room back to the disk: LMDB keeps the pages that deletes free for what it writes next, so
 * its file shrinks only by being written anew. Needs the folder for itself.
 */
import { chmodSync, mkdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../crash.js';
import type { Environment } from '../environment.js';
import { dataFileName } from '../file/folder.js';
import { checkDataFile } from '../file/header.js';
import { putInPlace, syncFile } from '../file/replace.js';

/** The folder of a copy that is being made; a new opening removes what was left of one. */
export const compactedName = 'compacted.tmp';

/** Writes a copy without free pages; it takes the place of the data once `environment` closes. */
export async function prepareCompaction(environment: Environment): Promise<void> {
  const { folder } = environment;
  const copyFolder = join(folder, compactedName);
  rmSync(copyFolder, { recursive: true, force: true });
  mkdirSync(copyFolder, { mode: 0o700 });
  await environment.copyTo(copyFolder);
  const copy = join(copyFolder, dataFileName);
  checkDataFile(copy);
  chmodSync(copy, statSync(join(folder, dataFileName)).mode);
  syncFile(copy);
  crashPoint('compact.copied');
  environment.beforeRelease = () => {
    putInPlace(folder, copy);
    crashPoint('compact.swapped');
    rmSync(join(copyFolder, 'lock.mdb'), { force: true });
    rmdirSync(copyFolder);
  };
}
