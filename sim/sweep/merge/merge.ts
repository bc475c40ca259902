/**
 * Makes one sweep of its shards: the same bytes as if it had never been dealt out. All is checked
 * before anything is written; a merge that was ended goes on where it was.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, StoreError } from '../../../engine/internal.js';
import type { Provenance } from '../../../report/provenance.js';
import { countRuns, type Extent, runsOf } from '../extent.js';
import { finishSweep } from '../finish.js';
import { copyWhole, sha256Of } from '../folder/bytes.js';
import { SweepError, SweepFolder } from '../folder/folder.js';
import { cassettePath, type RunName, runPath } from '../folder/names.js';
import type { SweepResult } from '../result.js';
import { shareOf } from '../shard.js';
import { Replicates } from '../stopping.js';
import { demandAll } from './missing.js';
import { openShard } from './shard-folder.js';
import { Shards } from './shards.js';

/** Where shards are merged. */
export interface MergeOptions {
  out: string;
  /** By which build: that of the shards. */
  made: Provenance;
  /** Go on with what `out` holds. */
  resume?: boolean;
  onProgress?: (done: number, of: number) => void;
}

/**
 * Makes one sweep of the folders of its shards, and its tables and report.
 *
 * @param folders of all shards, in any order.
 * @throws {MissingRunsError} when a run is missing, or a shard is not finished.
 * @throws {SweepError} when the shards are not of one sweep and this build, one is there twice, or
 *   `out` cannot be used so.
 * @throws {StoreError} `CORRUPT` when a shard is not as it was when it was finished.
 */
export async function mergeSweep(
  folders: readonly string[],
  options: MergeOptions,
): Promise<SweepResult> {
  const [first, ...others] = folders.map(openShard);
  if (!first) throw new SweepError('there is nothing to merge; expected the folders of shards');
  const shards = new Shards([first, ...others], options.made);
  const { plan, head } = shards;
  const replicates = new Replicates(plan.sweep, plan.cells);
  const extent = { plan, replicates, share: shareOf(plan) };
  demandAll(shards, extent);
  for (const { key, replicate } of runsOf(extent)) shards.read(key, replicate);
  const { out, resume = false } = options;
  const folder = await SweepFolder.open(out, head, resume, extent.share);
  try {
    copyRuns(shards, extent, folder, options.onProgress);
    return await finishSweep(folder, extent);
  } finally {
    folder.close();
  }
}

function copyRuns(
  shards: Shards,
  extent: Extent,
  folder: SweepFolder,
  onProgress: MergeOptions['onProgress'],
): void {
  const { planned } = countRuns(folder, extent);
  let done = 0;
  for (const run of runsOf(extent)) {
    copyRun(shards, run, folder);
    done += 1;
    onProgress?.(done, planned);
  }
}

function copyRun(shards: Shards, run: RunName, folder: SweepFolder): void {
  const { path, seal } = shards.folderOf(shards.indexOf(run))!;
  const names = [cassettePath(run), runPath(run)].filter((name) => seal!.has(name));
  for (const name of names) {
    const file = join(folder.path, name);
    if (!existsSync(file)) {
      makeFolder(dirname(file));
      copyWhole(name, path, folder.path);
    } else if (sha256Of(file) !== seal!.get(name)) {
      const what = `${file} is not the same as ${join(path, name)}`;
      throw new StoreError('CORRUPT', `${what}; remove it, and --resume takes that of the shard`);
    }
  }
  folder.note(run);
}
