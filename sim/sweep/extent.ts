/** How far a sweep, or a shard of one, goes: the runs that it has, as far as that is known. */
import type { Outline } from './plan.js';
import type { RunRecord } from './record.js';
import type { Share } from './shard.js';
import type { Replicates } from './stopping.js';

export interface Extent<P extends Outline = Outline> {
  plan: P;
  replicates: Replicates;
  share: Share;
}

/** Where runs are kept: one folder, or the shards of a sweep. */
export interface KeptRuns {
  has(key: string, replicate: number): boolean;
  /** @throws {StoreError} when the run cannot be read. */
  read(key: string, replicate: number): RunRecord;
}

/** One run by its place in the tables, and by what it is kept under. */
export interface PlannedRun {
  cell: number;
  key: string;
  replicate: number;
}

/** Cell by cell; cells that are the same share their runs, which come once for each of them. */
export function* runsOf({ plan: { keys }, replicates, share }: Extent): Generator<PlannedRun> {
  for (const [index, key] of keys.entries()) {
    const cell = index + 1;
    const all = replicates.of(cell);
    for (let replicate = 1; replicate <= all; replicate += 1) {
      if (share(key, replicate)) yield { cell, key, replicate };
    }
  }
}

/** How many runs there are, and how many of these are done. */
export function countRuns(kept: KeptRuns, extent: Extent) {
  const counted = { planned: 0, completed: 0 };
  for (const { key, replicate } of runsOf(extent)) {
    counted.planned += 1;
    if (kept.has(key, replicate)) counted.completed += 1;
  }
  return counted;
}
