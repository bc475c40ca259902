/** What a merge lacks, shard by shard. */
import { type Extent, runsOf } from '../extent.js';
import { SweepError } from '../folder/folder.js';
import { looked } from '../schedule.js';
import type { Shards } from './shards.js';

/** A shard that is not whole. */
export interface MissingShard {
  shard: number;
  of: number;
  /** Null when no folder holds it. */
  folder: string | null;
  /** Which of its runs are missing; none where it was ended before it had checked them all. */
  runs: { cell: number; replicate: number }[];
}

/** Runs are missing, so nothing was merged. */
export class MissingRunsError extends SweepError {
  /** What is to be run, or to be gone on with by `--resume`. */
  readonly missing: readonly MissingShard[];

  /** @internal */
  constructor(missing: readonly MissingShard[]) {
    const runs = missing.reduce((sum, one) => sum + one.runs.length, 0);
    const shards = missing.length === 1 ? 'a shard is' : `${missing.length} shards are`;
    super(`${shards} not whole: missing runs: ${runs}; nothing was merged`);
    this.missing = missing;
  }
}

/**
 * Finds how many runs each cell has, as the sweep in one folder would; all runs are there then.
 * @throws {MissingRunsError}
 */
export function demandAll(shards: Shards, extent: Extent): void {
  do refuseMissing(shards, extent);
  while (looked(shards, extent));
}

function refuseMissing(shards: Shards, extent: Extent): void {
  const { of } = shards;
  const missing = new Map<number, MissingShard>();
  const lacking = (shard: number): MissingShard => {
    const folder = shards.folderOf(shard)?.path ?? null;
    const one = missing.get(shard) ?? { shard, of, folder, runs: [] };
    missing.set(shard, one);
    return one;
  };
  for (const { cell, key, replicate } of runsOf(extent)) {
    if (shards.has(key, replicate)) continue;
    lacking(shards.indexOf({ key, replicate })).runs.push({ cell, replicate });
  }
  for (const shard of shards.unfinished()) lacking(shard);
  const sorted = [...missing.values()].sort((a, b) => a.shard - b.shard);
  if (sorted.length > 0) throw new MissingRunsError(sorted);
}
