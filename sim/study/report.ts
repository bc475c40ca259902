/**
 * Report of a study from the runs made so far, whether its sweep is finished, stopped by a limit
 * or under way: effects, the correlation of errors, and the amounts spent.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from '../../engine/protocol/bundled/typebox.js';
import { canonical } from '../../engine/protocol/canonical.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { readJson } from '../../report/folder.js';
import { type Amount, readSpending, SPENDING_FILE } from '../agents/deciders/ledger.js';
import { complete } from '../scenario/complete.js';
import type { Problem } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { StudyEffect } from '../scenario/schema/study.js';
import { getColumn } from '../sweep/design.js';
import { parseRunName, readJsonFile, type SweepHead } from '../sweep/folder.js';
import { sweepDataError } from '../sweep/messages.js';
import { getMeasure, type RunRecord } from '../sweep/runs.js';
import { adjustEffects, type EffectFigures, estimateEffect, type Observation } from './effects.js';
import { describeEffect, expectStudy, factorAt, responseOf } from './plan.js';
import { findDetectable } from './power.js';

export interface ReportedEffect extends EffectFigures {
  name: string;
  response: string;
  p_holm: number;
  /** True if the effect is shown at the study's familywise error. */
  shown: boolean;
  /** Smallest differences from the first rate that the runs made could have shown. */
  detectable: { up: number | null; down: number | null };
}

export interface StudyReport {
  planned: number;
  completed: number;
  /** SHA-256 of the registration that the sweep obeys, or null. */
  registered: string | null;
  error: number;
  power: number;
  effects: ReportedEffect[];
  spent: Amount;
}

/** @throws {StoreError} if the folder holds no sweep. @throws {ScenarioError} without a study. */
export function reportStudy(folder: string): StudyReport {
  const head = readHead(folder);
  const sweep = head.scenario.sweep!;
  const study = expectStudy({ sweep });
  const records = readRecords(folder, head.scenario);
  const effects = study.effects.map((effect) => ({
    name: describeEffect(sweep, effect),
    response: responseOf(sweep, effect),
    ...estimate(records, head.scenario, effect),
  }));
  const wanted = { error: study.error / effects.length, power: study.power };
  const file = join(folder, SPENDING_FILE);
  return {
    planned: head.runs,
    completed: records.length,
    registered: head.registered ?? null,
    ...{ error: study.error, power: study.power },
    effects: adjustEffects(effects).map((effect) => {
      const { mean, clusters } = effect.arms[0];
      const isRate = mean !== null && mean >= 0 && mean <= 1;
      const detectable = isRate ? findDetectable(mean, clusters, wanted) : { up: null, down: null };
      return { ...effect, shown: effect.p_holm <= study.error, detectable };
    }),
    spent: existsSync(file) ? readSpending(file) : { tokens: 0, money: 0 },
  };
}

function readHead(folder: string): SweepHead {
  const head = readJson<Partial<SweepHead> | null>(folder, 'sweep.json');
  const read = complete(head?.scenario);
  if (!('problems' in read)) return head as SweepHead;
  const [{ path, text }] = read.problems as [Problem];
  const reason = `scenario.${path.join('.')} ${text}`;
  throw sweepDataError('SWEEP_FILE_INVALID', { path: join(folder, 'sweep.json'), reason });
}

/**
 * Reads the runs whose values are those of a cell of the sweep, in order of their names.
 * @throws {StoreError} `CORRUPT` if a file is not the run that it is named after, or two are one.
 */
export function readRecords(folder: string, { sweep }: Scenario): RunRecord[] {
  const runs = join(folder, 'runs');
  const names = existsSync(runs) ? readdirSync(runs).filter(parseRunName).sort() : [];
  const seen = new Map<string, string>();
  return names.flatMap((name) => {
    const path = join(runs, name);
    const record = readJsonFile(path);
    const refuse = (reason: string) => sweepDataError('RUN_FILE_INVALID', { path, reason });
    const problem = checkRecord(record);
    if (problem) throw refuse(`${problem.pointer} ${problem.message}`.trim());
    const { values, replicate, seed } = record as RunRecord;
    if (replicate !== parseRunName(name)!.replicate) throw refuse(`replicate is ${replicate}`);
    const run = canonical({ values, seed });
    const other = seen.get(run);
    if (other !== undefined) throw refuse(`repeats ${other}`);
    seen.set(run, name);
    const isOurs = sweep!.factors.every((factor) => {
      const own = values[getColumn(factor)];
      return own !== undefined && (!factor.values || factor.values.includes(own));
    });
    return isOurs ? [record as RunRecord] : [];
  });
}

const Figures = Type.Record(Type.String(), Type.Union([Type.Number(), Type.Null()]));
const checkRecord = validator(
  'study_run',
  Type.Object({
    replicate: Type.Integer({ minimum: 1 }),
    seed: Type.String(),
    verdict: Type.String(),
    values: Type.Record(Type.String(), Type.Unknown()),
    measures: Type.Union([Figures, Type.Null()]),
    reported: Type.Object({ run: Figures, groups: Type.Record(Type.String(), Figures) }),
  }),
);

/** Estimates an effect over all other factors. Runs are paired by seed and these factors. */
function estimate(
  records: readonly RunRecord[],
  { sweep }: Scenario,
  effect: StudyEffect,
): EffectFigures {
  const { factors, study } = sweep!;
  const columns = factors.map(getColumn);
  const own = columns[factorAt(sweep!, effect.factor, 'sweep.study')]!;
  const { cluster } = study!;
  const question = cluster === undefined ? null : columns[factorAt(sweep!, cluster, 'cluster')]!;
  const response = responseOf(sweep!, effect);
  const arms = effect.between.map((value) =>
    records
      .filter(({ values }) => values[own] === value)
      .map((record): Observation => {
        const others = columns.filter((name) => name !== own).map((name) => record.values[name]);
        const pair = JSON.stringify([record.seed, others]);
        const by = question === null ? pair : String(record.values[question]);
        return { pair, cluster: by, value: getMeasure(record, response) };
      }),
  );
  return estimateEffect(arms[0]!, arms[1]!);
}
