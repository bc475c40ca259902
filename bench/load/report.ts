/**
 * The one-page report on a load run: first the verdict, then charts and tables of the measurements,
 * and the commands that reproduce them.
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
  numberColumn,
  page,
  section,
  table,
  textColumn,
} from '../../report/page.js';
import { commandLine, format, formatMs } from '../../report/shared/format.js';
import { loadVerdictText } from '../../report/shared/verdicts.js';
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
import { findFigure, findSlowest } from './figures.js';
import { listTimes } from './histograms.js';
import { loadDefaults, workloads } from './options.js';
import { type LoadResult, type Operation, P999_NEEDS, type Percentiles } from './result.js';

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
    outagesSection(result),
    delivery.subscribers > 0 ? section('Subscribers', deliveryFacts(delivery)) : null,
    tiers.length > 0 ? section('Tiers', figures(tiersChart(tiers, result.r))) : null,
    section('Server, generator and machine', surroundings(result)),
    section('Reproduce', commandsSection(result)),
    madeBy({ commit: result.commit, node: result.node }),
  ]);
}

const figures = (...charts: readonly (Chart | null)[]): Html[] =>
  charts.filter((chart) => chart !== null).map(figure);

const captionOf = (operation: string): string =>
  operation.endsWith('(beside)')
    ? 'Requests outside the schedule, sent as soon as the workload needed them.'
    : 'Response time starts at the scheduled time, service time when the request was sent. ' +
      'The difference is queueing, which a user also experiences.';

/**
 * Builds one chart per operation with response and service time, then charts for finality, delivery
 * and lag.
 */
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

/** Returns the key facts. Facts without a value are omitted. */
function keyFacts(result: LoadResult): Html {
  const { arrivals, saturation, r } = result;
  const { accepted_per_s: rate, of_target: share } = arrivals;
  return facts([
    ...(saturation ? [{ name: 'sustained rates', value: heldText(saturation) }] : []),
    ...factText(result, 'tps', 'finalized transactions'),
    {
      name: 'accepted',
      value: `${perSecond(rate)}${share === null ? '' : ` (${percent(share)})`}`,
    },
    ...withService(result, 'p50', 'median response'),
    ...withService(result, 'p99', 'p99 response'),
    ...sampled(factText(result, 'finality.p99', 'p99 finality'), result.finality, 'blocks'),
    ...sampled(
      factText(result, 'delivery.p99', 'p99 delivery'),
      result.delivery.latency,
      'updates',
    ),
    ...factText(result, 'errors', 'errors'),
    ...(r === null ? [] : [{ name: 'R, verifications of one core', value: perSecond(r) }]),
    ...shareOfR(result),
  ]);
}

/** Returns the rate of votes or transactions relative to R. */
function shareOfR({ asked, arrivals, transactions, r }: LoadResult): Fact[] {
  const rates = { votes: arrivals.accepted_per_s, transactions: transactions.tps };
  const signed = Object.entries(rates).find(([workload]) => workload === asked.workload);
  if (!signed || !r) return [];
  const [what, rate] = signed;
  return [{ name: `${what} relative to R`, value: format(Math.round((rate / r) * 1e3) / 1e3) }];
}

function factText(result: LoadResult, name: string, title: string): Fact[] {
  const one = findFigure(name)!;
  const value = one.of(result);
  return value === null ? [] : [{ name: title, value: valueText(one, value) }];
}

/** Adds the number of independent samples. */
const sampled = (all: Fact[], { independent }: Percentiles, what: string): Fact[] =>
  all.map((one) =>
    independent === undefined
      ? one
      : { ...one, value: `${one.value} (${format(independent)} ${what})` },
  );

/**
 * Formats the response time of the slowest operation and, in an open loop, its service time, which
 * excludes the wait before sending.
 */
