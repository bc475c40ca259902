/**
 * Gives room back to the disk: LMDB keeps the pages that deletes free for what it writes next, so
 * its file shrinks only by being written anew. Needs the folder for itself.
 */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../crash.js';
import type { Environment } from '../environment.js';
import { checkDataFile } from '../file/header.js';

/** The folder of a copy that is being made; a new opening removes what was left of one. */
export const compactedName = 'compacted.tmp';
const dataFileName = 'data.mdb';
const lockFileName = 'lock.mdb';

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
  sync(copy);
  crashPoint('compact.copied');
  environment.beforeRelease = () => {
    // Whoever still reads keeps the old pair of files; a new lock file knows of no such reader.
    rmSync(join(folder, lockFileName), { force: true });
    renameSync(copy, join(folder, dataFileName));
    if (process.platform !== 'win32') sync(folder);
    crashPoint('compact.swapped');
    rmSync(join(copyFolder, lockFileName), { force: true });
    rmdirSync(copyFolder);
  };
}

function sync(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
