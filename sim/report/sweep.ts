/**
 * The report of a sweep: its design, how the measures answer to the factors, all cells, the indices
 * of the factors, and the differences from the baseline.
 */
import { type Chart, figure } from '../../report/figure.js';
import { hasFile, parseNumber, type TableRow, tableRows } from '../../report/folder.js';
import {
  type Content,
  code,
  facts,
  type Html,
  html,
  listing,
  madeBy,
  page,
  section,
  table,
} from '../../report/page.js';
import { format } from '../../report/shared/format.js';
import {
  differenceText,
  measureMeaning,
  measureText,
  measureTitle,
} from '../../report/shared/measures.js';
import { commandLine } from '../../report/shell.js';
import { configuration } from './sections.js';
import { heatChart, responseChart, scatterChart } from './sweep-charts.js';
import {
  assignRoles,
  type CellData,
  readSweep,
  type SweepData,
  type SweepHead,
} from './sweep-data.js';

/** Dots of all charts of a Latin hypercube together, so that the file stays small. */
const MOST_DOTS = 4_800;
const MOST_CELLS = 300;

export async function sweepReport(folder: string): Promise<string> {
  const data = await readSweep(folder);
  const { title, question } = data.head.scenario;
  const { sweep } = data.head.scenario;
  const columns = data.factors.map(({ column }) => column);
  const charts = chartsOf(data);
  return page(`Sweep: ${title}`, [
    html`<h1>${title}</h1>\n`,
    question === '' ? null : html`<p class="lead">${question}</p>\n`,
    runsBox(data),
    section('Design', designTable(data)),
    verdictsTable(data),
    missingText(data),
    charts.length > 0 ? section('Responses', charts.map(figure)) : null,
    await indicesSection(folder, sweep.design),
    await differencesSection(folder, columns, new Set(sweep.responses)),
    section('Cells', cellsTable(data)),
    data.failures > 0 ? section('Failed runs', failedTable(data)) : null,
    section('Configuration', configuration(data.head.scenario)),
    section('Do it again', again(data)),
    madeBy(data.head),
  ]);
}

function chartsOf({ head, factors, cells }: SweepData): Chart[] {
  const { design, responses } = head.scenario.sweep;
  const varied = factors.filter(({ levels }) => levels.length > 1);
  if (design !== 'grid' && design !== 'list') {
    const most = Math.max(40, Math.floor(MOST_DOTS / (responses.length * varied.length || 1)));
    const charts = responses.flatMap((measure) =>
      varied.map((factor) => scatterChart(measure, factor, cells, most)),
    );
    return charts.filter((chart) => chart !== null);
  }
  const roles = assignRoles(factors, cells);
  if (!roles) return [];
  const { x, lines } = roles;
  const rest = varied.filter((factor) => factor !== x && factor !== lines);
  const charts = responses.flatMap((measure) => [
    responseChart(measure, roles, cells),
    lines ? heatChart(measure, [x, lines], rest, cells) : null,
  ]);
  return charts.filter((chart) => chart !== null);
}

function runsBox({ head, verdicts, failures, cells }: SweepData): Html {
  const finished = [...verdicts.values()].reduce((sum, count) => sum + count, 0);
  const counted = [...verdicts].map(([verdict, count]) => `${format(count)} ${verdict}`).join(', ');
  const missing = head.runs - finished;
  const unexpected = finished - (verdicts.get(head.scenario.expect) ?? 0);
  const look = failures > 0 || missing > 0 ? ' bad' : unexpected > 0 ? ' mixed' : null;
  return html`<div class="verdict${look}">
<p><strong>${format(finished)} of ${format(head.runs)} planned runs finished</strong>, in
${format(cells.length)} cells: ${counted === '' ? 'none' : counted}.</p>
${
  missing > 0
    ? html`<p>${format(missing)} runs are missing: the sweep was not
finished.</p>`
    : null
}
${failures > 0 ? html`<p>${format(failures)} runs failed; they are listed below.</p>` : null}
${
  unexpected > failures
    ? html`<p>The scenario expects ${head.scenario.expect}. The table
below names the cells whose runs ended with another verdict.</p>`
    : null
}</div>
${fewText(head.scenario.sweep.replicates)}`;
}

