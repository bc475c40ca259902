/**
 * differences.csv: how far each cell is from the baseline, replicate by replicate. Both have the
 * same seed there, so that what chance does to both cancels (common random numbers).
 */
import { CsvFile } from '../../../report/csv-file.js';
import { boundsOf } from '../../../report/shared/measures/titles.js';
import { baselineOf } from '../design/baseline.js';
import type { Cell } from '../design/cells.js';
import { measured, type RunRecord } from '../record.js';
import type { Finished } from '../runs.js';
import { bounded, statisticsOf } from '../statistics/interval.js';
import { Sample } from '../statistics/sample.js';
import { levelOf } from '../stopping.js';
import { type Column, type CsvCell, factorColumns, shownValues } from './columns.js';

const figures = ['n', 'mean', 'sd', 'low', 'high', 'interval'] as const;
figures satisfies readonly Column<'differences.csv'>[];

/** Nothing where there is no baseline. */
export function writeDifferences(path: string, sweep: Finished, names: readonly string[]): void {
  const baseline = baselineOf(sweep.plan.sweep, sweep.plan.scenario.seed);
  if (!baseline) return;
  const columns = ['cell', ...factorColumns(sweep.plan), 'measure', ...figures];
  const rows = differenceRows(sweep, baseline, names);
  new CsvFile(path, 'differences.csv', columns).finishWith(rows);
}

function* differenceRows(
  sweep: Finished,
  baseline: Cell,
  names: readonly string[],
): Generator<CsvCell[]> {
  const there = sweep.recordsOf(baseline.number);
  const level = levelOf(sweep.plan.sweep);
  for (const { cell, records } of sweep.cells()) {
    if (cell.number === baseline.number) continue;
    for (const name of names) {
      const sample = Sample.of(differences(records, there, name));
      const found = bounded(statisticsOf(sample, 't_skew', level), -spanOf(name), spanOf(name));
      const shown = figures.map((figure) => found[figure]);
      yield [cell.number, ...shownValues(cell), name, ...shown];
    }
  }
}

/** No difference of two shares is beyond -1 and 1, and so with whatever has two ends. */
function spanOf(name: string): number {
  const { least, most } = boundsOf(name);
  return most === null ? Number.POSITIVE_INFINITY : most - least;
}

/** Of the pairs in which both could be said. */
function differences(
  records: readonly RunRecord[],
  there: readonly RunRecord[],
  name: string,
): number[] {
  return records.flatMap((record, index) => {
    const other = there[index];
    const [a, b] = [measured(record, name), other ? measured(other, name) : null];
    return a === null || b === null ? [] : [a - b];
  });
}
