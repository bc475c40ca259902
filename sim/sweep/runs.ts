/**
 * Sweep runs: the record of a finished run, which contains nothing that varies between repetitions,
 * the missing runs, and the result.
 */
import { Type, Value } from '../../engine/protocol/bundled/typebox.js';
import { jsonDifference } from '../../engine/protocol/canonical.js';
import { isMeasure, measureKinds, OWN, parseOwn } from '../../report/shared/measures.js';
import { brokenText, type Failure, type LastingResult, type Outcome } from '../run/jobs.js';
import { isIdle, type SimResult, type Verdict } from '../run/result.js';
import type { Sweep } from '../scenario/schema/scenario.js';
import { type Cell, type FactorValue, formatSeed, generateCells, getColumn } from './design.js';
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

/**
 * Contents of runs/<key>-<replicate>.json. The record contains no run or cell number, because these
 * numbers change when the sweep grows.
 */
export interface RunRecord extends Pick<SimResult, Shared>, OrNull<Pick<SimResult, Measured>> {
  replicate: number;
  /** Factor values by column. */
  values: Record<string, FactorValue>;
  verdict: Verdict | 'error';
  /** Digest of the commands and outcomes, equal with and without a log. */
  trace_digest: string | null;
  error: Pick<Failure, 'kind' | 'message'> | null;
  /** Indices of the interventions that did not act. Absent if all acted. */
  idle?: number[];
  /** True if the auditor checked the run. Only audited runs detect rule violations. */
  audited: boolean;
}

/** Members of a result, and those that are null after an error. */
type Shared = 'seed' | 'broken' | 'refused' | 'groups' | 'reported';
type Measured =
  | ('ended_by' | 'digest' | 'log_digest' | 'entries' | 'events')
  | ('virtual_ms' | 'measures');
type OrNull<T> = { [K in keyof T]: T[K] | null };

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
  const { verdict, broken, entries, events, virtual_ms } = outcome.result;
  const { refused, ended_by, measures, groups, reported, interventions = [] } = outcome.result;
  const idle = interventions.flatMap((one, index) => (isIdle(one) ? [index] : []));
  const figures = { ...digestsOf(outcome.result), broken, entries, events, virtual_ms, refused };
  const acts = idle.length > 0 ? { idle } : {};
  const found = { ...acts, audited: audit, measures, groups, reported };
  return { ...about, verdict, ended_by, error: null, ...figures, ...found };
}

/** Returns the digests of a run. A run without a log has only the digest of its trace. */
const digestsOf = ({ digest, log_digest, trace_digest = '' }: LastingResult) => ({
  digest: digest || null,
  log_digest: log_digest || null,
  trace_digest,
});

const nothing = {
  ended_by: null,
  digest: null,
  log_digest: null,
  trace_digest: null,
  broken: null,
  entries: null,
  events: null,
  virtual_ms: null,
  refused: {},
  measures: null,
  groups: [],
  reported: { run: {}, groups: {} },
} satisfies Partial<RunRecord>;

/** Returns a measure's value, or null if the measure has no value or the run failed. */
export function getMeasure(record: RunRecord, name: string): number | null {
  const { verdict, measures } = record;
  if (verdict === 'safety' || !measures) return null;
  return isMeasure(name) ? (measures[name] ?? null) : getReported(record, name);
}

/** Returns the value of `reported.NAME` or `reported.NAME@GROUP`; null without a value. */
export function getReported({ reported }: RunRecord, name: string): number | null {
  const own = parseOwn(name);
  if (!own) return null;
  const { run, groups } = reported;
  const figures = own.group === null ? run : getOwn(groups, own.group);
  return (figures && getOwn(figures, own.name)) ?? null;
}

/** Reads a member that a script or a scenario names, never an inherited one. */
const getOwn = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/**
 * Returns the interval kind. Script measures are treated as means. The data reveals if a measure is
 * never negative.
 */
export const getIntervalKind = (name: string): IntervalKind =>
  toIntervalKind(isMeasure(name) ? measureKinds[name] : 'mean');

/** Kind of failure. A failure ends a sweep, but a run without progress is a normal result. */
export type FailureKind = 'scenario' | 'unanswered' | 'crash' | 'safety' | 'differs';

