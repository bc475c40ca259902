/** What a sweep, a shard of one, or a merge comes to. */
import type { Cell } from './design/cells.js';
import { type Plan, type SweepTask, valuesOf } from './plan.js';
import type { FailureKind, RunRecord } from './record.js';

/** A run of a sweep that failed. */
export interface FailedRun {
  cell: number;
  replicate: number;
  kind: FailureKind;
  message: string;
  seed: string;
  /** Path and value of each factor. */
  values: [path: string, value: unknown][];
}

/** What a sweep came to; of a shard, what its own runs did. */
export interface SweepResult {
  /** With `until`, as far as that is known. */
  planned: number;
  completed: number;
  /** Of the completed runs, when all are there. */
  verdicts: Record<RunRecord['verdict'], number>;
  /** The first one by cell: it ended the sweep, or is one among its results. */
  failed: FailedRun | null;
  /** Whether all planned runs are there, and tables and report with them; a shard has none. */
  finished: boolean;
}

export const noVerdicts = (): SweepResult['verdicts'] => ({
  pass: 0,
  no_progress: 0,
  safety: 0,
  error: 0,
});

export function failedRun(
  { sweep }: Pick<Plan, 'sweep'>,
  { cell, replicate, seed }: Pick<SweepTask, 'replicate' | 'seed'> & { cell: Cell },
  { kind, message }: { kind: FailureKind; message: string },
): FailedRun {
  return { cell: cell.number, replicate, kind, message, seed, values: valuesOf(sweep, cell) };
}
