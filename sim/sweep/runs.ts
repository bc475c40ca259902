/** The finished runs of a sweep in the order of its tables: cell by cell, each with its records. */
import { type Cell, cellsOf } from './design/cells.js';
import type { SweepFolder } from './folder/folder.js';
import type { Plan } from './plan.js';
import { measured, type RunRecord } from './record.js';
import type { Replicates } from './stopping.js';

/** A cell whose runs are all there. */
export interface FinishedCell {
  cell: Cell;
  /** Counts the runs of the cells before. */
  runsBefore: number;
  records: RunRecord[];
}

/** A sweep whose runs are all there; each pass over its cells reads them anew. */
export interface Finished {
  plan: Plan;
  cells(): Generator<FinishedCell>;
  /** The records of some cell. */
  recordsOf(cell: number): RunRecord[];
}

export function finishedSweep(folder: SweepFolder, plan: Plan, replicates: Replicates): Finished {
  const recordsOf = (cell: number) => readRuns(folder, plan.keys[cell - 1]!, replicates.of(cell));
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

export const readRuns = (folder: SweepFolder, key: string, replicates: number): RunRecord[] =>
  Array.from({ length: replicates }, (_, index) => folder.read(key, index + 1));

/** What could be said of them. */
export const valuesIn = (records: readonly RunRecord[], name: string): number[] =>
  records.map((record) => measured(record, name)).filter((value) => value !== null);
