/** summary.csv: what is known of each measure in each cell. */
import { CsvFile } from '../../../report/csv-file.js';
import { intervalKindOf, measured, type RunRecord } from '../record.js';
import type { Finished } from '../runs.js';
import { bounded, boundsOfMean, type Statistics, statisticsOf } from '../statistics/interval.js';
import { Sample } from '../statistics/sample.js';
import type { Level } from '../statistics/student.js';
import { levelOf } from '../stopping.js';
import { type Column, type CsvCell, endsOf, factorColumns, shownValues } from './columns.js';

const figures = ['n', 'mean', 'sd', 'low', 'high', 'interval'] as const;
const gaps = ['missing', 'mean_least', 'mean_most'] as const;
[...figures, ...gaps] satisfies readonly Column<'summary.csv'>[];

/** The share of runs that passed. */
const PASSED = 'passed';

export function writeSummary(path: string, sweep: Finished, names: readonly string[]): void {
  const columns = ['cell', ...factorColumns(sweep.plan), 'measure', ...figures, ...gaps];
  new CsvFile(path, 'summary.csv', columns).finishWith(summaryRows(sweep, names));
}

function* summaryRows({ plan, cells }: Finished, names: readonly string[]): Generator<CsvCell[]> {
  const level = levelOf(plan.sweep);
  const ways = new Set<string>();
  for (const { records } of cells()) for (const one of whole(records)) ways.add(one.ended_by!);
  const endings = [...ways].sort();
  for (const { cell, records } of cells()) {
    const lead = [cell.number, ...shownValues(cell)];
    for (const name of names) {
      const values = records.map((record) => measured(record, name));
      const sample = Sample.of(values.filter((value) => value !== null));
      const { least, most } = endsOf(name);
      const found = bounded(statisticsOf(sample, intervalKindOf(name), level), least, most);
      yield [...lead, name, ...shown(found), ...gapsIn(values, least, most)];
    }
    yield [...lead, PASSED, ...shareOf(records, level, ({ verdict }) => verdict === 'pass')];
    for (const way of endings) {
      yield [...lead, `ended_by.${way}`, ...shareOf(records, level, (one) => one.ended_by === way)];
    }
  }
}

const whole = (records: readonly RunRecord[]) =>
  records.filter(({ verdict }) => verdict === 'pass' || verdict === 'no_progress');

/** How many runs have no value, and between which bounds the mean of all runs lies. */
function gapsIn(values: readonly (number | null)[], least: number, most: number): CsvCell[] {
  const ranges = values.map((value) => ({ low: value ?? least, high: value ?? most }));
  const { mean_least, mean_most } = boundsOfMean(ranges);
  return [values.filter((value) => value === null).length, mean_least, mean_most];
}

/** Of the runs of a cell that did not fail. */
function shareOf(
  records: readonly RunRecord[],
  level: Level,
  is: (record: RunRecord) => boolean,
): CsvCell[] {
  const known = new Set(whole(records));
  const values = records.map((record) => (known.has(record) ? Number(is(record)) : null));
  const sample = Sample.of(values.filter((value) => value !== null));
  return [...shown(statisticsOf(sample, 'share', level)), ...gapsIn(values, 0, 1)];
}

const shown = (found: Statistics): CsvCell[] => figures.map((figure) => found[figure]);
