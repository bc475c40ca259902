/** The finished runs of a sweep in the order of its tables: cell by cell, each with its records. */
import { type Cell, cellsOf } from './design/cells.js';
import type { Extent, KeptRuns } from './extent.js';
import type { Outline } from './plan.js';
import { measured, type RunRecord } from './record.js';

/** A cell whose runs are all there. */
export interface FinishedCell {
  cell: Cell;
  /** Counts the runs of the cells before. */
  runsBefore: number;
  records: RunRecord[];
}

/** A sweep, or a shard of one, whose runs are all there; each pass over its cells reads anew. */
export interface Finished {
  plan: Outline;
  cells(): Generator<FinishedCell>;
  /** The records of some cell. */
  recordsOf(cell: number): RunRecord[];
}

export function finishedSweep(kept: KeptRuns, { plan, replicates, share }: Extent): Finished {
  const recordsOf = (cell: number) => {
    const key = plan.keys[cell - 1]!;
    const all = Array.from({ length: replicates.of(cell) }, (_, index) => index + 1);
    const ours = all.filter((replicate) => share(key, replicate));
    return ours.map((replicate) => kept.read(key, replicate));
  };
  return {
    plan,
    recordsOf,
    *cells() {
      let runsBefore = 0;
      for (const cell of cellsOf(plan.sweep, plan.scenario.seed)) {
        const records = recordsOf(cell.number);
        yield { cell, runsBefore, records };
        runsBefore += records.length;
      }
    },
  };
}

/** What could be said of them. */
export const valuesIn = (records: readonly RunRecord[], name: string): number[] =>
  records.map((record) => measured(record, name)).filter((value) => value !== null);