/** Names the cells in which runs have another verdict than pass; null where all passed. */
function verdictsTable({ notPassed, factors, cells }: SweepData): Html | null {
  if (notPassed.size === 0) return null;
  const columns = [
    { name: 'cell', kind: 'number' },
    ...factors.map(({ column }) => ({ name: column })),
    { name: 'runs', kind: 'text' },
  ] as const;
  const found = cells.filter(({ cell }) => notPassed.has(cell));
  const rows = found
    .slice(0, MOST_CELLS)
    .map(({ cell, levels }) => [
      cell,
      ...factors.map(({ column }) => levels[column]!),
      [...notPassed.get(cell)!].map(([verdict, count]) => `${format(count)} ${verdict}`).join(', '),
    ]);
  const left = found.length - rows.length;
  return section(
    'Cells with runs that did not pass',
    table('Verdicts other than pass, by cell', columns, rows),
    left > 0 ? html`<p>${format(left)} more cells are in runs.csv.</p>` : null,
  );
}

/** Warns that means leave runs out, which may be unlike the others. */
function missingText({ head, cells }: SweepData): Html | null {
  const lines = head.scenario.sweep.responses.flatMap((measure) => {
    const lacking = cells.filter(({ missing }) => (missing.get(measure) ?? 0) > 0);
    const runs = lacking.reduce((sum, { missing }) => sum + missing.get(measure)!, 0);
    return runs === 0 ? [] : [{ measure, runs, cells: lacking.length }];
  });
  if (lines.length === 0) return null;
  const items = lines.map(
    ({ measure, runs, cells: count }) =>
      html`<li>${measureTitle(measure)} (${code(measure)}): ${format(
        runs,
      )} ${runs === 1 ? 'run' : 'runs'} in ${format(count)} ${count === 1 ? 'cell' : 'cells'}</li>`,
  );
  return html`<div class="warning"><p><strong>Some runs have no value of a response.</strong> Means,
differences and indices leave them out, and they may be unlike the others: a run in which no block
is finalized has no time to finality. The tables give bounds of the mean over all runs.</p>
<ul>${items}</ul></div>
`;
}

/** Fewer runs than these say little of their spread. */
const FEW = 5;

const fewText = (replicates: number): Html | null =>
  replicates >= FEW
    ? null
    : html`<p class="warning"><strong>${replicates === 1 ? 'One run' : `${replicates} runs`} a
cell ${replicates === 1 ? 'is' : 'are'} few.</strong> ${
        replicates === 1
          ? 'Nothing is known of their spread: there are no intervals.'
          : 'The intervals are wide, and lean on how such numbers are usually spread.'
      } Take ${FEW} or more: --replicates.</p>
`;

const designs = {
  grid: 'every combination of values',
  list: 'the nth values of all factors together',
  lhs: 'a Latin hypercube: each factor is sampled evenly over its range',
  morris: 'trajectories of Morris: one factor after another takes one step',
  sobol: 'matrices of Saltelli: shares of the variance that factors account for',
} as const;

function designTable({ head, factors }: SweepData): Html {
  const { design, replicates } = head.scenario.sweep;
  const columns = [
    { name: 'factor' },
    { name: 'in the scenario' },
    { name: 'levels', kind: 'number' },
    { name: 'values', kind: 'text' },
  ] as const;
  const rows = factors.map(({ column, path, levels, numeric }) => {
    const few = levels.length <= 12;
    const range = `${levels[0]} to ${levels.at(-1)}`;
    const values = few || !numeric ? levels.slice(0, 12).join(', ') : range;
    return [column, code(path), format(levels.length), few || numeric ? values : `${values}, …`];
  });
  return html`${facts([
    { name: 'design', value: `${design}: ${designs[design]}`, wide: true },
    { name: 'runs a cell', value: format(replicates) },
    { name: 'seed', value: code(seedOf(head)) },
  ])}
${table('What was varied', columns, rows)}`;
}

