/** One sweep: runs what is missing, keeps each run as it ends, and makes the tables at the end. */

import type { Provenance } from '../../report/provenance.js';
import { runJobs } from '../run/jobs/index.js';
import { columnOf } from './design.js';
import { SweepFolder } from './folder.js';
import { type Plan, type SweepTask, tasksOf, valuesOf } from './plan.js';
import { type FailureKind, failureOf, type RunRecord, recordOf } from './record.js';
import { writeTables } from './tables.js';

/** Where a sweep is kept, and how it is run. */
export interface SweepOptions {
  out: string;
  made: Provenance;
  /** Go on with what `out` holds. */
  resume?: boolean;
  jobs?: number;
  /** What a failed run ends: the sweep, with those under way (default), or only itself. */
  onError?: 'stop' | 'continue';
  /** A run that takes longer has failed. */
  wallMs?: number;
  /** Ends the sweep; runs under way are lost. */
  signal?: AbortSignal;
  onProgress?: (done: number, of: number) => void;
}

/** A run of a sweep that failed. */
export interface FailedRun {
  run: number;
  kind: FailureKind;
  message: string;
  seed: string;
  /** Path and value of each factor. */
  values: [path: string, value: unknown][];
}

/** What a sweep came to. */
export interface SweepResult {
  planned: number;
  completed: number;
  /** Of the completed runs, when there are tables. */
  verdicts: Record<RunRecord['verdict'], number>;
  /** The first one by number: it ended the sweep, or is one among its results. */
  failed: FailedRun | null;
  /** Whether all planned runs are there, and tables and report with them. */
  finished: boolean;
}

/**
 * Runs a sweep on worker threads, and keeps each run, so that it can go on after any end.
 *
 * @throws {SweepError} when `out` cannot be used so.
 */
export async function sweep(plan: Plan, options: SweepOptions): Promise<SweepResult> {
  const { version, commit, node } = options.made;
  const { cells, runs, modules, scenario, design } = plan;
  const head = { version, commit, node, cells, runs, modules, scenario, design };
  const folder = await SweepFolder.open(options.out, head, options.resume ?? false);
  try {
    const failed = await runMissing(folder, plan, options);
    if (folder.count < plan.runs) return unfinished(folder, plan, failed);
    return await finish(folder, plan);
  } finally {
    folder.close();
  }
}

async function runMissing(folder: SweepFolder, plan: Plan, options: SweepOptions) {
  const { jobs, wallMs, signal, onError = 'stop' } = options;
  const failures: FailedRun[] = [];
  options.onProgress?.(folder.count, plan.runs);
  await runJobs(
    untilFailed(
      tasksOf(plan, (run) => !folder.has(run)),
      failures,
    ),
    {
      ...(jobs === undefined ? {} : { jobs }),
      ...(wallMs === undefined ? {} : { wallMs }),
      ...(signal === undefined ? {} : { signal }),
      onDone: (task, outcome) => {
        const record = recordOf(plan.sweep, task, outcome);
        const failure = failureOf(record);
        // Not kept: what is resumed later runs it again, and ends there again or goes past it.
        if (failure && onError === 'stop') failures.push(failedRun(plan, task, failure));
        else folder.save(record);
        options.onProgress?.(folder.count, plan.runs);
      },
    },
  );
  return failures.sort((a, b) => a.run - b.run)[0] ?? null;
}

function* untilFailed(tasks: Iterable<SweepTask>, failures: readonly FailedRun[]) {
  for (const task of tasks) {
    if (failures.length > 0) return;
    yield task;
  }
}

function failedRun(
  { sweep }: Plan,
  { run, seed, cell }: SweepTask,
  { kind, message }: { kind: FailureKind; message: string },
): FailedRun {
  return { run, kind, message, seed, values: valuesOf(sweep, cell) };
}

const noVerdicts = () => ({ pass: 0, no_progress: 0, safety: 0, error: 0 });

function unfinished(folder: SweepFolder, plan: Plan, failed: FailedRun | null): SweepResult {
  const { runs: planned } = plan;
  const completed = folder.count;
  return { planned, completed, verdicts: noVerdicts(), failed, finished: false };
}

async function finish(folder: SweepFolder, plan: Plan): Promise<SweepResult> {
  const verdicts = noVerdicts();
  let failed: FailedRun | null = null;
  writeTables(folder, plan, (record) => {
    verdicts[record.verdict] += 1;
    const failure = failureOf(record);
    if (!failure || failed) return;
    const { run, seed } = record;
    const values = plan.sweep.factors.map((factor): [string, unknown] => {
      return [factor.path, record.values[columnOf(factor)]];
    });
    failed = { run, seed, values, ...failure };
  });
  const { writeSweepReport } = await import('../report/index.js');
  await writeSweepReport(folder.path);
  const { runs: planned } = plan;
  return { planned, completed: folder.count, verdicts, failed, finished: true };
}
