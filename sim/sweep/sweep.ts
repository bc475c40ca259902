/**
 * Runs a sweep: performs the missing runs, saves each run when it ends, and writes the tables and
 * report at the end. A shard is sealed instead.
 */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { makeInside, type Provenance, writeWhole } from '../../report/folder.js';
import type { DeciderOptions } from '../agents/deciders/deciders.js';
import { SPENDING_FILE } from '../agents/deciders/ledger.js';
import { compareRuns, resultDifference } from '../compare/determinism.js';
import {
  type JobRunner,
  JobWorker,
  type LastingResult,
  type Outcome,
  runJobs,
  toJobLimits,
  usesDeciders,
} from '../run/jobs.js';
import {
  conditionText,
  getConditions,
  interventionText,
  momentText,
} from '../scenario/interventions.js';
import { scriptModules } from '../scenario/population.js';
import type { Cell } from './design.js';
import {
  CASSETTES,
  cassettePath,
  createSweepHead,
  logPath,
  SweepFolder,
  sealFolder,
} from './folder.js';
import {
  generateTasks,
  getShare,
  type Outline,
  type Plan,
  type Shard,
  type SweepTask,
} from './plan.js';
import {
  countRuns,
  type Extent,
  emptyResult,
  type FailedRun,
  failedRun,
  finishedSweep,
  generateRuns,
  getFailure,
  getMeasure,
  listReported,
  missingTasks,
  needsMoreRuns,
  type RunRecord,
  RunsUnderWay,
  type SweepResult,
  toRunRecord,
} from './runs.js';
import { allResponses, Replicates } from './stopping.js';
import { writeTables } from './tables.js';

/** Options of a sweep: its output folder, its part of the runs, and how it runs them. */
export interface SweepOptions {
  out: string;
  made: Provenance;
  /** Continue an earlier sweep in `out`. */
  resume?: boolean;
  /** Run only this part. `mergeSweep` combines all parts. */
  shard?: Shard;
  jobs?: number;
  /** Job runner. Default: local processes, `jobs` in parallel. @internal */
  spread?: JobRunner;
  /**
   * Effect of a failed run. `stop` (default) ends the sweep and the runs in progress. `continue`
   * records the failure. A run without a decider's answer is never saved, so `resume` repeats that
   * run.
   */
  onError?: 'stop' | 'continue';
  /** Time limit per run in milliseconds. A run that exceeds the limit has failed. */
  wallMs?: number;
  /** Source of external deciders' answers. Each run uses its own cassette. */
  deciders?: Omit<DeciderOptions, 'keep'>;
  /** Stops the sweep. Runs in progress are discarded. */
  signal?: AbortSignal;
  onProgress?: (done: number, of: number) => void;
}

/**
 * Runs a sweep in child processes and saves each run, so that the sweep can be resumed after any
 * interruption.
 *
 * @throws {SweepError} if `out` cannot be used.
 */
export async function sweep(plan: Plan, options: SweepOptions): Promise<SweepResult> {
  const { out, made, shard, resume = false } = options;
  const share = getShare(plan, shard);
  const extent = { plan, replicates: new Replicates(plan.sweep, plan.cells), share };
  const head = createSweepHead(plan, made, shard);
  const folder = await SweepFolder.open(out, head, { resume, share, plan });
  // The process of the check then does the first runs.
  const worker = new JobWorker(toJobLimits(options));
  try {
    const different = folder.isEmpty ? await firstDiffers(extent, worker, options.signal) : null;
    const failed = different ?? (await runMissing(folder, extent, { ...options, worker }));
    const { planned, completed } = countRuns(folder, extent);
    // The stopping rule may need more runs if the sweep was stopped between two tests.
    if (completed < planned || needsMoreRuns(folder, extent)) {
      const counted = countRuns(folder, extent);
      return { ...emptyResult(), ...counted, failed, finished: false };
    }
    return shard ? finishShard(folder, extent) : await finishSweep(folder, extent);
  } finally {
    await worker.close();
    folder.close();
  }
}

/** Checks determinism. A failed first run is not reported here, because the sweep reports it. */
async function firstDiffers(
  { plan, replicates, share }: Extent<Plan>,
  worker: JobWorker,
  signal = new AbortController().signal,
): Promise<FailedRun | null> {
  const [task] = generateTasks(plan, (cell) => replicates.of(cell), share);
  // There may be more shards than runs.
  if (!task) return null;
  const scripts = scriptModules(task.scenario);
  // External answers are recorded, and must not be requested twice.
  if (scripts.length === 0 || usesDeciders(task)) return null;
  const detail = await findDifference(task, worker, signal);
  if (detail === null) return null;
  const message = `the run is not deterministic with ${scripts.join(', ')}; ${detail}`;
  return failedRun(plan, task, { kind: 'differs', message });
}

