/** Sweep report: its design, responses, cells, indices and differences from the baseline. */
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
  numberColumn,
  page,
  section,
  table,
  textColumn,
} from '../../report/page.js';
import { commandLine, format } from '../../report/shared/format.js';
import {
  differenceText,
  measureMeaning,
  measureText,
  measureTitle,
} from '../../report/shared/measures.js';
import { configuration } from './sections.js';
import { heatChart, responseChart, scatterChart } from './sweep-charts.js';
import {
  assignRoles,
  type CellData,
  type FactorData,
  readSweep,
  type SweepData,
  type SweepHead,
} from './sweep-data.js';

/** Limit on the dots in all charts of designs other than grid and list, to bound the file size. */
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
    section('Reproduce', again(data)),
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
<p><strong>${format(finished)} of ${format(head.runs)} planned runs finished</strong> in
${format(cells.length)} cells: ${counted === '' ? 'none' : counted}.</p>
${
  missing > 0
    ? html`<p>${format(missing)} runs are missing, because the sweep is not
finished.</p>`
    : null
}
${head.registered ? html`<p>Registered before the runs, unchanged: ${head.registered}</p>` : null}
${failures > 0 ? html`<p>${format(failures)} runs failed; see Failed runs.</p>` : null}
${
  unexpected > failures
    ? html`<p>The scenario expects ${head.scenario.expect}. The next table
lists the cells with other verdicts.</p>`
    : null
}</div>
${fewText(head.scenario.sweep.replicates)}`;
}

/** Lists cells with a verdict other than pass; null if all runs passed. */
function verdictsTable({ notPassed, factors, cells }: SweepData): Html | null {
  if (notPassed.size === 0) return null;
  const columns = [
    numberColumn('cell'),
    ...factors.map(({ column }) => column),
    textColumn('runs'),
  ];
  const found = cells.filter(({ cell }) => notPassed.has(cell));
  const rows = found.map(({ cell, levels }) => [
    cell,
    ...factors.map(({ column }) => levels[column]!),
    [...notPassed.get(cell)!].map(([verdict, count]) => `${format(count)} ${verdict}`).join(', '),
  ]);
  const options = { most: MOST_CELLS, rest: 'runs.csv' };
  return section(
    'Cells with other verdicts',
    table('Verdicts other than pass, number of runs by cell', columns, rows, options),
  );
}

/** Warns that means exclude runs without a value, and may therefore be biased. */
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
differences and indices exclude these runs, which can bias the results. For example, a run without
finalized blocks has no time to finality. The tables give bounds of the mean over all runs.</p>
<ul>${items}</ul></div>
`;
}

/** Number of runs per cell below which the spread is poorly known. */
const FEW = 5;

const fewText = (replicates: number): Html | null =>
  replicates >= FEW
    ? null
    : html`<p class="warning"><strong>${replicates === 1 ? '1 run' : `${replicates} runs`} per
cell.</strong> ${
        replicates === 1
          ? 'The spread is unknown, so there are no intervals.'
          : 'The intervals are wide and depend on the assumed distribution.'
      } Use ${html`<code class="whole">--replicates ${FEW}</code>`} or more.</p>
`;

const designs = {
  grid: 'every combination of values',
  list: 'the nth values of all factors together',
  lhs: 'a Latin hypercube: samples spread evenly over the range of each factor',
  morris: 'Morris trajectories: each step changes one factor',
  sobol: 'Saltelli matrices: variance shares of the factors',
} as const;

function designTable({ head, factors }: SweepData): Html {
  const { design, replicates } = head.scenario.sweep;
  const columns = ['factor', 'scenario path', numberColumn('levels'), textColumn('values')];
  const rows = factors.map(({ column, path, levels, numeric }) => {
    const few = levels.length <= 12;
    const range = `${levels[0]} to ${levels.at(-1)}`;
    const values = few || !numeric ? levels.slice(0, 12).join(', ') : range;
    return [column, code(path), format(levels.length), few || numeric ? values : `${values}, …`];
  });
  return html`${facts([
    { name: 'design', value: `${design}: ${designs[design]}`, wide: true },
    { name: 'runs per cell', value: format(replicates) },
    { name: 'seed', value: code(seedOf(head)) },
  ])}
${table('Factors', columns, rows)}`;
}

const seedOf = (head: SweepHead): string => head.seed ?? head.scenario.seed;

function cellsTable(data: SweepData): Html {
  const { head, factors, cells } = data;
  const { responses, replicates } = head.scenario.sweep;
  const columns = [
    numberColumn('cell'),
    ...factors.map(({ column }) => column),
    ...responses.map((name) => numberColumn(measureTitle(name))),
    textColumn('UI'),
  ];
  const rows = cells.map((cell) => [
    cell.cell,
    ...factors.map(({ column }) => cell.levels[column]!),
    ...responses.map((measure) => estimateText(cell, measure, replicates)),
    watchText(data, cell),
  ]);
  const options = { most: MOST_CELLS, rest: 'summary.csv' };
  return html`<p>Each cell shows the mean over its runs and, in brackets, the 95 % interval
(see docs/sweeps.md). n is shown if fewer than ${replicates} runs have a value, with bounds of
the mean over all runs (?: unbounded). The last column has the command that repeats one run
of the cell in the UI. The folder runs/ has a JSON record of each run; runs.csv has its file
name.</p>
${table('Means and 95 % intervals by cell', columns, rows, options)}
${facts(
  responses.map((name) => {
    const value = [code(name), ': ', measureMeaning(name)];
    return { name: measureTitle(name), value, wide: true };
  }),
)}`;
}