/** Returns the failure, or null if the run did not fail. */
export function getFailure({
  verdict,
  broken,
  error,
}: Pick<RunRecord, 'verdict' | 'broken' | 'error'>) {
  if (error) return error satisfies { kind: FailureKind };
  if (verdict !== 'safety') return null;
  return { kind: 'safety' as const, message: brokenText(broken!) };
}

/** Runs in a sweep or shard, as far as the stopping rule has determined them. */
export interface Extent<P extends Outline = Outline> {
  plan: P;
  replicates: Replicates;
  share: Share;
}

/** Saved runs in one folder, or in a sweep's shards. */
export interface KeptRuns {
  has(key: string, replicate: number): boolean;
  /** @throws {StoreError} if the run cannot be read. */
  read(key: string, replicate: number): RunRecord;
}

/** Run named by its cell number and key. */
interface PlannedRun {
  cell: number;
  key: string;
  replicate: number;
}

/** Yields runs cell by cell. Runs that identical cells share are yielded once per cell. */
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

export function countRuns(kept: KeptRuns, extent: Extent) {
  const counted = { planned: 0, completed: 0 };
  for (const { key, replicate } of generateRuns(extent)) {
    counted.planned += 1;
    if (kept.has(key, replicate)) counted.completed += 1;
  }
  return counted;
}

interface FinishedCell {
  cell: Cell;
  /** Number of runs in all previous cells. */
  runsBefore: number;
  records: RunRecord[];
}

/** Sweep or shard with all its runs. Each pass over the cells reads the files again. */
export interface FinishedSweep {
  plan: Outline;
  cells(): Generator<FinishedCell>;
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

/** Returns a measure's values, without missing values. */
export const collectValues = (records: readonly RunRecord[], name: string): number[] =>
  records.map((record) => getMeasure(record, name)).filter((value) => value !== null);

/*
 * Rounds of runs. A sweep first does all planned runs, and then the runs that the stopping rule
 * adds. The rule depends only on the results, never on the order in which runs end.
 */

/** Waits until all started runs have ended. */
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

  /** Gives up on the runs in progress. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Resolves to true if all runs ended normally. */
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
  /** Returns true if a run in the round stays missing until the sweep is resumed. */
  isOpen(): boolean;
  onMore(): void;
}

/** Yields the missing runs, round by round. */
export async function* missingTasks(
  kept: KeptRuns,
  extent: Extent<Plan>,
  { underWay, isOpen, onMore }: Going,
): AsyncGenerator<SweepTask> {
  yield* roundOf(kept, extent, underWay);
  while ((await underWay.all()) && !isOpen() && needsMoreRuns(kept, extent)) {
    onMore();
    yield* roundOf(kept, extent, underWay);
  }
}

/** Yields each run once, even if identical cells share the run. */
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

/** Returns true if a cell needs more runs. All planned runs must be finished. */
export function needsMoreRuns(kept: KeptRuns, extent: Extent): boolean {
  const { plan, replicates, share } = extent;
  const response = stoppingResponse(plan.sweep);
  const { recordsOf } = finishedSweep(kept, extent);
  const valuesOf = (cell: number) =>
    share(plan.keys[cell - 1]!, 1) ? collectValues(recordsOf(cell), response) : null;
  return replicates.finishCells(valuesOf, getIntervalKind(response));
}

/** Failed run in a sweep. */
export interface FailedRun {
  cell: number;
  replicate: number;
  kind: FailureKind;
  message: string;
  seed: string;
  /** Each factor's path and value. */
  values: [path: string, value: unknown][];
}

/** Response without a value in any run. */
interface EmptyResponse {
  response: string;
  /** Script measures that the runs have. */
  reported: string[];
}

/** Part of a scenario that changed no run of a sweep. */
interface WithoutEffect {
  /** Path in the scenario: a factor, an intervention or a condition. */
  path: string;
  /** `same_runs` for a factor, `never_met` for an intervention or a condition. */
  reason: 'same_runs' | 'never_met';
  text: string;
}

