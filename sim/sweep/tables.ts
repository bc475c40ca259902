/**
 * Writes a finished sweep's tables in several passes over its runs: runs.csv, run_groups.csv,
 * summary.csv, differences.csv and indices.csv.
 */
import {
  getBounds,
  isMeasure,
  type MeasureName,
  measures,
  OWN,
} from '../../report/shared/measures.js';
import { CsvFile } from '../../report/tables.js';
import { type sweepTables, tables } from '../measure/dictionary.js';
import type { Level } from '../numbers.js';
import { type Cell, findBaseline, getColumn } from './design.js';
import { computeIndices } from './indices.js';
import type { Outline } from './plan.js';
import {
  collectValues,
  type FinishedSweep,
  getIntervalKind,
  getMeasure,
  getReported,
  type RunRecord,
} from './runs.js';
import {
  boundsOfMean,
  clampInterval,
  computeStatistics,
  Sample,
  type Statistics,
  subtractRounded,
} from './statistics.js';
import { allResponses, getLevel } from './stopping.js';

/** @param each called for every record. */
export function writeTables(
  path: string,
  sweep: FinishedSweep,
  each: (record: RunRecord, cell: Cell) => void,
): void {
  const own = ownMeasures(sweep);
  const names = [...measureNames, ...own.run];
  const factors = factorColumns(sweep.plan);
  const columns = [...lead, ...factors, ...names, ...end];
  new CsvFile(path, 'runs.csv', columns).finishWith(runRows(sweep, own, each));
  const { group: _, ...measured } = tables['groups.csv'];
  const inGroup = Object.keys(measured) as (keyof typeof measured)[];
  const groups = [...groupLead, ...inGroup, ...own.groups];
  new CsvFile(path, 'run_groups.csv', groups).finishWith(groupRows(sweep, inGroup, own));
  const summary = ['cell', ...factors, 'measure', ...figures, ...gaps];
  new CsvFile(path, 'summary.csv', summary).finishWith(summaryRows(sweep, names));
  const { sweep: plan, scenario } = sweep.plan;
  const baseline = findBaseline(plan, scenario.seed);
  if (baseline) {
    const rows = differenceRows(sweep, baseline, names);
    new CsvFile(path, 'differences.csv', summary).finishWith(rows);
  }
  if (plan.design !== 'morris' && plan.design !== 'sobol') return;
  new CsvFile(path, 'indices.csv', indexColumns).finishWith(indexRows(sweep));
}

const figures = ['n', 'mean', 'sd', 'low', 'high', 'interval'] as const;
const gaps = ['missing', 'mean_least', 'mean_most'] as const;
[...figures, ...gaps] satisfies readonly Column<'summary.csv' | 'differences.csv'>[];

/** Share of runs that passed. */
const PASSED = 'passed';

function* summaryRows(
  { plan, cells }: FinishedSweep,
  names: readonly string[],
): Generator<CsvCell[]> {
  const level = getLevel(plan.sweep);
  const ways = new Set<string>();
  for (const { records } of cells()) for (const one of whole(records)) ways.add(one.ended_by!);
  const endings = [...ways].sort();
  for (const { cell, records } of cells()) {
    const lead = [cell.number, ...shownValues(cell)];
    for (const name of names) {
      const values = records.map((record) => getMeasure(record, name));
      const sample = Sample.of(values.filter((value) => value !== null));
      const { least, most } = endsOf(name);
      const found = clampInterval(
        computeStatistics(sample, getIntervalKind(name), level),
        least,
        most,
      );
      yield [...lead, name, ...shown(found), ...gapsIn(values, least, most)];
    }
    yield [...lead, PASSED, ...shareOf(records, level, ({ verdict }) => verdict === 'pass')];
    for (const way of endings) {
      yield [...lead, `ended_by.${way}`, ...shareOf(records, level, (one) => one.ended_by === way)];
    }
  }
}