async function runMissing(
  folder: SweepFolder,
  extent: Extent<Plan>,
  options: SweepOptions & { worker: JobWorker },
): Promise<FailedRun | null> {
  const { plan } = extent;
  const { jobs, wallMs, signal, spread = runJobs, onError = 'stop', worker } = options;
  const failures: FailedRun[] = [];
  const unanswered: FailedRun[] = [];
  const underWay = new RunsUnderWay();
  const end = () => underWay.end();
  const copies = countEach(plan.keys);
  let [done, planned] = [0, 0];
  const recount = () => {
    ({ completed: done, planned } = countRuns(folder, extent));
    options.onProgress?.(done, planned);
  };
  const keep = async (task: SweepTask, outcome: Outcome<LastingResult>) => {
    const record = toRunRecord(plan.sweep, task, outcome);
    const failure = getFailure(record);
    // Do not save the run, so that a resumed sweep repeats it.
    if (failure && onError === 'stop') failures.push(failedRun(plan, task, failure));
    // Do not save the run, so that a resumed sweep continues with the answers in the cassette.
    else if (failure?.kind === 'unanswered') unanswered.push(failedRun(plan, task, failure));
    else {
      // The worker gets its next job before the file is written.
      await nextTurn();
      if (plan.sweep.log === 'keep' && 'result' in outcome) folder.keepCassette(task);
      await folder.save(task.key, record);
      done += copies.get(task.key)!;
    }
    if (failures.length === 0) options.onProgress?.(done, planned);
  };
  recount();
  signal?.addEventListener('abort', end);
  const isOpen = () => unanswered.length > 0;
  const tasks = missingTasks(folder, extent, { underWay, isOpen, onMore: recount });
  const asking = askingIn(folder.path, options.deciders);
  const keeping = keepingIn(folder, plan.sweep);
  const prepare = (task: SweepTask) => keeping(asking(task));
  await spread(untilFailed(tasks, failures, prepare), {
    ...{ jobs, wallMs, signal, worker },
    onDone: async (task, outcome) => {
      try {
        await keep(task, outcome);
        underWay.done();
        if (failures.length > 0) end();
      } catch (error) {
        end();
        throw error;
      }
    },
    enough: () => failures.length > 0,
    onDiffers: (task, message) => {
      // Either result may be wrong, so neither result is kept.
      folder.remove(task.key, task.replicate);
      failures.push(failedRun(plan, task, { kind: 'differs', message }));
      end();
    },
  });
  signal?.removeEventListener('abort', end);
  const byPlace = (a: FailedRun, b: FailedRun) => a.cell - b.cell || a.replicate - b.replicate;
  return [...failures.sort(byPlace), ...unanswered.sort(byPlace)][0] ?? null;
}