function withService(result: LoadResult, percentile: 'p50' | 'p99', title: string): Fact[] {
  const slowest = findSlowest(result, percentile);
  if (!slowest) return [];
  const { operation, response, service, isAttributed } = slowest;
  const notes = [
    ...(result.asked.loop === 'open' && service !== null ? [`service ${formatTime(service)}`] : []),
    ...(isAttributed ? [] : ['not attributed to the server']),
  ];
  const more = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  return [{ name: `${title}, ${operation}`, value: `${formatTime(response)}${more}` }];
}

const formatTime = (ms: number): string => valueText({ unit: 'ms' }, ms);

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
    { name: 'delivery rate', value: perSecond(delivery.deliveries_per_s) },
    { name: 'gaps', value: format(delivery.holes) },
    { name: 'closed by the server', value: format(delivery.disconnects) },
  ]);

function surroundings(result: LoadResult): Html {
  const { server, asked, arrivals, generator, machine, seed } = result;
  const { loop, rate, concurrency } = asked;
  const load = loop === 'open' ? `open, ${perSecond(rate)}` : `closed, ${format(concurrency)}`;
  return facts([
    { name: 'server', value: server.version === null ? '–' : `folkmoot ${server.version}` },
    { name: 'limits', value: server.limits_profile ?? '–' },
    { name: 'durable before response', value: yesOrNo(server.durable) },
    { name: 'network', value: server.network_id ?? '–' },
    { name: 'loop', value: load },
    { name: 'agents', value: format(asked.agents) },
    { name: 'transactions per block', value: format(asked.batch) },
    {
      name: 'warm-up, measured time',
      value: `${format(asked.warmup_s)} s, ${format(asked.duration_s)} s`,
    },
    { name: 'request timeout', value: formatMs(asked.timeout_ms) },
    { name: 'finality timeout', value: formatMs(asked.finality_timeout_ms) },
    { name: 'HTTP connections (max)', value: format(asked.connections) },
    ...(arrivals.held ? [{ name: 'arrivals waited', value: waitText(arrivals.held) }] : []),
    { name: 'generator event loop', value: `${percent(generator.utilization)} busy` },
    { name: 'signed ahead', value: percent(generator.prepared_ahead) },
    { name: 'keys', value: format(generator.keys) },
    { name: 'signed messages', value: format(generator.messages) },
    { name: 'seed', value: code(seed) },
    { name: 'generator machine', value: machine, wide: true },
  ]);
}

/** Formats the shares of the measured time in which arrivals waited. */
const waitText = (held: NonNullable<LoadResult['arrivals']['held']>): string =>
  `${percent(held.answers)} for the workload, ${percent(held.connections)} for connections, ` +
  `${percent(held.signatures)} for signatures`;

const yesOrNo = (value: boolean | null): string => (value === null ? '–' : value ? 'yes' : 'no');

const percent = (share: number): string => valueText({ unit: 'share' }, share);
const perSecond = (rate: number | null): string => valueText({ unit: 'per_s' }, rate);

function latencyTable(result: LoadResult): Html | null {
  const times = listTimes(result);
  if (times.length === 0) return html`<p>No responses, so there are no latencies.</p>\n`;
  const columns = [
    'latency',
    ...['samples', 'mean', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'max'].map(numberColumn),
  ];
  const rows = times.map(({ operation, time: name, percentiles }) => {
    const { count, mean, p50, p90, p95, p99, p999, max } = percentiles;
    const all = [mean, p50, p90, p95, p99, p999, max];
    return [operation === null ? name : `${operation}, ${name}`, format(count), ...all.map(whole)];
  });
  const few = times.some(({ percentiles: { p999 } }) => p999 === null);
  const note = few ? `; p99.9 needs ${P999_NEEDS}` : '';
  return table(`Latency percentiles${note}`, columns, rows);
}

/** Keeps a duration on one line. */
const whole = (ms: number | null): Html => html`<span class="whole">${formatMs(ms)}</span>`;

