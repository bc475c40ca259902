/**
 * differences.csv: how far each cell is from the baseline, replicate by replicate. Both have the
 * same seed there, so that what chance does to both cancels (common random numbers).
 */
import { CsvFile } from '../../../report/csv-file.js';
import { baselineOf } from '../design/baseline.js';
import type { Cell } from '../design/cells.js';
import { measured, type RunRecord } from '../record.js';
import type { Finished } from '../runs.js';
import { bounded, boundsOfMean, statisticsOf } from '../statistics/interval.js';
import { differenceOf, Sample } from '../statistics/sample.js';
import { levelOf } from '../stopping.js';
import { type Column, type CsvCell, endsOf, factorColumns, shownValues } from './columns.js';

const figures = ['n', 'mean', 'sd', 'low', 'high', 'interval'] as const;
const gaps = ['missing', 'mean_least', 'mean_most'] as const;
[...figures, ...gaps] satisfies readonly Column<'differences.csv'>[];

/** Nothing where there is no baseline. */
export function writeDifferences(path: string, sweep: Finished, names: readonly string[]): void {
  const baseline = baselineOf(sweep.plan.sweep, sweep.plan.scenario.seed);
  if (!baseline) return;
  const columns = ['cell', ...factorColumns(sweep.plan), 'measure', ...figures, ...gaps];
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
      const pairs = pairsOf(records, there, name);
      const sample = Sample.of(pairs.flatMap(({ a, b }) => known(a, b)));
      const span = spanOf(name);
      const found = bounded(statisticsOf(sample, 't_skew', level), -span, span);
      const shown = figures.map((figure) => found[figure]);
      yield [cell.number, ...shownValues(cell), name, ...shown, ...gapsIn(pairs, name)];
    }
  }
}

/** No difference of two shares is beyond -1 and 1; the same holds for all bounded measures. */
function spanOf(name: string): number {
  const { least, most } = endsOf(name);
  return most - least;
}

/** A replicate in both cells; null where its measure is missing. */
interface Pair {
  a: number | null;
  b: number | null;
}

function pairsOf(records: readonly RunRecord[], there: readonly RunRecord[], name: string): Pair[] {
  return records.flatMap((record, index) => {
    const other = there[index];
    return other ? [{ a: measured(record, name), b: measured(other, name) }] : [];
  });
}

const known = (a: number | null, b: number | null): number[] =>
  a === null || b === null ? [] : [differenceOf(a, b)];

/** How many pairs lack a value, and between which bounds the mean of all pairs lies. */
function gapsIn(pairs: readonly Pair[], name: string): CsvCell[] {
  const { least, most } = endsOf(name);
  const ranges = pairs.map(({ a, b }) => {
    return {
      low: differenceOf(a ?? least, b ?? most),
      high: differenceOf(a ?? most, b ?? least),
    };
  });
  const { mean_least, mean_most } = boundsOfMean(ranges);
  return [pairs.filter(({ a, b }) => a === null || b === null).length, mean_least, mean_most];
}
