/** summary.csv: what is known of each measure in each cell. */
import { CsvFile } from '../../../report/csv-file.js';
import { boundsOf } from '../../../report/shared/measures/titles.js';
import { intervalKindOf, type RunRecord } from '../record.js';
import { type Finished, valuesIn } from '../runs.js';
import { bounded, type Statistics, statisticsOf } from '../statistics/interval.js';
import { Sample } from '../statistics/sample.js';
import type { Level } from '../statistics/student.js';
import { levelOf } from '../stopping.js';
import { type Column, type CsvCell, factorColumns, shownValues } from './columns.js';

const figures = ['n', 'mean', 'sd', 'low', 'high', 'interval'] as const;
figures satisfies readonly Column<'summary.csv'>[];

/** The share of runs that passed. */
const PASSED = 'passed';

export function writeSummary(path: string, sweep: Finished, names: readonly string[]): void {
  const columns = ['cell', ...factorColumns(sweep.plan), 'measure', ...figures];
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
      const sample = Sample.of(valuesIn(records, name));
      const { least, most } = boundsOf(name);
      const found = bounded(
        statisticsOf(sample, intervalKindOf(name), level),
        least,
        most ?? Number.POSITIVE_INFINITY,
      );
      yield [...lead, name, ...shown(found)];
    }
    yield [...lead, PASSED, ...shareOf(records, level, ({ verdict }) => verdict === 'pass')];
    for (const way of endings) {
      yield [...lead, `ended_by.${way}`, ...shareOf(records, level, (one) => one.ended_by === way)];
    }
  }
}

const whole = (records: readonly RunRecord[]) =>
  records.filter(({ verdict }) => verdict === 'pass' || verdict === 'no_progress');

/** Of the runs of a cell that did not fail. */
function shareOf(
  records: readonly RunRecord[],
  level: Level,
  is: (record: RunRecord) => boolean,
): CsvCell[] {
  const sample = Sample.of(whole(records).map((record) => Number(is(record))));
  return shown(statisticsOf(sample, 'share', level));
}

const shown = (found: Statistics): CsvCell[] => figures.map((figure) => found[figure]);