const seedOf = (head: SweepHead): string => head.seed ?? head.scenario.seed;

function cellsTable(data: SweepData): Html {
  const { head, factors, cells } = data;
  const { responses, replicates } = head.scenario.sweep;
  const number = (name: string) => ({ name, kind: 'number' }) as const;
  const columns = [
    number('cell'),
    ...factors.map(({ column }) => ({ name: column })),
    ...responses.map((name) => number(measureTitle(name))),
    { name: 'on the page', kind: 'text' } as const,
  ];
  const rows = cells
    .slice(0, MOST_CELLS)
    .map((cell) => [
      cell.cell,
      ...factors.map(({ column }) => cell.levels[column]!),
      ...responses.map((measure) => estimateText(cell, measure, replicates)),
      watchText(data, cell),
    ]);
  const left = cells.length - rows.length;
  return html`<p>The mean of the runs of each cell, and in brackets its 95 % interval, where one
can be given (docs/simulating.md says how); n where fewer than ${replicates} runs have a value, and
bounds of the mean over all runs where some have none (?: without bound). The last column has the
command that makes a run of the cell again, on the page that shows it. runs/ has the record of each
run as JSON; runs.csv names its file.</p>
${table('Means and 95 % intervals by cell', columns, rows)}
${left > 0 ? html`<p>${format(left)} more cells are in summary.csv.</p>` : null}
${facts(
  responses.map((name) => {
    return {
      name: measureTitle(name),
      value: [code(name), ': ', measureMeaning(name)],
      wide: true,
    };
  }),
)}`;
}

/** A sweep keeps no logs: one of the cell's runs is made again, and looked at meanwhile. */
function watchText(data: SweepData, cell: CellData): Content {
  const name = `how to see a run of cell ${cell.cell} on the page`;
  const command = oneRun(data, cell, '--watch=paused');
  return command === null
    ? '–'
    : html`<details><summary aria-label="${name}">how</summary>${code(command)}</details>`;
}

/** The command that makes the first run of a cell by itself; null where it has none. */
function oneRun({ seeds, factors }: SweepData, { cell, levels }: CellData, ...more: string[]) {
  const seed = seeds.get(cell);
  if (seed === undefined) return null;
  const sets = factors.flatMap(({ path, column }) => ['--set', `${path}=${levels[column]}`]);
  return commandLine('sim', 'scenario.json', '--seed', seed, ...sets, ...more);
}

function estimateText({ estimates }: CellData, measure: string, replicates: number): Content {
  const estimate = estimates.get(measure);
  if (!estimate) return '–';
  const { mean, low, high, n, missing = 0, least = null, most = null } = estimate;
  const known = low !== null && high !== null;
  const said = (value: number) => measureText(measure, value);
  const interval = known ? html` <span class="whole">[${said(low)}, ${said(high)}]</span>` : null;
  const fewer = n < replicates ? html` <span class="whole">n = ${n}</span>` : null;
  const all =
    missing === 0
      ? null
      : html` <span class="whole">${missing} missing, all: ${
          least === null ? '?' : said(least)
        } to ${most === null ? '?' : said(most)}</span>`;
  return [html`<span class="whole">${said(mean)}</span>`, interval, fewer, all];
}

function failedTable({ failed, failures, factors }: SweepData): Html {
  const columns = [
    { name: 'run', kind: 'number' },
    { name: 'cell', kind: 'number' },
    { name: 'verdict' },
    { name: 'why', kind: 'text' },
    { name: 'by itself', kind: 'text' },
  ] as const;
  const rows = failed.map(({ run, cell, seed, verdict, levels, why }) => {
    const sets = factors.flatMap(({ path, column }) => ['--set', `${path}=${levels[column]}`]);
    const alone = commandLine('sim', 'scenario.json', '--seed', seed, ...sets);
    return [run, cell, verdict, why === '' ? '–' : why, code(alone)];
  });
  const left = failures - failed.length;
  return html`${table('Runs that broke a rule or ended in an error', columns, rows)}
${left > 0 ? html`<p>${format(left)} more are in runs.csv.</p>` : null}`;
}

