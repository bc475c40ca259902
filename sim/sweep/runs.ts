/**
 * The runs of a sweep: the record of each finished one, which holds nothing that differs when the
 * run is done again; how far the sweep goes, which runs are missing, and its result.
 */
import {
  measures as dictionary,
  type MeasureName,
  measureKinds,
} from '../../report/shared/measures.js';
import type { Measures } from '../measure/dictionary.js';
import { brokenText, type Failure, type LastingResult, type Outcome } from '../run/jobs.js';
import type { EndedBy, SimResult, Verdict } from '../run/result.js';
import type { Sweep } from '../scenario/schema/scenario.js';
import type { RuleViolation } from '../world/observer.js';
import { type Cell, type FactorValue, generateCells, getColumn } from './design.js';
import {
  generateTasks,
  getValues,
  type Outline,
  type Plan,
  type Share,
  type SweepTask,
} from './plan.js';
import { type IntervalKind, toIntervalKind } from './statistics.js';
import { type Replicates, stoppingResponse } from './stopping.js';

/** runs/<key>-<replicate>.json, without the numbers of run and cell: they may grow. */
export interface RunRecord {
  replicate: number;
  seed: string;
  /** Of each factor, by its column. */
  values: Record<string, FactorValue>;
  verdict: Verdict | 'error';
  ended_by: EndedBy | null;
  digest: string | null;
  log_digest: string | null;
  broken: RuleViolation | null;
  error: Pick<Failure, 'kind' | 'message'> | null;
  entries: number | null;
  events: number | null;
  virtual_ms: number | null;
  /** Requests that were not done, by reason. */
  refused: Record<string, number>;
  /** Whether the auditor watched it: a rule is seen broken only then. */
  audited: boolean;
  measures: Measures | null;
  groups: SimResult['groups'];
  /** What scripts measured themselves. */
  reported: SimResult['reported'];
}

export function toRunRecord(
  sweep: Sweep,
  task: SweepTask,
  outcome: Outcome<LastingResult>,
): RunRecord {
  const { cell, replicate, seed, audit = true } = task;
  const columns = sweep.factors.map((factor, index) => [getColumn(factor), cell.values[index]!]);
  const values = Object.fromEntries(columns) as RunRecord['values'];
  const about = { replicate, seed, values };
  if ('failure' in outcome) {
    const { kind, message } = outcome.failure;
    return { ...about, verdict: 'error', error: { kind, message }, ...nothing, audited: audit };
  }
  const { verdict, digest, log_digest, broken, entries, events, virtual_ms } = outcome.result;
  const { refused, ended_by, measures, groups, reported } = outcome.result;
  const figures = { digest, log_digest, broken, entries, events, virtual_ms, refused };
  const found = { audited: audit, measures, groups, reported };
  return { ...about, verdict, ended_by, error: null, ...figures, ...found };
}

const nothing = {
  ended_by: null,
  digest: null,
  log_digest: null,
  broken: null,
  entries: null,
  events: null,
  virtual_ms: null,
  refused: {},
  measures: null,
  groups: [],
  reported: { run: {}, groups: {} },
} satisfies Partial<RunRecord>;

/** What the names of scripts' own measures begin with, in tables and responses. */
export const OWN = 'reported.';

/** Null where it cannot be said: a run that failed says nothing about its cell. */
export function getMeasure(record: RunRecord, name: string): number | null {
  const { verdict, measures, reported } = record;
  if (verdict === 'safety' || !measures) return null;
  if (name.startsWith(OWN)) return reported.run[name.slice(OWN.length)] ?? null;
  return measures[name as MeasureName] ?? null;
}

/** What a script reports may be anything; if it is never negative, that is seen. */
export const getIntervalKind = (name: string): IntervalKind =>
  toIntervalKind(name in dictionary ? measureKinds[name as MeasureName] : 'mean');

/** A failure is what ends a sweep; a run without progress is a result like any other. */
export type FailureKind = 'scenario' | 'unanswered' | 'crash' | 'safety' | 'differs';

/** Null unless the run failed. */
export function getFailure({
  verdict,
  broken,
  error,
}: Pick<RunRecord, 'verdict' | 'broken' | 'error'>) {
  if (error) return error satisfies { kind: FailureKind };
  if (verdict !== 'safety') return null;
  return { kind: 'safety' as const, message: brokenText(broken!) };
}

