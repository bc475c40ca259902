/** runs.csv and summary.csv, made in one pass each over the finished runs, in their order. */
import { CsvFile } from '../../report/csv-file.js';
import { type MeasureName, measures, type sweepTables } from '../measure/dictionary.js';
import { columnOf } from './design.js';
import type { SweepFolder } from './folder.js';
import type { Plan } from './plan.js';
import type { RunRecord } from './record.js';
import { Sample } from './statistics.js';

const measureNames = Object.keys(measures) as MeasureName[];
type Column<T extends keyof typeof sweepTables> = keyof (typeof sweepTables)[T];

/** Factors and measures come between these two. */
const runLead = ['run', 'cell', 'replicate', 'seed'] as const satisfies Column<'runs.csv'>[];
const runEnd = ['verdict', 'digest'] as const satisfies Column<'runs.csv'>[];
const figures = ['n', 'mean', 'sd', 'low', 'high'] as const satisfies Column<'summary.csv'>[];

type Cell = string | number | null;

/** @param each is shown every record on the way. */
export function writeTables(
  folder: SweepFolder,
  plan: Plan,
  each: (record: RunRecord) => void,
): void {
  const varied = plan.sweep.factors.map(columnOf);
  const runs = [...runLead, ...varied, ...measureNames, ...runEnd];
  new CsvFile(folder.path, 'runs.csv', runs).finishWith(runRows(folder, plan, each));
  const summary = ['cell', ...varied, 'measure', ...figures];
  new CsvFile(folder.path, 'summary.csv', summary).finishWith(summaryRows(folder, plan));
}

function* runRows(
  folder: SweepFolder,
  { sweep, runs }: Plan,
  each: (record: RunRecord) => void,
): Generator<Cell[]> {
  const columns = sweep.factors.map(columnOf);
  for (let run = 1; run <= runs; run += 1) {
    const record = folder.read(run);
    each(record);
    const values = columns.map((column) => String(record.values[column]));
    const measured = measureNames.map((name) => record.measures?.[name] ?? null);
    const lead = runLead.map((name) => record[name]);
    yield [...lead, ...values, ...measured, record.verdict, record.digest];
  }
}

/** A run that failed says nothing about its cell: what it measured is in runs.csv only. */
function* summaryRows(folder: SweepFolder, { sweep, runs }: Plan): Generator<Cell[]> {
  const columns = sweep.factors.map(columnOf);
  for (let first = 1; first <= runs; first += sweep.replicates) {
    const samples = measureNames.map((name) => ({ name, sample: new Sample() }));
    const { cell, values } = folder.read(first);
    for (let run = first; run < first + sweep.replicates; run += 1) {
      const { verdict, measures: found } = folder.read(run);
      if (verdict === 'safety' || !found) continue;
      for (const { name, sample } of samples) {
        const value = found[name];
        if (value !== null) sample.add(value);
      }
    }
    const shown = columns.map((column) => String(values[column]));
    for (const { name, sample } of samples) {
      const statistics = sample.statistics();
      yield [cell, ...shown, name, ...figures.map((figure) => statistics[figure])];
    }
  }
}
