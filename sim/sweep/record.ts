/** What a sweep keeps of a finished run: nothing that differs when the run is done again. */
import { measureKinds } from '../../report/shared/measures/kinds.js';
import { measures as dictionary, type MeasureName, type Measures } from '../measure/dictionary.js';
import { brokenText, type Failure, type Lasting, type Outcome } from '../run/jobs/index.js';
import type { EndedBy, SimResult, Verdict } from '../run/result.js';
import type { Sweep } from '../scenario/schema/sweep.js';
import type { RuleViolation } from '../world/virtual/watch.js';
import { columnOf } from './design/cells.js';
import type { FactorValue } from './design/place.js';
import type { SweepTask } from './plan.js';
import { type IntervalKind, kindOf } from './statistics/interval.js';

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

export function recordOf(sweep: Sweep, task: SweepTask, outcome: Outcome<Lasting>): RunRecord {
  const { cell, replicate, seed, audit = true } = task;
  const columns = sweep.factors.map((factor, index) => [columnOf(factor), cell.values[index]!]);
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
export function measured(record: RunRecord, name: string): number | null {
  const { verdict, measures, reported } = record;
  if (verdict === 'safety' || !measures) return null;
  if (name.startsWith(OWN)) return reported.run[name.slice(OWN.length)] ?? null;
  return measures[name as MeasureName] ?? null;
}

/** What a script reports may be anything; if it is never negative, that is seen. */
export const intervalKindOf = (name: string): IntervalKind =>
  kindOf(name in dictionary ? measureKinds[name as MeasureName] : 'mean');

/** A failure is what ends a sweep; a run without progress is a result like any other. */
export type FailureKind = 'scenario' | 'unanswered' | 'crash' | 'safety' | 'differs';

/** Null unless the run failed. */
export function failureOf({
  verdict,
  broken,
  error,
}: Pick<RunRecord, 'verdict' | 'broken' | 'error'>) {
  if (error) return error satisfies { kind: FailureKind };
  if (verdict !== 'safety') return null;
  return { kind: 'safety' as const, message: brokenText(broken!) };
}
