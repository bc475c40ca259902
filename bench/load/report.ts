/**
 * The report of a load run, one page: first whether it can be believed, then the charts and tables
 * of what it measured, and the commands that repeat it.
 */
import { type Chart, figure } from '../../report/figure.js';
import {
  type Column,
  code,
  type Fact,
  facts,
  type Html,
  html,
  listing,
  madeBy,
  page,
  section,
  table,
} from '../../report/page.js';
import { format, formatMs } from '../../report/shared/format.js';
import { loadVerdictText } from '../../report/shared/verdicts.js';
import { commandLine } from '../../report/shell.js';
import {
  errorsChart,
  finalizedChart,
  percentileChart,
  saturationChart,
  throughputChart,
  tiersChart,
  timesChart,
} from './charts.js';
import { changeText, valueText } from './compare.js';
import { findFigure, scheduledOperations } from './figures.js';
import { listTimes } from './histograms.js';
import { loadDefaults, workloadDefaults } from './options.js';
import type { LoadResult, Operation } from './result.js';

export function loadReport(result: LoadResult): string {
  const { saturation, operations, tiers, delivery } = result;
  const title = titleOf(result);
  return page(title, [
    html`<h1>${title}</h1>\n`,
    html`<p class="lead">${result.server.url}, ${result.started}</p>\n`,
    verdictBox(result),
    keyFacts(result),
    saturation
      ? section('Saturation', figures(saturationChart(saturation)), probesTable(saturation))
      : null,
    section('Latency', figures(...latencyCharts(result)), latencyTable(result)),
    section(
      'Over time',
      figures(throughputChart(result), finalizedChart(result), timesChart(result)),
    ),
    section(
      'Requests',
      operationsTable(operations),
      figures(errorsChart(operations)),
      refusalsTable(operations),
    ),
    delivery.subscribers > 0 ? section('Subscribers', deliveryFacts(delivery)) : null,
    tiers.length > 0 ? section('Tiers', figures(tiersChart(tiers, result.r))) : null,
    section('Server, generator and machine', surroundings(result)),
    section('Do it again', commandsSection(result)),
    madeBy({ commit: result.commit, node: result.node }),
  ]);
}

const figures = (...charts: readonly (Chart | null)[]): Html[] =>
  charts.filter((chart) => chart !== null).map(figure);

const meaningOf = (operation: string): string =>
  operation.endsWith('(beside)')
    ? 'Of what the load needed beside its schedule, sent as soon as it was needed.'
    : 'Response time runs from when the schedule meant to send, service time from when it was ' +
      'sent: what lies between them is waiting that a user has too.';

/** One for each operation, response beside service; then what is of no operation. */
function latencyCharts({ operations, finality, delivery, generator }: LoadResult) {
  return [
    ...operations.map(({ operation, response, service }) =>
      percentileChart(`Latency of ${operation}`, meaningOf(operation), [
        { name: 'response', color: 'var(--c1)', percentiles: response },
        { name: 'service', color: 'var(--c2)', percentiles: service },
      ]),
    ),
    percentileChart(
      'Finality of transactions',
      'From when a transaction was to be sent to when its block was seen finalized in the event ' +
        'stream. Those that were too late, or never final, are not among them.',
      [{ name: 'finality', color: 'var(--c3)', percentiles: finality }],
    ),
    percentileChart(
      'Delivery to subscribers',
      'From when the cause of an event was to be sent to the event at each subscriber.',
      [{ name: 'delivery', color: 'var(--c4)', percentiles: delivery.latency }],
    ),
    percentileChart(
      'Lag of the generator',
      'How much later than it could the load tester itself sent: it has to be small beside the ' +
        'latencies above.',
      [{ name: 'lag', color: 'var(--c8)', percentiles: generator.lag }],
    ),
  ];
}

