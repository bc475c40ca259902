/** The report of a sweep: indices of its factors, and differences from its baseline. */
import { type Html, html } from '../../report/html.js';
import { section, table } from '../../report/page.js';
import { has, numberOf, type TableRow, tableRows } from '../../report/read.js';
import { differenceText, measureTitle } from '../../report/shared/measures/titles.js';
import { shown } from '../../report/shared/numbers.js';

const MOST_ROWS = 300;
const number = (name: string) => ({ name, kind: 'number' }) as const;

async function rowsIn(folder: string, name: string, wanted: (row: TableRow) => boolean) {
  const rows: TableRow[] = [];
  if (!has(folder, name)) return rows;
  for await (const row of tableRows(folder, name)) {
    if (wanted(row)) rows.push(row);
    if (rows.length === MOST_ROWS) break;
  }
  return rows;
}

const figure = (row: TableRow, name: string) => shown(numberOf(row[name]));

const interval = ({ low, high }: TableRow): string =>
  low === '' || high === '' ? '–' : `${shown(numberOf(low))} to ${shown(numberOf(high))}`;

const differences = ({ measure, low, high }: TableRow): string => {
  const said = (text: string | undefined) => differenceText(measure!, numberOf(text));
  return low === '' || high === '' ? '–' : `${said(low)} to ${said(high)}`;
};

/** Samples that were left out, and the index with the extremes in their place. */
const gapColumns = [number('missing'), { name: 'if the missing are least to most' }];

const gap = (row: TableRow): string[] => {
  const { missing = '0' } = row;
  const ends = ['with_least', 'with_most'].map((name) => figure(row, name));
  return missing === '0' || missing === '' ? ['0', '–'] : [missing, ends.join(' to ')];
};

const saysOf = {
  morris: `What one step of a factor changes, per whole range of it: the mean, where signs cancel,
the mean of the sizes, and the deviation, which is large where it depends on the other factors.`,
  sobol: `The share of the variance of a response that a factor accounts for by itself (first), and
with all that it has to do with (total). What is in no factor's total is chance.`,
} as const;

/** Null for designs that have none. */
export async function indicesSection(folder: string, design: string): Promise<Html | null> {
  if (design !== 'morris' && design !== 'sobol') return null;
  const rows = await rowsIn(folder, 'indices.csv', () => true);
  const cells = rows.map((row) => [
    ...[measureTitle(row.response!), row.factor!, row.index!, figure(row, 'value'), interval(row)],
    ...[figure(row, 'n'), ...gap(row)],
  ]);
  const names = [{ name: 'response' }, { name: 'factor' }, { name: 'index' }];
  const columns = [
    ...names,
    number('value'),
    { name: '95 % interval' },
    number('n'),
    ...gapColumns,
  ];
  const title = 'Indices of the factors';
  return section('Indices', html`<p>${saysOf[design]}</p>\n`, table(title, columns, cells));
}

/** Null where there is no baseline. */
export async function differencesSection(
  folder: string,
  columns: readonly string[],
  responses: ReadonlySet<string>,
): Promise<Html | null> {
  const rows = await rowsIn(folder, 'differences.csv', ({ measure }) => responses.has(measure!));
  if (rows.length === 0) return null;
  const cells = rows.map((row) => [
    ...[row.cell!, ...columns.map((name) => row[name]!), measureTitle(row.measure!)],
    ...[
      differenceText(row.measure!, numberOf(row.mean)),
      differences(row),
      figure(row, 'n'),
      row.missing || '0',
    ],
  ]);
  const heads = [number('cell'), ...columns.map((name) => ({ name })), { name: 'measure' }];
  const all = [
    ...heads,
    number('difference'),
    { name: '95 % interval' },
    number('n'),
    number('missing'),
  ];
  const says = html`<p>Of each cell less the baseline, replicate by replicate: they share their seed
there, so what chance does to both cancels. No interval: all differences are the same.</p>\n`;
  return section('Differences from the baseline', says, table('Paired differences', all, cells));
}
