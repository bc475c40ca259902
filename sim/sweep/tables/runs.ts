/** runs.csv and run_groups.csv: a row for each run, and for each group of each run. */
import { CsvFile } from '../../../report/csv-file.js';
import { tables } from '../../measure/dictionary.js';
import type { Cell } from '../design/cells.js';
import { OWN, type RunRecord } from '../record.js';
import type { Finished } from '../runs.js';
import { type Column, type CsvCell, factorColumns, measureNames, shownValues } from './columns.js';
import type { OwnMeasures } from './own.js';

/** Factors and measures come between these. */
const lead = ['run', 'cell', 'replicate', 'seed'] as const satisfies Column<'runs.csv'>[];
const end = ['verdict', 'ended_by', 'digest', 'file'] as const satisfies Column<'runs.csv'>[];
const groupLead = ['cell', 'replicate', 'group'] as const satisfies Column<'run_groups.csv'>[];

/** @param each is shown every record on the way. */
export function writeRuns(
  path: string,
  sweep: Finished,
  own: OwnMeasures,
  each: (record: RunRecord, cell: Cell) => void,
): void {
  const measures = [...measureNames, ...own.run];
  const columns = [...lead, ...factorColumns(sweep.plan), ...measures, ...end];
  new CsvFile(path, 'runs.csv', columns).finishWith(runRows(sweep, own, each));
  const { group: _, ...measured } = tables['groups.csv'];
  const names = Object.keys(measured) as (keyof typeof measured)[];
  const groups = [...groupLead, ...names, ...own.groups];
  new CsvFile(path, 'run_groups.csv', groups).finishWith(groupRows(sweep, names, own));
}

function* runRows(
  { plan, cells }: Finished,
  own: OwnMeasures,
  each: (record: RunRecord, cell: Cell) => void,
): Generator<CsvCell[]> {
  for (const { cell, runsBefore, records } of cells()) {
    const { number } = cell;
    for (const record of records) {
      each(record, cell);
      const { replicate, seed, verdict, ended_by, digest, measures, reported } = record;
      const found = [
        ...measureNames.map((name) => measures?.[name] ?? null),
        ...own.run.map((name) => reported.run[name.slice(OWN.length)] ?? null),
      ];
      const file = `${plan.keys[number - 1]}-${replicate}.json`;
      const begin = [runsBefore + replicate, number, replicate, seed];
      yield [...begin, ...shownValues(cell), ...found, verdict, ended_by, digest, file];
    }
  }
}

function* groupRows<T extends string>(
  { cells }: Finished,
  names: readonly (T & keyof RunRecord['groups'][number])[],
  own: OwnMeasures,
): Generator<CsvCell[]> {
  for (const { cell, records } of cells()) {
    for (const { replicate, groups, reported } of records) {
      for (const row of groups) {
        const of = reported.groups[String(row.group)] ?? {};
        const found = own.groups.map((name) => of[name.slice(OWN.length)] ?? null);
        yield [cell.number, replicate, row.group, ...names.map((name) => row[name]), ...found];
      }
    }
  }
}