/** What cannot be said is left out. */
function keyFacts(result: LoadResult): Html {
  const { arrivals, saturation, r } = result;
  const { accepted_per_s: rate, of_target: share } = arrivals;
  const slowest = scheduledOperations(result).length > 1 ? ' (slowest operation)' : '';
  return facts([
    ...(saturation ? [{ name: 'rates that held', value: heldText(saturation) }] : []),
    ...factText(result, 'tps', 'finalized transactions'),
    {
      name: 'accepted',
      value: `${perSecond(rate)}${share === null ? '' : ` (${percent(share)})`}`,
    },
    ...withService(result, 'p50', `median response${slowest}`),
    ...withService(result, 'p99', `p99 response${slowest}`),
    ...factText(result, 'finality.p99', 'p99 finality'),
    ...factText(result, 'delivery.p99', 'p99 delivery'),
    ...factText(result, 'errors', 'not accepted'),
    ...(r === null ? [] : [{ name: 'R, one core verifies', value: perSecond(r) }]),
    ...shareOfR(result),
  ]);
}

/** Of what is signed: each vote, and each transaction. */
function shareOfR({ asked, arrivals, transactions, r }: LoadResult): Fact[] {
  const rates = { votes: arrivals.accepted_per_s, transactions: transactions.tps };
  const signed = Object.entries(rates).find(([workload]) => workload === asked.workload);
  if (!signed || !r) return [];
  const [what, rate] = signed;
  return [{ name: `${what}, as a share of R`, value: format(Math.round((rate / r) * 1e3) / 1e3) }];
}

function factText(result: LoadResult, name: string, title: string): Fact[] {
  const one = findFigure(name)!;
  const value = one.of(result);
  return value === null ? [] : [{ name: title, value: valueText(one, value) }];
}

/** In the open loop the response has the wait before the request was sent; service has not. */
function withService(result: LoadResult, name: 'p50' | 'p99', title: string): Fact[] {
  const [response] = factText(result, name, title);
  const [service] = factText(result, `service.${name}`, title);
  if (!response || !service || result.asked.loop === 'closed') return response ? [response] : [];
  return [{ name: title, value: `${response.value} (service ${service.value})` }];
}

function heldText({ brackets }: NonNullable<LoadResult['saturation']>): string {
  const rates = brackets.map(({ holds }) => holds);
  return rates.length === 0
    ? 'none'
    : `${format(Math.min(...rates))} to ${perSecond(Math.max(...rates))}`;
}

const deliveryFacts = (delivery: LoadResult['delivery']): Html =>
  facts([
    { name: 'connections', value: format(delivery.subscribers) },
    { name: 'deliveries', value: `${format(delivery.delivered)} of ${format(delivery.expected)}` },
    { name: 'a second', value: perSecond(delivery.deliveries_per_s) },
    { name: 'unannounced gaps', value: format(delivery.holes) },
    { name: 'closed by the server', value: format(delivery.disconnects) },
  ]);

function surroundings({ server, asked, generator, machine, seed }: LoadResult): Html {
  const { loop, rate, concurrency } = asked;
  const load = loop === 'open' ? `open, ${perSecond(rate)}` : `closed, ${format(concurrency)}`;
  return facts([
    { name: 'server', value: server.version === null ? '–' : `folkmoot ${server.version}` },
    { name: 'limits', value: server.limits_profile ?? '–' },
    { name: 'durable before it answers', value: yesOrNo(server.durable) },
    { name: 'network', value: server.network_id ?? '–' },
    { name: 'loop', value: load },
    { name: 'agents', value: format(asked.agents) },
    { name: 'transactions a block', value: format(asked.batch) },
    {
      name: 'warm-up, then measured',
      value: `${format(asked.warmup_s)} s, ${format(asked.duration_s)} s`,
    },
    { name: 'deadline of a request', value: formatMs(asked.timeout_ms) },
    { name: 'deadline of finality', value: formatMs(asked.finality_timeout_ms) },
    { name: 'HTTP connections, at most', value: format(asked.connections) },
    { name: 'event loop of the generator', value: `busy ${percent(generator.utilization)}` },
    { name: 'signed ahead', value: percent(generator.prepared_ahead) },
    { name: 'keys', value: format(generator.keys) },
    { name: 'signed messages', value: format(generator.messages) },
    { name: 'seed', value: code(seed) },
    { name: 'machine of the generator', value: machine, wide: true },
  ]);
}