/** Counts cells per key. Identical cells share their runs. */
function countEach(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

async function* untilFailed(
  tasks: AsyncIterable<SweepTask>,
  failures: readonly FailedRun[],
  prepare: (task: SweepTask) => SweepTask,
) {
  for await (const task of tasks) {
    if (failures.length > 0) return;
    yield prepare(task);
  }
}

function askingIn(folder: string, wanted: SweepOptions['deciders']) {
  return (task: SweepTask): SweepTask => {
    if (!wanted || !usesDeciders(task)) return task;
    const name = cassettePath(task);
    makeInside(folder, CASSETTES);
    const { cassette, ...asked } = wanted;
    const from = cassette === undefined ? {} : { cassette: join(cassette, name) };
    const { spending = join(folder, SPENDING_FILE) } = wanted;
    return { ...task, deciders: { ...asked, ...from, spending, keep: join(folder, name) } };
  };
}

/** Returns a function that lets a run write its folder. An interrupted run may have left a part. */
function keepingIn(folder: SweepFolder, { log }: Plan['sweep']) {
  if (log !== 'keep') return (task: SweepTask) => task;
  folder.makeLogs();
  return (task: SweepTask): SweepTask => {
    folder.removeLog(task);
    return { ...task, keep: { out: join(folder.path, logPath(task)), verifier: 'inline' } };
  };
}

/*
 * Determinism check before a sweep with scripts: the first run is done twice, in separate processes
 * if its scripts could see the first one. The check finds scripts that use their own randomness.
 */

/** Returns the first difference of two runs as text, or null. The sweep reports a failed run. */
async function findDifference(
  task: SweepTask,
  worker: JobWorker,
  signal: AbortSignal,
): Promise<string | null> {
  let hasFailed = false;
  const run = async (job: SweepTask) => {
    const outcome = await worker.run(job, signal);
    if ('result' in outcome) return outcome.result;
    hasFailed = true;
    throw new Error(outcome.failure.message);
  };
  try {
    const found = resultDifference(await run(task), await run(task));
    if (!found) return null;
    const { difference } = await compareRuns((verifier, out) =>
      run({ ...task, keep: { out, verifier } }),
    );
    const { where, details } = difference ?? { where: 'results differ', details: found };
    const named = Object.entries(details).map(([name, text]) => `${name} ${text}`);
    return `first difference: ${[where, ...named].join('; ')}`;
  } catch (error) {
    if (signal.aborted || hasFailed) return null;
    throw error;
  }
}

export async function finishSweep(folder: SweepFolder, extent: Extent): Promise<SweepResult> {
  const tally = new Tally(extent.plan);
  writeTables(folder.path, finishedSweep(folder, extent), (record, cell) => {
    tally.add(record, cell);
  });
  writeWhole(folder.path, 'scenario.json', `${JSON.stringify(extent.plan.scenario, null, 2)}\n`);
  const { writeSweepReport } = await import('../report/index.js');
  await writeSweepReport(folder.path);
  return tally.endSweep();
}

function finishShard(folder: SweepFolder, extent: Extent): SweepResult {
  const tally = new Tally(extent.plan);
  for (const { cell, records } of finishedSweep(folder, extent).cells()) {
    for (const record of records) tally.add(record, cell);
  }
  sealFolder(folder.path, generateRuns(extent));
  return tally.result;
}

/** Counts the verdicts of all runs, in order. */
class Tally {
  readonly result = emptyResult();
  readonly #plan: Outline;
  /** Responses without a value so far. */
  readonly #empty: Set<string>;
  readonly #reported = new Set<string>();
  readonly #effects: Effects;

  constructor(plan: Outline) {
    this.#plan = plan;
    this.#effects = new Effects(plan);
    this.#empty = new Set(allResponses(plan.sweep));
  }

  add(record: RunRecord, cell: Cell): void {
    this.result.planned += 1;
    this.result.completed += 1;
    this.result.verdicts[record.verdict] += 1;
    const failure = getFailure(record);
    if (failure) this.result.failed ??= failedRun(this.#plan, { ...record, cell }, failure);
    for (const name of this.#empty) {
      if (getMeasure(record, name) !== null) this.#empty.delete(name);
    }
    for (const name of listReported(record)) this.#reported.add(name);
    this.#effects.add(record, cell);
  }

  /** Names what has no value or effect. A shard may lack a value that another shard has. */
  endSweep(): SweepResult {
    const reported = [...this.#reported].sort();
    this.result.empty = [...this.#empty].map((response) => ({ response, reported }));
    this.result.without_effect = this.#effects.missing;
    return this.result;
  }
}

/** Finds factors, interventions and conditions that changed no run of a sweep. */
class Effects {
  readonly #plan: Outline;
  /** Factors without an effect so far, with the first run for each setting of the others. */
  readonly #same: Map<number, Map<string, { value: string; outcome: string }>>;
  /** Factors of which two values were compared. */
  readonly #compared = new Set<number>();
  /** Interventions that have not acted so far. */
  readonly #idle: Set<number>;
  #isMet = false;

  constructor(plan: Outline) {
    this.#plan = plan;
    this.#same = new Map(plan.sweep.factors.map((_, at) => [at, new Map()]));
    const { interventions } = plan.scenario;
    this.#idle = new Set(
      [...interventions.keys()].filter((at) => interventions[at]!.acts !== false),
    );
  }

  add(record: RunRecord, { values }: Cell): void {
    const { seed, verdict, error, ended_by, idle = [], trace_digest } = record;
    if (ended_by?.startsWith('until')) this.#isMet = true;
    if (error === null) for (const at of this.#idle) if (!idle.includes(at)) this.#idle.delete(at);
    if (this.#same.size === 0) return;
    const { measures, groups, reported } = record;
    const figures = [trace_digest, verdict, error, measures, groups, reported];
    const outcome = sha256Hex(JSON.stringify(figures));
    for (const [at, runs] of this.#same) {
      // The factors of a list change together.
      const isList = this.#plan.sweep.design === 'list';
      const [value, others] = [
        isList ? values : values[at],
        isList ? [] : values.with(at, null),
      ].map((part) => JSON.stringify(part));
      const key = `${seed} ${others}`;
      const first = runs.get(key);
      if (!first) runs.set(key, { value: value!, outcome });
      else if (first.outcome !== outcome) this.#same.delete(at);
      else if (first.value !== value) this.#compared.add(at);
    }
  }

  get missing(): SweepResult['without_effect'] {
    const { sweep: design, scenario } = this.#plan;
    const never = (path: string, text: string) => ({ path, reason: 'never_met' as const, text });
    const unmet = this.#isMet ? [] : getConditions(scenario.length).map(conditionText);
    return [
      ...design.factors.flatMap(({ path }, at) => {
        if (!this.#same.has(at) || !this.#compared.has(at)) return [];
        const text = `${path} changed nothing: all values gave the same runs`;
        return [{ path, reason: 'same_runs' as const, text }];
      }),
      ...[...this.#idle].map((at) => {
        const [path, one] = [`interventions.${at}`, scenario.interventions[at]!];
        const text = `${path} (${interventionText(one)}) acted in no run: ${momentText(one)}`;
        return never(path, text);
      }),
      ...(unmet.length === 0
        ? []
        : [never('length.until', `length.until was met in no run: ${unmet.join(', ')}`)]),
    ];
  }
}