function operationsTable(operations: readonly Operation[]): Html {
  const ends = [
    'sent',
    'accepted',
    'refused',
    'invalid',
    'timed out',
    'connection lost',
    'pending',
  ];
  const columns = ['operation', ...ends.map(numberColumn)];
  const rows = operations.map((one) => {
    const refused = one.refused.reduce((sum, { count }) => sum + count, 0);
    const { operation, sent, accepted, lies, timed_out, broken, unfinished } = one;
    return [
      operation,
      ...[sent, accepted, refused, lies, timed_out, broken, unfinished].map(format),
    ];
  });
  return table('Requests of the measured time by outcome', columns, rows);
}

const MOST_REFUSALS = 50;

function refusalsTable(operations: readonly Operation[]): Html | null {
  const all = operations.flatMap(({ operation, refused, sent }) =>
    refused.map((one) => ({ operation, ...one, share: one.count / sent })),
  );
  if (all.length === 0) return null;
  const columns: Column[] = [
    'operation',
    numberColumn('status'),
    'code',
    textColumn('reason'),
    numberColumn('responses'),
    numberColumn('share of sent'),
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
  return html`${table('Refusals by frequency', columns, rows)}
${left > 0 ? html`<p>${format(left)} more are in errors.csv.</p>` : null}`;
}

/** Returns the outages and the counts of each server, if there are any. */
function outagesSection({ outages = [], nodes = [] }: LoadResult): Html | null {
  if (outages.length + nodes.length === 0) return null;
  const down = outages.map((one) => [
    ...[one.start_ms, one.end_ms, one.duration_ms].map(whole),
    one.failed.map(({ operation, count }) => `${operation} ${format(count)}`).join(', ') || 'none',
    perSecond(one.rate_before),
    whole(one.recovery_ms),
  ]);
  const downColumns = [
    ...['start', 'end', 'duration'].map(numberColumn),
    'failed requests',
    ...['rate before', 'time to recover'].map(numberColumn),
  ];
  const each = nodes.map(({ url, sent, accepted, failed, down_ms }) => [
    url,
    ...[sent, accepted, failed].map(format),
    whole(down_ms),
  ]);
  const columns = ['server', ...['sent', 'accepted', 'failed', 'unreachable'].map(numberColumn)];
  return section(
    outages.length > 0 ? 'Outages' : 'Servers',
    outages.length > 0 ? table('Times without a reachable server', downColumns, down) : null,
    nodes.length > 0 ? table('Requests by server', columns, each) : null,
  );
}

function probesTable(saturation: NonNullable<LoadResult['saturation']>): Html {
  const { brackets, overlap } = saturation;
  const columns: Column[] = [
    'bracket',
    numberColumn('rate'),
    numberColumn('accepted'),
    numberColumn('p99'),
    'holds',
    'verdict',
    numberColumn('R before'),
    numberColumn('R after'),
    numberColumn('R changed by'),
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
    const end = fails === null ? 'no rate failed' : `${format(fails)}/s fails`;
    const changed = unstable ? '. The speed of the machine changed by more than 10 %' : '';
    return html`<p>Bracket ${index + 1}: ${format(holds)}/s holds, ${end}${changed}.</p>\n`;
  });
  return html`${found}<p>${
    overlap ? 'All brackets overlap.' : 'The brackets do not overlap.'
  } The other figures of this report are from the last probe that held.</p>
${table('All probes', columns, rows)}`;
}

function titleOf({ asked, saturation, measured_s }: LoadResult): string {
  const { workload, rate, concurrency } = asked;
  if (saturation) return `Load test: ${workload}, saturation`;
  const load = rate === null ? `concurrency ${format(concurrency)}` : `${format(rate)}/s`;
  return `Load test: ${workload}, ${load}, ${format(Math.round(measured_s * 10) / 10)} s`;
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
  const compare = commandLine(
    'load',
    'compare',
    'BASE.json',
    'result.json',
    '--fail-on',
    'p99>+10%',
  );
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
  const defaults = workloads[asked.workload];
  const given = (name: string, value: number, standard: number, unit = '') =>
    value === standard ? [] : [name, `${value}${unit}`];
  return [
    '--url',
    nodes?.map(({ url }) => url).join(',') ?? server.url,
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
    ...(asked.keep_going ? ['--keep-going'] : []),
  ];
}