/** Gives the command to repeat a run of the cell and watch it, because a sweep saves no logs. */
function watchText(data: SweepData, cell: CellData): Content {
  const name = `command that shows a run of cell ${cell.cell} in the UI`;
  const command = oneRun(data, cell, '--watch=paused');
  return command === null
    ? '–'
    : html`<details><summary aria-label="${name}">command</summary>${code(command)}</details>`;
}

/** Gives the command to repeat a cell's first run; null if no run in the cell finished. */
function oneRun({ seeds, factors }: SweepData, { cell, levels }: CellData, ...more: string[]) {
  const seed = seeds.get(cell);
  return seed === undefined ? null : simCommand(factors, seed, levels, more);
}

function simCommand(
  factors: readonly FactorData[],
  seed: string,
  levels: CellData['levels'],
  more: readonly string[] = [],
): string {
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
    ...['run', 'cell'].map(numberColumn),
    'verdict',
    ...['why', 'command'].map(textColumn),
  ];
  const rows = failed.map(({ run, cell, seed, verdict, levels, why }) => {
    return [run, cell, verdict, why || '–', code(simCommand(factors, seed, levels))];
  });
  const left = failures - failed.length;
  return html`${table('Runs with a violated rule or an error', columns, rows)}
${left > 0 ? html`<p>${format(left)} more: see runs.csv.</p>` : null}`;
}

function again(data: SweepData): Html {
  const { head, cells } = data;
  const { replicates } = head.scenario.sweep;
  const more = ['--replicates', String(replicates), '--out', 'FOLDER'];
  const sweep = commandLine('sweep', 'scenario.json', '--seed', seedOf(head), ...more);
  const one = cells[0] ? oneRun(data, cells[0], '--out', 'RUN') : null;
  return html`<p>Run in the folder of this report. The whole sweep, ${replicates} runs per cell:</p>
${listing('command that repeats the sweep', sweep)}
${
  one !== null
    ? html`<p>One run, here the first. runs.csv has the seed and the values of each run:</p>
${listing('command that repeats one run', one)}
<p>This run has a log. Browse it in the UI:</p>
${listing('command that opens the run in the UI', commandLine('explore', 'RUN'))}`
    : null
}`;
}

const MOST_ROWS = 300;

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

/** Columns for the number of excluded samples, and the index's range if they were extreme. */
const gapColumns = [numberColumn('missing'), 'range with missing values'];

const gap = (row: TableRow): string[] => {
  const { missing = '0' } = row;
  const ends = ['with_least', 'with_most'].map((name) => figureIn(row, name));
  return missing === '0' || missing === '' ? ['0', '–'] : [missing, ends.join(' to ')];
};

const saysOf = {
  morris: `Elementary effects: the change of the response per full range of the factor. mean:
opposite effects cancel; mean_absolute: mean of the absolute effects; deviation: large if the effect
depends on other factors.`,
  sobol: `Share of the variance of the response that a factor explains alone (first) and with
its interactions (total). Variance in no total index is random.`,
} as const;

/** Section with indices; null if the design has none. */
async function indicesSection(folder: string, design: string): Promise<Html | null> {
  if (design !== 'morris' && design !== 'sobol') return null;
  const rows = await rowsIn(folder, 'indices.csv', () => true);
  const cells = rows.map((row) => [
    ...[measureTitle(row.response!), row.factor!, row.index!],
    ...[figureIn(row, 'value'), interval(row), figureIn(row, 'n'), ...gap(row)],
  ]);
  const columns = [
    ...['response', 'factor', 'index', numberColumn('value')],
    ...['95 % interval', numberColumn('n'), ...gapColumns],
  ];
  const title = 'Indices of the factors';
  return section('Indices', html`<p>${saysOf[design]}</p>\n`, table(title, columns, cells));
}

/** Section with differences; null without a baseline. */
async function differencesSection(
  folder: string,
  columns: readonly string[],
  responses: ReadonlySet<string>,
): Promise<Html | null> {
  const rows = await rowsIn(folder, 'differences.csv', ({ measure }) => responses.has(measure!));
  if (rows.length === 0) return null;
  const cells = rows.map((row) => [
    ...[row.cell!, ...columns.map((name) => row[name]!), measureTitle(row.measure!)],
    ...[differenceText(row.measure!, parseNumber(row.mean)), differences(row)],
    ...[figureIn(row, 'n'), row.missing || '0'],
  ]);
  const all = [
    ...[numberColumn('cell'), ...columns, 'measure', numberColumn('difference')],
    ...['95 % interval', numberColumn('n'), numberColumn('missing')],
  ];
  const says = html`<p>Each cell minus the baseline, paired by replicate. Both runs of a pair have
the same seed (common random numbers), which cancels shared random variation. No interval: all
differences are equal.</p>\n`;
  return section('Differences from the baseline', says, table('Paired differences', all, cells));
}