const whole = (records: readonly RunRecord[]) =>
  records.filter(({ verdict }) => verdict !== 'safety' && verdict !== 'error');

/** Returns the number of runs without a value, and bounds on the mean over all runs. */
function gapsIn(values: readonly (number | null)[], least: number, most: number): CsvCell[] {
  const ranges = values.map((value) => ({ low: value ?? least, high: value ?? most }));
  const { mean_least, mean_most } = boundsOfMean(ranges);
  return [values.filter((value) => value === null).length, mean_least, mean_most];
}

/** Computes a share among the runs that did not fail. */
function shareOf(
  records: readonly RunRecord[],
  level: Level,
  is: (record: RunRecord) => boolean,
): CsvCell[] {
  const known = new Set(whole(records));
  const values = records.map((record) => (known.has(record) ? Number(is(record)) : null));
  const sample = Sample.of(values.filter((value) => value !== null));
  return [...shown(computeStatistics(sample, 'share', level)), ...gapsIn(values, 0, 1)];
}

const shown = (found: Statistics): CsvCell[] => figures.map((figure) => found[figure]);

/** Leading columns. The factor and measure columns follow them. */
const lead = ['run', 'cell', 'replicate', 'seed'] as const satisfies Column<'runs.csv'>[];
const end = [
  ...(['verdict', 'ended_by', 'digest', 'trace_digest', 'file'] as const),
] as const satisfies Column<'runs.csv'>[];
const groupLead = ['cell', 'replicate', 'group'] as const satisfies Column<'run_groups.csv'>[];

function* runRows(
  { plan, cells }: FinishedSweep,
  own: OwnMeasures,
  each: (record: RunRecord, cell: Cell) => void,
): Generator<CsvCell[]> {
  for (const { cell, runsBefore, records } of cells()) {
    const { number } = cell;
    for (const record of records) {
      each(record, cell);
      const { replicate, seed, verdict, ended_by, digest, trace_digest, measures } = record;
      const file = `${plan.keys[number - 1]}-${replicate}.json`;
      yield [
        ...[runsBefore + replicate, number, replicate, seed, ...shownValues(cell)],
        ...measureNames.map((name) => measures?.[name] ?? null),
        ...own.run.map((name) => getReported(record, name)),
        ...[verdict, ended_by, digest, trace_digest, file],
      ];
    }
  }
}