const yesOrNo = (value: boolean | null): string => (value === null ? '–' : value ? 'yes' : 'no');

const percent = (share: number): string => valueText({ unit: 'share' }, share);
const perSecond = (rate: number | null): string => valueText({ unit: 'per_s' }, rate);

const number = (name: string): Column => ({ name, kind: 'number' });

function latencyTable(result: LoadResult): Html | null {
  const times = listTimes(result);
  if (times.length === 0) return html`<p>Nothing was answered: there are no times.</p>\n`;
  const columns = [
    { name: 'time' },
    ...['samples', 'mean', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'max'].map(number),
  ];
  const rows = times.map(({ operation, time: name, percentiles }) => {
    const { count, mean, p50, p90, p95, p99, p999, max } = percentiles;
    const all = [mean, p50, p90, p95, p99, p999, max];
    return [operation === null ? name : `${operation}, ${name}`, format(count), ...all.map(whole)];
  });
  const few = times.some(({ percentiles: { p999 } }) => p999 === null);
  const note = few ? '; p99.9 is shown from 1,000 samples on' : '';
  return table(`Times by percentile${note}`, columns, rows);
}

/** A time in one line. */
const whole = (ms: number | null): Html => html`<span class="whole">${formatMs(ms)}</span>`;

function operationsTable(operations: readonly Operation[]): Html {
  const ends = ['sent', 'accepted', 'refused', 'lies', 'timed out', 'broken', 'unfinished'];
  const columns = [{ name: 'operation' }, ...ends.map(number)];
  const rows = operations.map((one) => {
    const refused = one.refused.reduce((sum, { count }) => sum + count, 0);
    const { operation, sent, accepted, lies, timed_out, broken, unfinished } = one;
    return [
      operation,
      ...[sent, accepted, refused, lies, timed_out, broken, unfinished].map(format),
    ];
  });
  return table('Requests of the measured time, by what became of them', columns, rows);
}

const MOST_REFUSALS = 50;

function refusalsTable(operations: readonly Operation[]): Html | null {
  const all = operations.flatMap(({ operation, refused, sent }) =>
    refused.map((one) => ({ operation, ...one, share: one.count / sent })),
  );
  if (all.length === 0) return null;
  const columns: Column[] = [
    { name: 'operation' },
    number('status'),
    { name: 'code' },
    { name: 'reason', kind: 'text' },
    number('answers'),
    number('of sent'),
  ];
  const rows = all
    .toSorted((a, b) => b.count - a.count)
    .slice(0, MOST_REFUSALS)
    .map(({ operation, status, code: name, reason, count, share }) => [
      operation,
      status,
      code(name),
      reason,
      format(count),
      valueText({ unit: 'share' }, share),
    ]);
  const left = all.length - rows.length;
  return html`${table('Refusals, the most frequent first', columns, rows)}
${left > 0 ? html`<p>${format(left)} more are in errors.csv.</p>` : null}`;
}