function again(data: SweepData): Html {
  const { head, cells } = data;
  const { replicates } = head.scenario.sweep;
  const more = ['--replicates', String(replicates), '--out', 'FOLDER'];
  const sweep = commandLine('sweep', 'scenario.json', '--seed', seedOf(head), ...more);
  const one = cells[0] ? oneRun(data, cells[0], '--out', 'RUN') : null;
  return html`<p>In the folder of this report. The whole sweep, with
${replicates} runs a cell:</p>
${listing('the command that runs the sweep again', sweep)}
${
  one !== null
    ? html`<p>One run by itself, here the first; seed and values of each are in runs.csv:</p>
${listing('the command that runs one run', one)}
<p>It keeps its log then, and the page shows it at any entry:</p>
${listing('the command that shows that run on a page', commandLine('explore', 'RUN'))}`
    : null
}`;
}

const MOST_ROWS = 300;
const number = (name: string) => ({ name, kind: 'number' }) as const;

async function rowsIn(folder: string, name: string, wanted: (row: TableRow) => boolean) {
  const rows: TableRow[] = [];
  if (!hasFile(folder, name)) return rows;
  for await (const row of tableRows(folder, name)) {
    if (wanted(row)) rows.push(row);
    if (rows.length === MOST_ROWS) break;
  }
  return rows;
}

const figureIn = (row: TableRow, name: string) => format(parseNumber(row[name]));

const interval = ({ low, high }: TableRow): string =>
  low === '' || high === '' ? '–' : `${format(parseNumber(low))} to ${format(parseNumber(high))}`;

const differences = ({ measure, low, high }: TableRow): string => {
  const said = (text: string | undefined) => differenceText(measure!, parseNumber(text));
  return low === '' || high === '' ? '–' : `${said(low)} to ${said(high)}`;
};

/** Samples that were left out, and the index with the extremes in their place. */
const gapColumns = [number('missing'), { name: 'if the missing are least to most' }];

const gap = (row: TableRow): string[] => {
  const { missing = '0' } = row;
  const ends = ['with_least', 'with_most'].map((name) => figureIn(row, name));
  return missing === '0' || missing === '' ? ['0', '–'] : [missing, ends.join(' to ')];
};

const saysOf = {
  morris: `What one step of a factor changes, per whole range of it: the mean, where signs cancel,
the mean of the sizes, and the deviation, which is large where it depends on the other factors.`,
  sobol: `The share of the variance of a response that a factor accounts for by itself (first), and
with all that it has to do with (total). What is in no factor's total is chance.`,
} as const;

/** Null for designs that have none. */
async function indicesSection(folder: string, design: string): Promise<Html | null> {
  if (design !== 'morris' && design !== 'sobol') return null;
  const rows = await rowsIn(folder, 'indices.csv', () => true);
  const cells = rows.map((row) => [
    ...[
      measureTitle(row.response!),
      row.factor!,
      row.index!,
      figureIn(row, 'value'),
      interval(row),
    ],
    ...[figureIn(row, 'n'), ...gap(row)],
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
async function differencesSection(
  folder: string,
  columns: readonly string[],
  responses: ReadonlySet<string>,
): Promise<Html | null> {
  const rows = await rowsIn(folder, 'differences.csv', ({ measure }) => responses.has(measure!));
  if (rows.length === 0) return null;
  const cells = rows.map((row) => [
    ...[row.cell!, ...columns.map((name) => row[name]!), measureTitle(row.measure!)],
    ...[
      differenceText(row.measure!, parseNumber(row.mean)),
      differences(row),
      figureIn(row, 'n'),
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