function* groupRows<T extends string>(
  { cells }: FinishedSweep,
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

/**
 * Yields each cell's differences from the baseline, paired by replicate. Both runs in a pair use
 * the same seed (common random numbers), so that shared random variation cancels.
 */
function* differenceRows(
  sweep: FinishedSweep,
  baseline: Cell,
  names: readonly string[],
): Generator<CsvCell[]> {
  const there = sweep.recordsOf(baseline.number);
  const level = getLevel(sweep.plan.sweep);
  for (const { cell, records } of sweep.cells()) {
    if (cell.number === baseline.number) continue;
    for (const name of names) {
      const pairs = pairsOf(records, there, name);
      const sample = Sample.of(pairs.flatMap(({ a, b }) => known(a, b)));
      const { least, most } = endsOf(name);
      // The difference between two shares is from -1 to 1. Other bounded measures are similar.
      const span = most - least;
      const found = clampInterval(computeStatistics(sample, 't_skew', level), -span, span);
      yield [cell.number, ...shownValues(cell), name, ...shown(found), ...gapsInPairs(pairs, name)];
    }
  }
}

/** Measure for a replicate in both cells; null if missing. */
interface Pair {
  a: number | null;
  b: number | null;
}

function pairsOf(records: readonly RunRecord[], there: readonly RunRecord[], name: string): Pair[] {
  return records.flatMap((record, index) => {
    const other = there[index];
    return other ? [{ a: getMeasure(record, name), b: getMeasure(other, name) }] : [];
  });
}

const known = (a: number | null, b: number | null): number[] =>
  a === null || b === null ? [] : [subtractRounded(a, b)];

/** Returns the number of incomplete pairs, and bounds on the mean over all pairs. */
function gapsInPairs(pairs: readonly Pair[], name: string): CsvCell[] {
  const { least, most } = endsOf(name);
  const ranges = pairs.map(({ a, b }) => {
    return {
      low: subtractRounded(a ?? least, b ?? most),
      high: subtractRounded(a ?? most, b ?? least),
    };
  });
  const { mean_least, mean_most } = boundsOfMean(ranges);
  return [pairs.filter(({ a, b }) => a === null || b === null).length, mean_least, mean_most];
}

const indexFigures = ['n', 'value', 'low', 'high'] as const;
const indexGaps = ['missing', 'with_least', 'with_most'] as const;
const indexColumns = ['response', 'factor', 'index', ...indexFigures, ...indexGaps] as const;
indexColumns satisfies readonly Column<'indices.csv'>[];

function* indexRows(finished: FinishedSweep): Generator<CsvCell[]> {
  const { sweep, scenario } = finished.plan;
  const { factors, responses } = sweep;
  const means = meansOf(finished);
  for (const [at, response] of responses.entries()) {
    const values = means[at]!;
    const filled = filledWith(values, response).map((filling) =>
      computeIndices(sweep, scenario.seed, response, filling),
    );
    for (const [place, row] of computeIndices(sweep, scenario.seed, response, values).entries()) {
      const { factor, index, n, value, low, high } = row;
      const [least = row, most = row] = filled.map((rows) => rows[place]!);
      const lead = [response, getColumn(factors[factor]!), index, n, value, low, high];
      yield [...lead, least.n - n, least.value, most.value];
    }
  }
}

/**
 * Replaces missing means with the measure's bounds, or with the observed extremes if the measure is
 * unbounded. Returns an empty list if no mean is missing.
 */
function filledWith(values: readonly (number | null)[], response: string): (number | null)[][] {
  const known = values.filter((value) => value !== null);
  if (known.length === values.length) return [];
  const { least, most } = endsOf(response);
  const { least: smallest = 0, most: largest = 0 } = Sample.of(known).moments() ?? {};
  const ends = Number.isFinite(most) ? [least, most] : [smallest, largest];
  return ends.map((end) => values.map((value) => value ?? end));
}

/** Computes the mean over each cell's runs, per response. */
function meansOf({ plan, cells }: FinishedSweep): (number | null)[][] {
  const { responses } = plan.sweep;
  const means = responses.map((): (number | null)[] => []);
  for (const { records } of cells()) {
    for (const [at, response] of responses.entries()) {
      means[at]!.push(Sample.of(collectValues(records, response)).moments()?.mean ?? null);
    }
  }
  return means;
}

interface OwnMeasures {
  /** Column names, including the prefix. */
  run: string[];
  groups: string[];
}

/** Lists the script measures of runs, among them all responses, and those of groups. */
function ownMeasures({ plan, cells }: FinishedSweep): OwnMeasures {
  const run = new Set(allResponses(plan.sweep).filter((name) => !isMeasure(name)));
  const groups = new Set<string>();
  for (const { records } of cells()) {
    for (const { reported } of records) {
      for (const name of Object.keys(reported.run)) run.add(OWN + name);
      for (const of of Object.values(reported.groups)) {
        for (const name of Object.keys(of)) groups.add(OWN + name);
      }
    }
  }
  return { run: [...run].sort(), groups: [...groups].sort() };
}

type CsvCell = string | number | null;
type Column<T extends keyof typeof sweepTables> = keyof (typeof sweepTables)[T] & string;

const measureNames = Object.keys(measures) as MeasureName[];

const factorColumns = ({ sweep }: Outline): string[] => sweep.factors.map(getColumn);

const shownValues = ({ values }: Cell): string[] => values.map(String);

function endsOf(name: string): { least: number; most: number } {
  const { least, most } = getBounds(name);
  return { least, most: most ?? Number.POSITIVE_INFINITY };
}