function probesTable(saturation: NonNullable<LoadResult['saturation']>): Html {
  const { brackets, overlap } = saturation;
  const columns: Column[] = [
    { name: 'bracket' },
    number('rate'),
    number('accepted'),
    number('p99'),
    { name: 'holds' },
    { name: 'verdict' },
    number('R before'),
    number('R after'),
    number('R moved by'),
  ];
  const rows = brackets.flatMap(({ probes }, index) =>
    probes.map((probe) => [
      index + 1,
      format(probe.rate),
      format(Math.round(probe.accepted_per_s)),
      whole(probe.p99),
      probe.holds ? 'yes' : 'no',
      probe.verdict,
      valueText({ unit: 'per_s' }, probe.r_before),
      valueText({ unit: 'per_s' }, probe.r_after),
      changeText('per_s', probe.r_before, probe.r_after),
    ]),
  );
  const found = brackets.map(({ holds, fails, unstable }, index) => {
    const end = fails === null ? 'no rate was found that fails' : `${format(fails)}/s fails`;
    const moved = unstable ? '; the speed of the machine moved by more than 10 % meanwhile' : '';
    return html`<p>Bracket ${index + 1}: ${format(holds)}/s holds, ${end}${moved}.</p>\n`;
  });
  return html`${found}<p>${
    overlap ? 'All brackets share a rate.' : 'The brackets share no rate.'
  } The other figures of this report are of the last probe that held.</p>
${table('All probes', columns, rows)}`;
}

function titleOf({ asked, saturation, measured_s }: LoadResult): string {
  const { workload, rate, concurrency } = asked;
  if (saturation) return `Load: ${workload}, saturation`;
  const load = rate === null ? `${format(concurrency)} at a time` : `${format(rate)} a second`;
  return `Load: ${workload}, ${load}, ${format(Math.round(measured_s * 10) / 10)} s`;
}

const ends: Record<LoadResult['ended'], string | null> = {
  complete: null,
  interrupted: 'The run was interrupted: what is here was measured before.',
  failed: 'The run could not go on: what is here was measured before.',
};

function verdictBox({ verdict, reasons, ended, saturation }: LoadResult): Html {
  const paragraphs = [ends[ended], ...reasons].filter((text) => text !== null);
  const said = loadVerdictText(verdict, saturation !== null);
  return html`<div class="verdict${verdict === 'VALID' && ended === 'complete' ? null : ' bad'}">
<p><strong>Verdict: ${verdict}${ended === 'complete' ? null : `, ${ended}`}.</strong> ${said}</p>
${paragraphs.map((text) => html`<p>${text}</p>\n`)}</div>
`;
}

function commandsSection(result: LoadResult): Html {
  const compare = commandLine(
    'load',
    'compare',
    'BASE.json',
    'result.json',
    '--fail-on',
    'p99>+10%',
  );
  return html`<p>Keys and choices are drawn anew each time; on a fresh server
${code(`--seed ${result.seed}`)} draws these:</p>
${listing('the command that loads the server again', commandLine('load', ...optionsOf(result)))}
<p>In the folder of this report, against an earlier result:</p>
${listing('the command that compares', compare)}
<p>What the run left on the network, at any entry of its log: DATA stands for the server's folder
(${code('serve --data')}), also while it runs.</p>
${listing('the command that shows it on a page', commandLine('explore', 'DATA'))}`;
}

/** Whatever is not the default. */
function optionsOf({ asked, server, saturation }: LoadResult): string[] {
  const defaults = workloadDefaults[asked.workload];
  const given = (name: string, value: number, standard: number, unit = '') =>
    value === standard ? [] : [name, `${value}${unit}`];
  return [
    '--url',
    server.url,
    '--workload',
    asked.workload,
    ...(saturation
      ? ['--saturate', ...saturation.slo.flatMap((text) => ['--slo', text])]
      : asked.rate === null
        ? ['--concurrency', `${asked.concurrency}`]
        : ['--rate', `${asked.rate}`]),
    '--duration',
    `${asked.duration_s}s`,
    ...given('--warmup', asked.warmup_s, loadDefaults.warmupMs / 1_000, 's'),
    ...given('--agents', asked.agents, defaults.agents),
    ...given('--batch', asked.batch, defaults.batch),
    ...given('--timeout', asked.timeout_ms, loadDefaults.timeoutMs, 'ms'),
    ...given('--finality-timeout', asked.finality_timeout_ms, loadDefaults.finalityTimeoutMs, 'ms'),
    ...given('--connections', asked.connections, loadDefaults.connections),
  ];
}
