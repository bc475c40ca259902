/** What a sweep keeps of a finished run: nothing that differs when the run is done again. */

import type { Measures } from '../measure/dictionary.js';
import { brokenText, type Outcome } from '../run/jobs/index.js';
import type { Verdict } from '../run/result.js';
import type { Sweep } from '../scenario/schema/sweep.js';
import type { RuleViolation } from '../world/virtual/watch.js';
import { columnOf } from './design.js';
import type { FactorValue } from './hypercube.js';
import type { SweepTask } from './plan.js';

/** runs/<run>.json */
export interface RunRecord {
  run: number;
  cell: number;
  replicate: number;
  seed: string;
  /** Of each factor, by its column. */
  values: Record<string, FactorValue>;
  verdict: Verdict | 'error';
  digest: string | null;
  log_digest: string | null;
  broken: RuleViolation | null;
  error: { kind: 'scenario' | 'crash'; message: string } | null;
  entries: number | null;
  events: number | null;
  virtual_ms: number | null;
  /** Requests that were not done, by reason. */
  refused: Record<string, number>;
  measures: Measures | null;
}

export function recordOf(sweep: Sweep, task: SweepTask, outcome: Outcome): RunRecord {
  const { run, cell, replicate, seed } = task;
  const columns = sweep.factors.map((factor, index) => [columnOf(factor), cell.values[index]!]);
  const values = Object.fromEntries(columns) as RunRecord['values'];
  const about = { run, cell: cell.number, replicate, seed, values };
  if ('failure' in outcome) {
    const { kind, message } = outcome.failure;
    return { ...about, verdict: 'error', error: { kind, message }, ...nothing };
  }
  const { verdict, digest, log_digest, broken, entries, events, virtual_ms } = outcome.result;
  const { refused, measures } = outcome.result;
  const figures = { digest, log_digest, broken, entries, events, virtual_ms, refused, measures };
  return { ...about, verdict, error: null, ...figures };
}

const nothing = {
  digest: null,
  log_digest: null,
  broken: null,
  entries: null,
  events: null,
  virtual_ms: null,
  refused: {},
  measures: null,
} as const;

/** A failure is what ends a sweep; a run without progress is a result like any other. */
export type FailureKind = 'safety' | 'scenario' | 'crash';

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
