/** One sweep: runs what is missing, keeps each run as it ends, and makes the tables at the end. */

import { join } from 'node:path';
import { makeFolder } from '../../engine/internal.js';
import type { Provenance } from '../../report/provenance.js';
import type { DeciderOptions } from '../agents/deciders/index.js';
import { type Outcome, runJobs, usesDeciders } from '../run/jobs/index.js';
import { checkFirstRun, differenceText } from './first-run.js';
import { SweepFolder } from './folder/folder.js';
import { headOf } from './folder/head.js';
import { type Plan, type SweepTask, valuesOf } from './plan.js';
import { type FailureKind, failureOf, type RunRecord, recordOf } from './record.js';
import { finishedSweep } from './runs.js';
import { countThere, missingTasks, UnderWay } from './schedule.js';
import { Replicates } from './stopping.js';
import { writeTables } from './tables/index.js';

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
  /** Where the answers of external deciders come from; each run has a cassette of its own. */
  deciders?: Omit<DeciderOptions, 'keep'>;
  /** Ends the sweep; runs under way are lost. */
  signal?: AbortSignal;
  onProgress?: (done: number, of: number) => void;
}

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

/** What a sweep came to. */
export interface SweepResult {
  /** With `until`, as far as that is known. */
  planned: number;
  completed: number;
  /** Of the completed runs, when there are tables. */
  verdicts: Record<RunRecord['verdict'], number>;
  /** The first one by cell: it ended the sweep, or is one among its results. */
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
  const head = headOf(plan, options.made);
  const folder = await SweepFolder.open(options.out, head, options.resume ?? false);
  try {
    const replicates = new Replicates(plan.sweep, plan.cells);
    const different = folder.isEmpty ? await firstDiffers(plan, options) : null;
    const failed = different ?? (await runMissing(folder, plan, replicates, options));
    const completed = countThere(folder, plan, replicates);
    const planned = replicates.total;
    if (completed < planned) {
      return { planned, completed, verdicts: noVerdicts(), failed, finished: false };
    }
    return await finish(folder, plan, replicates);
  } finally {
    folder.close();
  }
}

/** A first run that fails by itself is told of by the sweep, as any other is. */
async function firstDiffers(plan: Plan, options: SweepOptions): Promise<FailedRun | null> {
  const first = await checkFirstRun(plan, options);
  const message = first && differenceText(first);
  return first && message ? failedRun(plan, first.task, { kind: 'differs', message }) : null;
}

async function runMissing(
  folder: SweepFolder,
  plan: Plan,
  replicates: Replicates,
  options: SweepOptions,
): Promise<FailedRun | null> {
  const { jobs, wallMs, signal, onError = 'stop' } = options;
  const failures: FailedRun[] = [];
  const underWay = new UnderWay();
  const end = () => underWay.end();
  const copies = countEach(plan.keys);
  let done = 0;
  const recount = () => {
    done = countThere(folder, plan, replicates);
    options.onProgress?.(done, replicates.total);
  };
  const keep = (task: SweepTask, outcome: Outcome) => {
    const record = recordOf(plan.sweep, task, outcome);
    const failure = failureOf(record);
    // Not kept: what is resumed later runs it again, and ends there again or goes past it.
    if (failure && onError === 'stop') failures.push(failedRun(plan, task, failure));
    else folder.save(task.key, record);
    done += copies.get(task.key)!;
    if (failures.length === 0) options.onProgress?.(done, replicates.total);
  };
  recount();
  signal?.addEventListener('abort', end);
  const tasks = missingTasks(folder, plan, replicates, underWay, recount);
  const asking = askingIn(folder.path, options.deciders);
  await runJobs(untilFailed(tasks, failures, asking), {
    ...(jobs === undefined ? {} : { jobs }),
    ...(wallMs === undefined ? {} : { wallMs }),
    ...(signal === undefined ? {} : { signal }),
    onDone: (task, outcome) => {
      try {
        keep(task, outcome);
        underWay.done();
        if (failures.length > 0) end();
      } catch (error) {
        end();
        throw error;
      }
    },
  });
  signal?.removeEventListener('abort', end);
  return failures.sort((a, b) => a.cell - b.cell || a.replicate - b.replicate)[0] ?? null;
}

/** Cells that are the same share their runs. */
function countEach(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

async function* untilFailed(
  tasks: AsyncIterable<SweepTask>,
  failures: readonly FailedRun[],
  asking: (task: SweepTask) => SweepTask,
) {
  for await (const task of tasks) {
    if (failures.length > 0) return;
    yield asking(task);
  }
}

/** Cassettes of the runs, in their folder and in the one that answers are taken from. */
const CASSETTES = 'cassettes';

function askingIn(folder: string, wanted: SweepOptions['deciders']) {
  return (task: SweepTask): SweepTask => {
    if (!wanted || !usesDeciders(task)) return task;
    const name = join(CASSETTES, `${task.key}-${task.replicate}.cassette`);
    makeFolder(join(folder, CASSETTES));
    const { cassette, ...asked } = wanted;
    const from = cassette === undefined ? {} : { cassette: join(cassette, name) };
    return { ...task, deciders: { ...asked, ...from, keep: join(folder, name) } };
  };
}

function failedRun(
  { sweep }: Plan,
  { cell, replicate, seed }: SweepTask,
  { kind, message }: { kind: FailureKind; message: string },
): FailedRun {
  return { cell: cell.number, replicate, kind, message, seed, values: valuesOf(sweep, cell) };
}

const noVerdicts = () => ({ pass: 0, no_progress: 0, safety: 0, error: 0 });

async function finish(
  folder: SweepFolder,
  plan: Plan,
  replicates: Replicates,
): Promise<SweepResult> {
  const verdicts = noVerdicts();
  let failed: FailedRun | null = null;
  writeTables(folder.path, finishedSweep(folder, plan, replicates), (record, cell) => {
    verdicts[record.verdict] += 1;
    const failure = failureOf(record);
    if (!failure || failed) return;
    const { replicate, seed } = record;
    failed = { cell: cell.number, replicate, seed, values: valuesOf(plan.sweep, cell), ...failure };
  });
  const { writeSweepReport } = await import('../report/index.js');
  await writeSweepReport(folder.path);
  const planned = replicates.total;
  return { planned, completed: planned, verdicts, failed, finished: true };
}
