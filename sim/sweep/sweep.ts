/** One sweep: runs what is missing, keeps each run as it ends, and makes the tables at the end. */
import { join } from 'node:path';
import { makeFolder } from '../../engine/internal.js';
import type { Provenance } from '../../report/provenance.js';
import type { DeciderOptions } from '../agents/deciders/index.js';
import {
  type Lasting,
  type Outcome,
  runJobs,
  type Spread,
  usesDeciders,
} from '../run/jobs/index.js';
import { countRuns, type Extent, runsOf } from './extent.js';
import { finishShard, finishSweep } from './finish.js';
import { checkFirstRun, differenceText } from './first-run.js';
import { SweepFolder } from './folder/folder.js';
import { headOf } from './folder/head.js';
import { CASSETTES, cassettePath } from './folder/names.js';
import type { Plan, SweepTask } from './plan.js';
import { failureOf, recordOf } from './record.js';
import { type FailedRun, failedRun, noVerdicts, type SweepResult } from './result.js';
import { looked, missingTasks, UnderWay } from './schedule.js';
import { type Shard, shareOf } from './shard.js';
import { Replicates } from './stopping.js';

/** Where a sweep is kept, and how it is run. */
export interface SweepOptions {
  out: string;
  made: Provenance;
  /** Go on with what `out` holds. */
  resume?: boolean;
  /** Only the runs of this part: `mergeSweep` makes one sweep of all parts. */
  shard?: Shard;
  jobs?: number;
  /**
   * Who runs them; default: processes of this machine, `jobs` at a time.
   *
   * @internal
   */
  spread?: Spread;
  /**
   * The effect of a failed run: it ends the sweep and the runs under way (default), or only itself.
   * A run without a decider's answer is never kept: `resume` runs it again.
   */
  onError?: 'stop' | 'continue';
  /** A run that takes longer has failed. */
  wallMs?: number;
  /** Where the answers of external deciders come from; each run has a cassette of its own. */
  deciders?: Omit<DeciderOptions, 'keep'>;
  /** Ends the sweep; runs under way are lost. */
  signal?: AbortSignal;
  onProgress?: (done: number, of: number) => void;
}

/**
 * Runs a sweep in processes beside, and keeps each run, so that it can go on after any end.
 *
 * @throws {SweepError} when `out` cannot be used so.
 */
export async function sweep(plan: Plan, options: SweepOptions): Promise<SweepResult> {
  const { out, made, shard, resume = false } = options;
  const share = shareOf(plan, shard);
  const extent = { plan, replicates: new Replicates(plan.sweep, plan.cells), share };
  const folder = await SweepFolder.open(out, headOf(plan, made, shard), resume, share);
  try {
    if (options.deciders?.record || options.deciders?.cassette) forgetUnanswered(folder, extent);
    const different = folder.isEmpty ? await firstDiffers(extent, options) : null;
    const failed = different ?? (await runMissing(folder, extent, options));
    const { planned, completed } = countRuns(folder, extent);
    // Ended between two looks at its cells, it has not all that it needs.
    if (completed < planned || looked(folder, extent)) {
      const counted = countRuns(folder, extent);
      return { ...counted, verdicts: noVerdicts(), failed, finished: false };
    }
    return shard ? finishShard(folder, extent) : await finishSweep(folder, extent);
  } finally {
    folder.close();
  }
}

/** A first run that fails by itself is told of by the sweep, as any other is. */
async function firstDiffers(extent: Extent<Plan>, options: SweepOptions) {
  const first = await checkFirstRun(extent, options);
  const message = first && differenceText(first);
  return first && message ? failedRun(extent.plan, first.task, { kind: 'differs', message }) : null;
}

/** Earlier versions kept a run whose call budget was spent as failed: it is run again. */
function forgetUnanswered(folder: SweepFolder, extent: Extent<Plan>): void {
  for (const { key, replicate } of runsOf(extent)) {
    if (!folder.has(key, replicate)) continue;
    if (failureOf(folder.read(key, replicate))?.kind === 'unanswered')
      folder.remove(key, replicate);
  }
}

async function runMissing(
  folder: SweepFolder,
  extent: Extent<Plan>,
  options: SweepOptions,
): Promise<FailedRun | null> {
  const { plan } = extent;
  const { jobs, wallMs, signal, spread = runJobs, onError = 'stop' } = options;
  const failures: FailedRun[] = [];
  const unanswered: FailedRun[] = [];
  const underWay = new UnderWay();
  const end = () => underWay.end();
  const copies = countEach(plan.keys);
  let [done, planned] = [0, 0];
  const recount = () => {
    ({ completed: done, planned } = countRuns(folder, extent));
    options.onProgress?.(done, planned);
  };
  const keep = (task: SweepTask, outcome: Outcome<Lasting>) => {
    const record = recordOf(plan.sweep, task, outcome);
    const failure = failureOf(record);
    // Not kept: a resumed sweep runs it again, and ends there again or goes past it.
    if (failure && onError === 'stop') failures.push(failedRun(plan, task, failure));
    // Not a result: a resumed sweep goes on with the answers in the run's cassette.
    else if (failure?.kind === 'unanswered') unanswered.push(failedRun(plan, task, failure));
    else {
      folder.save(task.key, record);
      done += copies.get(task.key)!;
    }
    if (failures.length === 0) options.onProgress?.(done, planned);
  };
  recount();
  signal?.addEventListener('abort', end);
  const isOpen = () => unanswered.length > 0;
  const tasks = missingTasks(folder, extent, { underWay, isOpen, onMore: recount });
  const asking = askingIn(folder.path, options.deciders);
  await spread(untilFailed(tasks, failures, asking), {
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
    enough: () => failures.length > 0,
    onDiffers: (task, message) => {
      // Nobody knows which of the two it was.
      folder.remove(task.key, task.replicate);
      failures.push(failedRun(plan, task, { kind: 'differs', message }));
      end();
    },
  });
  signal?.removeEventListener('abort', end);
  const byPlace = (a: FailedRun, b: FailedRun) => a.cell - b.cell || a.replicate - b.replicate;
  return [...failures.sort(byPlace), ...unanswered.sort(byPlace)][0] ?? null;
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

function askingIn(folder: string, wanted: SweepOptions['deciders']) {
  return (task: SweepTask): SweepTask => {
    if (!wanted || !usesDeciders(task)) return task;
    const name = cassettePath(task);
    makeFolder(join(folder, CASSETTES));
    const { cassette, ...asked } = wanted;
    const from = cassette === undefined ? {} : { cassette: join(cassette, name) };
    return { ...task, deciders: { ...asked, ...from, keep: join(folder, name) } };
  };
}
