/** The report on a load run: the verdict, charts and tables, and commands that repeat it. */
import type { LoadFacts, LoadTable } from '../../api/contract/load.js';
import { type Chart, figure } from '../../report/figure.js';
import {
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
import { commandLine, formatValue } from '../../report/shared/format.js';
import { loadVerdictText } from '../../report/shared/verdicts.js';
import { failuresChart, percentileChart, saturationCharts, timeChart } from './charts.js';
import { describeLoad } from './model.js';
import { loadDefaults, workloadOf } from './options.js';
import type { LoadResult } from './result.js';

export function loadReport(result: LoadResult): string {
  const { saturation } = result;
  const model = describeLoad(result, result);
  const title = `Load test: ${model.title}`;
  const [key, setup] = model.facts;
  const tableOf = (id: LoadTable['id']): Html | null => {
    const found = model.tables.find((one) => one.id === id);
    return found ? shownTable(found) : null;
  };
  const sectionOf = (name: string, ...parts: (Html | Html[] | null)[]) =>
    parts.flat().every((part) => part === null) ? null : section(name, ...parts);
  const { width, charts } = model.series!;
  const failed = model.tables.find(({ id }) => id === 'failures');
  return page(title, [
    html`<h1>${title}</h1>\n`,
    html`<p class="lead">${result.server.url}, ${result.started}</p>\n`,
    verdictBox(result),
    factList(key!),
    sectionOf(
      'Saturation',
      figures(...(saturation ? saturationCharts(saturation) : [])),
      tableOf('brackets'),
      tableOf('probes'),
    ),
    sectionOf('Scenarios', tableOf('scenarios')),
    section(
      'Latency',
      figures(...latencyCharts(result)),
      tableOf('latencies') ?? html`<p>No responses, so there are no latencies.</p>\n`,
    ),
    sectionOf('Over time', figures(...charts.map((chart) => timeChart(chart, width)))),
    sectionOf(
      'Requests',
      tableOf('requests'),
      figures(failed ? failuresChart(failed) : null),
      tableOf('failures'),
    ),
    sectionOf('Faults and servers', tableOf('faults'), tableOf('outages'), tableOf('nodes')),
    sectionOf(setup!.title, factList(setup!), tableOf('shards')),
    section('Reproduce', commandsSection(result)),
    madeBy({ commit: result.commit, node: result.node }),
  ]);
}

/** A page that compares results: a table with one column for each. */
export function comparisonReport({ rows, warnings, usable }: ComparedPage): string {
  const [head, ...body] = rows;
  const title = 'Comparison of load tests';
  const [first, ...others] = head!;
  return page(title, [
    html`<h1>${title}</h1>\n`,
    html`<div class="verdict${usable ? null : ' bad'}">
<p><strong>${usable ? 'The figures describe the server.' : 'A result is not usable.'}</strong></p>
${warnings.map((text) => html`<p>${text}</p>\n`)}</div>\n`,
    table(
      'Figures, and the change from the first result to the last',
      [first!, ...others.map(numberColumn)],
      body,
    ),
  ]);
}

interface ComparedPage {
  rows: readonly string[][];
  warnings: readonly string[];
  /** True if the figures of the first and of the last result describe the server. */
  usable: boolean;
}

const figures = (...charts: readonly (Chart | null)[]): Html[] =>
  charts.filter((chart) => chart !== null).map(figure);

const factList = ({ rows }: LoadFacts): Html =>
  facts(
    rows.map(({ name, value, unit, note }) => {
      const text = formatValue(value, unit);
      const shown = note === '' ? text : `${text} (${note})`;
      return { name, value: shown, wide: shown.length > 60 };
    }),
  );

/** Keeps a number with its unit on one line. Long texts may break anywhere. */
function shownTable({ title, note, columns, rows }: LoadTable): Html {
  const isLong = (index: number) => rows.some((row) => String(row[index] ?? '').length > 40);
  return table(
    note === '' ? title : `${title}. ${note}`,
    columns.map(({ name, unit }, index) => {
      if (unit !== 'text') return numberColumn(name);
      return index > 0 && isLong(index) ? textColumn(name) : name;
    }),
    rows.map((row) =>
      row.map((cell, index) => {
        const { unit } = columns[index]!;
        const text = formatValue(cell, unit);
        return unit === 'text' ? text : html`<span class="whole">${text}</span>`;
      }),
    ),
  );
}

const captionOf = (operation: string): string =>
  operation.endsWith('(beside)')
    ? 'Requests outside the schedule, sent as soon as the workload needed them.'
    : 'Response time starts at the scheduled time, service time when the request was sent. ' +
      'The difference is queueing, which a user also experiences.';

/** Builds a chart for each operation, and for finality, delivery and lag. */
function latencyCharts({ operations, finality, delivery, generator }: LoadResult) {
  return [
    ...operations.map(({ operation, response, service }) =>
      percentileChart(`Latency of ${operation}`, captionOf(operation), [
        { name: 'response', color: 'var(--c1)', percentiles: response },
        { name: 'service', color: 'var(--c2)', percentiles: service },
      ]),
    ),
    percentileChart(
      'Finality of transactions',
      'From the scheduled time of a transaction to the event that finalized its block. ' +
        'Transactions that missed their deadline are excluded.',
      [{ name: 'finality', color: 'var(--c3)', percentiles: finality }],
    ),
    percentileChart(
      'Delivery to subscribers',
      'From the scheduled time of an update to its event at each subscriber.',
      [{ name: 'delivery', color: 'var(--c4)', percentiles: delivery.latency }],
    ),
    percentileChart(
      'Generator lag',
      'Delay between the earliest time at which the load generator could send and the time at ' +
        'which it did. It must be small compared with the latencies above.',
      [{ name: 'lag', color: 'var(--c8)', percentiles: generator.lag }],
    ),
  ];
}

function verdictBox({ verdict, reasons, ended, saturation }: LoadResult): Html {
  const failed = ended === 'failed' ? ['The run failed. The figures cover the time before.'] : [];
  const meaning = loadVerdictText(verdict, saturation !== null);
  return html`<div class="verdict${verdict === 'VALID' ? null : ' bad'}">
<p><strong>Verdict: ${verdict}${ended === 'failed' ? ', failed' : null}.</strong> ${meaning}</p>
${[...failed, ...reasons].map((text) => html`<p>${text}</p>\n`)}</div>
`;
}

function commandsSection(result: LoadResult): Html {
  const compared = ['BASE.json', 'result.json', '--fail-on', 'p99>+10%'];
  const compare = commandLine('load', 'compare', ...compared);
  return html`<p>Keys and random choices differ in each run. To repeat these on a new server, add
${code(`--seed ${result.seed}`)}.</p>
${listing('command that repeats the load run', commandLine('load', ...optionsOf(result)))}
<p>Compare with an earlier result, in the folder of this report:</p>
${listing('command that compares two results', compare)}
<p>Inspect the network at any entry of its log, even while the server runs. DATA is the data folder
of the server (${code('serve --data')}):</p>
${listing('command that opens the explorer', commandLine('explore', 'DATA'))}`;
}

/** Returns the options that differ from the defaults. */
function optionsOf({ asked, server, nodes, saturation }: LoadResult): string[] {
  if (asked.file !== undefined) return [asked.workload.split(':')[0]!, '--url', server.url];
  const defaults = workloadOf(asked.workload);
  const given = (name: string, value: number, standard: number, unit = '') =>
    value === standard ? [] : [name, `${value}${unit}`];
  return [
    ...['--url', nodes?.map(({ url }) => url).join(',') ?? server.url],
    ...['--workload', asked.workload],
    ...(saturation
      ? ['--saturate', ...saturation.slo.flatMap((text) => ['--slo', text])]
      : asked.rate === null
        ? ['--concurrency', `${asked.concurrency}`]
        : ['--rate', `${asked.rate}`]),
    ...['--duration', `${asked.duration_s}s`],
    ...given('--warmup', asked.warmup_s, loadDefaults.warmupMs / 1_000, 's'),
    ...given('--agents', asked.agents, defaults.agents),
    ...given('--batch', asked.batch, defaults.batch),
    ...given('--timeout', asked.timeout_ms, loadDefaults.timeoutMs, 'ms'),
    ...given('--finality-timeout', asked.finality_timeout_ms, loadDefaults.finalityTimeoutMs, 'ms'),
    ...given('--connections', asked.connections, loadDefaults.connections),
    ...(asked.keep_going ? ['--keep-going'] : []),
  ];
}