/** How far a sweep, or a shard of one, goes: the runs that it has, as far as that is known. */
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
interface PlannedRun {
  cell: number;
  key: string;
  replicate: number;
}

/** Cell by cell; cells that are the same share their runs, which come once for each of them. */
export function* generateRuns({
  plan: { keys },
  replicates,
  share,
}: Extent): Generator<PlannedRun> {
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
  for (const { key, replicate } of generateRuns(extent)) {
    counted.planned += 1;
    if (kept.has(key, replicate)) counted.completed += 1;
  }
  return counted;
}

/** A cell whose runs are all there. */
interface FinishedCell {
  cell: Cell;
  /** Counts the runs of the cells before. */
  runsBefore: number;
  records: RunRecord[];
}

/** A sweep, or a shard of one, whose runs are all there; each pass over its cells reads anew. */
export interface FinishedSweep {
  plan: Outline;
  cells(): Generator<FinishedCell>;
  /** The records of some cell. */
  recordsOf(cell: number): RunRecord[];
}

export function finishedSweep(kept: KeptRuns, { plan, replicates, share }: Extent): FinishedSweep {
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
      for (const cell of generateCells(plan.sweep, plan.scenario.seed)) {
        const records = recordsOf(cell.number);
        yield { cell, runsBefore, records };
        runsBefore += records.length;
      }
    },
  };
}

/** What could be said of them. */
export const collectValues = (records: readonly RunRecord[], name: string): number[] =>
  records.map((record) => getMeasure(record, name)).filter((value) => value !== null);

/*
 * Which runs are done when: all that a sweep has so far, and when these are there, those that its
 * cells turn out to need besides. What is needed follows from what is there alone, never from the
 * order in which runs ended.
 */

/** Waits for the end of what is under way. */
export class RunsUnderWay {
  #count = 0;
  #ended = false;
  #wake: () => void = () => {};

  begin(): void {
    this.#count += 1;
  }

  done(): void {
    this.#count -= 1;
    this.#wake();
  }

  /** Nothing that is under way will be done. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Resolves to whether all were done. */
  async all(): Promise<boolean> {
    while (this.#count > 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return !this.#ended;
  }
}

interface Going {
  underWay: RunsUnderWay;
  /** Whether a run of the round stays missing: it is resumed later. */
  isOpen(): boolean;
  /** Called when cells need more runs than planned so far. */
  onMore(): void;
}

/** The runs that are missing, round by round. */
export async function* missingTasks(
  kept: KeptRuns,
  extent: Extent<Plan>,
  { underWay, isOpen, onMore }: Going,
): AsyncGenerator<SweepTask> {
  yield* roundOf(kept, extent, underWay);
  while ((await underWay.all()) && !isOpen() && checkStopping(kept, extent)) {
    onMore();
    yield* roundOf(kept, extent, underWay);
  }
}

/** Each run once: two cells that are the same share their runs. */
function* roundOf(
  kept: KeptRuns,
  { plan, replicates, share }: Extent<Plan>,
  underWay: RunsUnderWay,
): Generator<SweepTask> {
  const begun = new Set<string>();
  const isMissing = (key: string, replicate: number) => {
    if (!share(key, replicate) || kept.has(key, replicate)) return false;
    if (begun.has(`${key}-${replicate}`)) return false;
    begun.add(`${key}-${replicate}`);
    return true;
  };
  for (const task of generateTasks(plan, (cell) => replicates.of(cell), isMissing)) {
    underWay.begin();
    yield task;
  }
}

/** Whether some cell needs more runs; all that it has so far must be there. */
export function checkStopping(kept: KeptRuns, extent: Extent): boolean {
  const { plan, replicates, share } = extent;
  const response = stoppingResponse(plan.sweep);
  const { recordsOf } = finishedSweep(kept, extent);
  const valuesOf = (cell: number) =>
    share(plan.keys[cell - 1]!, 1) ? collectValues(recordsOf(cell), response) : null;
  return replicates.checkCells(valuesOf, getIntervalKind(response));
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
  return { cell: cell.number, replicate, kind, message, seed, values: getValues(sweep, cell) };
}