/** Result of a sweep, or of a shard's own runs. */
export interface SweepResult {
  /** Number of planned runs. With `until`, the number known so far. */
  planned: number;
  completed: number;
  /** Runs by verdict, counted once all runs are completed. */
  verdicts: Record<RunRecord['verdict'], number>;
  /** First failed run by cell and replicate. */
  failed: FailedRun | null;
  /** True if all planned runs, and (except in a shard) the tables and report, are complete. */
  finished: boolean;
  /** Responses without a value in any run of a finished sweep. */
  empty: EmptyResponse[];
  /** Factors, interventions and conditions that changed no run of a finished sweep. */
  without_effect: WithoutEffect[];
}

/** Names the script measures of a run and of its groups, as responses name them. */
export const listReported = ({ reported: { run, groups } }: RunRecord): string[] => [
  ...Object.keys(run).map((name) => `${OWN}${name}`),
  ...Object.entries(groups).flatMap(([group, of]) =>
    Object.keys(of).map((name) => `${OWN}${name}@${group}`),
  ),
];

export const emptyResult = (): SweepResult => ({
  planned: 0,
  completed: 0,
  verdicts: { pass: 0, no_progress: 0, conflict: 0, safety: 0, error: 0 },
  failed: null,
  finished: true,
  empty: [],
  without_effect: [],
});

export function failedRun(
  { sweep }: Pick<Plan, 'sweep'>,
  { cell, replicate, seed }: Pick<SweepTask, 'replicate' | 'seed'> & { cell: Cell },
  { kind, message }: { kind: FailureKind; message: string },
): FailedRun {
  return { cell: cell.number, replicate, kind, message, seed, values: getValues(sweep, cell) };
}

/* Checks of run records in folders that may come from someone else. */

const text = Type.String();
const figure = Type.Union([Type.Number(), Type.Null()]);
const figures = Type.Record(text, figure);

/** Members that tables and reports read. All other members are copied unchanged. */
const common = {
  replicate: Type.Number(),
  seed: text,
  values: Type.Record(text, Type.Union([text, Type.Number(), Type.Boolean(), Type.Null()])),
  idle: Type.Optional(Type.Array(Type.Number())),
  measures: Type.Union([figures, Type.Null()]),
  groups: Type.Array(Type.Record(text, Type.Union([text, figure]))),
  reported: Type.Object({ run: figures, groups: Type.Record(text, figures) }),
  digest: Type.Union([text, Type.Null()]),
};
const Rule = Type.Object({ rule: text, actor: text, expected: text, found: text });
const kinds = Type.Enum(['scenario', 'unanswered', 'crash']);

const Kept = Type.Union([
  Type.Object({
    ...common,
    verdict: Type.Enum(['pass', 'no_progress', 'conflict']),
    ended_by: text,
    error: Type.Null(),
  }),
  Type.Object({ ...common, verdict: Type.Literal('safety'), broken: Rule, error: Type.Null() }),
  Type.Object({
    ...common,
    verdict: Type.Literal('error'),
    error: Type.Object({ kind: kinds, message: text }),
  }),
]);

/** Returns a function that checks a run record and returns the problem, or null. */
export function recordChecker({ sweep, scenario, keys }: Outline) {
  // Identical cells share their runs, whose values are those of one of them.
  const cells = new Map<string, Cell[]>();
  for (const cell of generateCells(sweep, scenario.seed)) {
    const key = keys[cell.number - 1]!;
    const known = cells.get(key);
    if (known) known.push(cell);
    else cells.set(key, [cell]);
  }
  return (record: unknown, key: string, replicate: number): string | null => {
    if (!Value.Check(Kept, record)) return 'not a run record';
    const kept = record as unknown as RunRecord;
    const found = { replicate: kept.replicate, seed: kept.seed, values: kept.values };
    const problems = (cells.get(key) ?? []).map(({ seed, values }) => {
      const columns = sweep.factors.map((factor, at) => [getColumn(factor), values[at]!]);
      const own = { replicate, seed: formatSeed(seed, replicate) };
      const difference = jsonDifference(found, { ...own, values: Object.fromEntries(columns) });
      return difference && `${difference.path} is ${difference.a}; expected ${difference.b}`;
    });
    return problems.includes(null) ? null : (problems[0] ?? 'not a run of the sweep');
  };
}
