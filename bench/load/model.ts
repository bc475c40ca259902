/**
 * Facts, tables and charts over time of a load run, as every view shows them: the text output, the
 * report, the page and CI. Only this module chooses names, units, order and limits.
 */
import type {
  LoadChart,
  LoadFacts,
  LoadSeries,
  LoadState,
  LoadTable,
} from '../../api/contract/load.js';
import { format, formatMs, formatValue, plural } from '../../report/shared/format.js';
import { type Failure, failures, findSlowest, listTimes, scheduledOperations } from './figures.js';
import { describeServer } from './options.js';
import {
  type Bracket,
  type LoadResult,
  type Operation,
  P999_NEEDS,
  type Percentiles,
  type Second,
} from './result.js';

/** Also known before the measured time. `overlap` is null while a search lasts. */
export interface KnownRun extends Pick<LoadResult, 'asked' | 'server'> {
  saturation: { slo: string[]; brackets: readonly Bracket[]; overlap: boolean | null } | null;
}

export type LoadModel = Pick<LoadState, 'title' | 'facts' | 'tables' | 'series'>;

/** @param result null before the first measured second. */
export function describeLoad(known: KnownRun, result: LoadResult | null): LoadModel {
  const { asked, saturation } = known;
  const key = [
    ...(saturation ? [searchFact(saturation)] : []),
    ...(result ? keyFacts(result) : []),
  ];
  const tables = [
    ...(saturation ? [bracketsTable(saturation), probesTable(saturation)] : []),
    ...(result ? resultTables(result) : []),
  ];
  return {
    title: `${asked.workload}, ${saturation ? 'saturation' : amountOf(asked)}`,
    facts: [
      { title: 'Key figures', rows: key },
      { title: 'Server, generator and machine', rows: setupFacts(known, result) },
    ].filter(({ rows }) => rows.length > 0),
    tables: tables.filter(({ rows }) => rows.length > 0),
    series: result && seriesOf(result),
  };
}

const amountOf = ({ rate, concurrency }: LoadResult['asked']): string =>
  rate === null ? `concurrency ${format(concurrency)}` : `${format(rate)}/s`;

type Fact = LoadFacts['rows'][number];
type Cell = Fact['value'];
type ShownUnit = Fact['unit'];

const fact = (
  name: string,
  unit: ShownUnit,
  value: Cell,
  ...notes: (string | null | false)[]
): Fact => ({ name, value, unit, note: notes.filter(Boolean).join(', ') });

const counted = (value: number, one: string, many?: string) =>
  value > 0 && plural(value, one, many);

type Search = NonNullable<KnownRun['saturation']>;

function searchFact({ slo, brackets, overlap }: Search): Fact {
  const rates = brackets.map(({ holds }) => holds);
  const [first, last] = [Math.min(...rates), Math.max(...rates)];
  const range = first === last ? `${format(first)}/s` : `${format(first)} to ${format(last)}/s`;
  return fact(
    'sustained rates',
    'text',
    rates.length === 0 ? null : range,
    slo.length > 0 && `objectives ${slo.join(', ')}`,
    brackets.length > 1 &&
      overlap !== null &&
      `the brackets ${overlap ? 'overlap' : 'do not overlap'}`,
    overlap !== null && `figures below: last ${last > 0 ? 'passed ' : ''}probe`,
  );
}

function keyFacts(result: LoadResult): Fact[] {
  const { asked, arrivals, transactions, finality, delivery, r } = result;
  const { accepted, intended, accepted_per_s, of_target: share } = arrivals;
  const what = asked.workload === 'transactions' ? 'proposals' : 'arrivals';
  const rates: Record<string, number> = { votes: accepted_per_s, transactions: transactions.tps };
  const signed = Object.hasOwn(rates, asked.workload) ? rates[asked.workload]! : null;
  return [
    fact(
      'arrivals',
      'per_s',
      accepted_per_s,
      `${format(accepted)} of ${format(intended)} ${what} accepted`,
      share !== null && `${formatValue(share, 'share')} of the rate`,
    ),
    ...(transactions.proposed > 0 ? [transactionsFact(result)] : []),
    ...(delivery.subscribers > 0 ? [deliveriesFact(delivery)] : []),
    ...(['p50', 'p95', 'p99'] as const).flatMap((name) => responseFact(result, name)),
    ...timeFact('p99 finality', finality, 'block'),
    ...timeFact('p99 delivery', delivery.latency, 'update'),
    fact('errors', 'share', knownErrors(result)),
    ...(r === null ? [] : [fact('R', 'per_s', r, 'verifications of one core')]),
    ...(r && signed !== null ? [fact(`${asked.workload} relative to R`, 'of_r', signed / r)] : []),
  ];
}

/** Equals the figure `errors`, except that requests in flight do not count during a run. */
function knownErrors(result: LoadResult): number | null {
  const scheduled = scheduledOperations(result);
  const failed = scheduled.flatMap(failures).reduce((sum, { count }) => sum + count, 0);
  const known = scheduled.reduce((sum, { accepted }) => sum + accepted, failed);
  return known === 0 ? null : failed / known;
}

function transactionsFact({ transactions, finality }: LoadResult): Fact {
  const { proposed, finalized, timed_out, unfinished, tps } = transactions;
  const blocks = finality.independent ? ` in ${plural(finality.independent, 'block')}` : '';
  return fact(
    'TPS',
    'per_s',
    tps,
    `${format(finalized)} of ${format(proposed)} transactions finalized${blocks}`,
    `${format(timed_out)} timed out`,
    `${format(unfinished)} unfinished`,
  );
}

function deliveriesFact(delivery: LoadResult['delivery']): Fact {
  const { subscribers, delivered, expected, holes, disconnects, deliveries_per_s } = delivery;
  return fact(
    'deliveries',
    'per_s',
    deliveries_per_s,
    `${format(delivered)} of ${format(expected)} to ${plural(subscribers, 'subscriber')}`,
    plural(holes, 'gap'),
    plural(disconnects, 'disconnect'),
  );
}

/** Returns the response time of the slowest operation and, in an open loop, its service time. */
function responseFact(result: LoadResult, percentile: 'p50' | 'p95' | 'p99'): Fact[] {
  const slowest = findSlowest(result, percentile);
  if (!slowest) return [];
  const { operation, response, service, isAttributed } = slowest;
  const showsService = result.asked.loop === 'open' && service !== null;
  return [
    fact(
      `${percentile} response`,
      'ms',
      response,
      operation,
      showsService && `service ${formatValue(service, 'ms')}`,
      !isAttributed && 'not attributed to the server',
    ),
  ];
}

const timeFact = (name: string, { p99, independent }: Percentiles, what: string): Fact[] =>
  p99 === null
    ? []
    : [fact(name, 'ms', p99, independent !== undefined && plural(independent, what))];

function setupFacts({ asked, server }: KnownRun, result: LoadResult | null): Fact[] {
  const { workload, loop, agents, batch, timeout_ms, finality_timeout_ms } = asked;
  const untilFinal = `${formatMs(finality_timeout_ms)} until final`;
  return [
    fact('server', 'text', server.url, describeServer(server)),
    ...(server.network_id === null ? [] : [fact('network', 'text', server.network_id)]),
    fact(
      'load',
      'text',
      `${workload}, ${loop} loop, ${amountOf(asked)}`,
      counted(agents, 'agent'),
      batch > 0 && `${plural(batch, 'transaction')} per block`,
      `${format(asked.duration_s)} s after ${format(asked.warmup_s)} s warm-up`,
    ),
    fact('timeouts', 'text', `${formatMs(timeout_ms)} per request, ${untilFinal}`),
    fact('connections', 'count', asked.connections, 'at most'),
    ...(result ? generatorFacts(result) : []),
  ];
}

function generatorFacts({ generator, arrivals, machine, node, seed }: LoadResult): Fact[] {
  const { lag, utilization, prepared_ahead, keys, messages } = generator;
  const percent = (share: number) => formatValue(share, 'share');
  const waited = Object.entries(arrivals.held ?? {})
    .filter(([, share]) => share > 0)
    .map(([what, share]) => `arrivals waited ${percent(share)} for ${what}`);
  const signed = `${format(messages)} messages with ${plural(keys, 'key')}`;
  const ahead = `${percent(prepared_ahead)} before the measured time`;
  return [
    fact(
      'generator lag',
      'ms',
      lag.p99,
      'p99',
      `event loop ${percent(utilization)} busy`,
      ...waited,
    ),
    ...(messages > 0 ? [fact('signed', 'text', signed, ahead)] : []),
    fact('machine', 'text', machine, `Node ${node.replace(/^v/, '')}`),
    fact('seed', 'text', seed),
  ];
}

/** Largest number of rows of a table, and of probes. */
const MOST_ROWS = 50;
const MOST_PROBES = 300;

/** Columns by name, and rows that a browser and a report can show. */
function tableOf(
  id: LoadTable['id'],
  title: string,
  columns: Record<string, ShownUnit>,
  rows: readonly (readonly Cell[])[],
  note = '',
): LoadTable {
  const left = rows.length - MOST_ROWS;
  const where = id === 'failures' ? 'errors.csv' : 'result.json';
  return {
    id,
    title,
    note: left > 0 ? `${note} ${format(left)} more are in ${where}.`.trim() : note,
    columns: Object.entries(columns).map(([name, unit]) => ({ name, unit })),
    rows: rows.slice(0, MOST_ROWS).map((cells) => [...cells]),
  };
}

const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no');

function bracketsTable({ brackets }: Search): LoadTable {
  const rows = brackets.map(({ holds, fails, error = null, unstable, probes }, index) => {
    const speeds = probes.flatMap((one) => [one.r_before ?? [], one.r_after ?? []].flat());
    const known = speeds.length > 0;
    const range = known ? [Math.min(...speeds), Math.max(...speeds)] : [null, null];
    const stated = error === null ? null : Math.round(1e4 * error) / 1e4;
    return [index + 1, holds, fails ?? 'no rate', stated, ...range, yesOrNo(!unstable)];
  });
  return tableOf(
    'brackets',
    'Brackets',
    {
      ...{ bracket: 'count', holds: 'per_s', fails: 'per_s', error: 'share', 'lowest R': 'per_s' },
      ...{ 'highest R': 'per_s', 'stable machine': 'text' },
    },
    rows,
  );
}

function probesTable({ brackets }: Search): LoadTable {
  const all = brackets.flatMap(({ probes }, index) =>
    probes.map((one) => [
      ...[index + 1, one.rate, one.accepted_per_s, one.p99, yesOrNo(one.holds), one.verdict],
      ...[one.r_before, one.r_after, one.reasons[0] ?? ''],
    ]),
  );
  const table = tableOf(
    'probes',
    'Probes',
    {
      ...{ bracket: 'count', rate: 'per_s', accepted: 'per_s', p99: 'ms', holds: 'text' },
      ...{ verdict: 'text', 'R before': 'per_s', 'R after': 'per_s', reason: 'text' },
    },
    [],
  );
  const left = all.length - MOST_PROBES;
  const note = left > 0 ? `${plural(left, 'earlier probe')}: see result.json.` : '';
  return { ...table, rows: all.slice(-MOST_PROBES), note };
}

function resultTables(result: LoadResult): LoadTable[] {
  const { operations, faults = [], outages = [], nodes = [], scenarios = [], shards = [] } = result;
  return [
    tableOf(
      'scenarios',
      'Scenarios',
      {
        ...{ scenario: 'text', executor: 'text', requests: 'text', intended: 'count' },
        ...{ accepted: 'count', dropped: 'count', 'accepted/s': 'per_s', p99: 'ms' },
        ...{ 'lag p99': 'ms', verdict: 'text' },
      },
      scenarios.map((one) => [
        ...[one.name, one.executor, one.mix, one.intended, one.accepted, one.dropped],
        ...[one.accepted_per_s, one.response.p99, one.lag.p99, one.verdict],
      ]),
    ),
    latenciesTable(result),
    requestsTable(operations),
    failuresTable(operations),
    faultsTable(faults),
    tableOf(
      'outages',
      'Outages',
      {
        ...{ start: 'ms', end: 'ms', duration: 'ms', 'failed requests': 'text' },
        ...{ 'rate before': 'per_s', 'time to recover': 'ms' },
      },
      outages.map(({ start_ms, end_ms, duration_ms, failed, rate_before, recovery_ms }) => {
        const counts = failed.map(({ operation, count }) => `${operation} ${format(count)}`);
        const failing = counts.join(', ') || 'none';
        return [start_ms, end_ms, duration_ms, failing, rate_before, recovery_ms];
      }),
    ),
    tableOf(
      'nodes',
      'Requests by server',
      { server: 'text', sent: 'count', accepted: 'count', failed: 'count', unreachable: 'ms' },
      nodes.map((one) => [one.url, one.sent, one.accepted, one.failed, one.down_ms]),
    ),
    tableOf(
      'shards',
      'Generators',
      {
        ...{ generator: 'text', verdict: 'text', sent: 'count', accepted: 'count' },
        ...{ finalized: 'count', 'lag p99': 'ms', 'clock offset': 'ms' },
      },
      shards.map((one) => [
        ...[`${one.number}/${one.count}`, one.verdict, one.sent, one.accepted, one.finalized],
        ...[one.lag_p99, one.clock_offset_ms],
      ]),
    ),
  ];
}

export const faultsTable = (faults: NonNullable<LoadResult['faults']>): LoadTable =>
  tableOf(
    'faults',
    'Faults',
    {
      ...{ fault: 'text', action: 'text', server: 'text', start: 'ms', end: 'ms' },
      ...{ downtime: 'ms', 'time to recover': 'ms', arrivals: 'count', errors: 'count' },
      ...{ sensitivity: 'ms', from: 'ms', to: 'ms' },
    },
    faults.map(({ sensitivity: score, ...one }) => [
      ...[one.name, one.action, one.server, one.start_ms, one.end_ms, one.downtime_ms],
      ...[one.recovery_ms, one.arrivals, one.errors],
      ...[score?.ms ?? null, score?.low_ms ?? null, score?.high_ms ?? null],
    ]),
    'Sensitivity: area between the distributions of response times, with its 95 % interval.',
  );

const timeNames = {
  ...{ response: 'response', service: 'service', finality: 'finality of transactions' },
  ...{ delivery: 'delivery to subscribers', lag: 'generator lag' },
};

function latenciesTable(result: LoadResult): LoadTable {
  const times = listTimes(result);
  const few = times.some(({ percentiles: { p999 } }) => p999 === null);
  return tableOf(
    'latencies',
    'Latencies',
    {
      ...{ latency: 'text', samples: 'count', mean: 'ms', p50: 'ms', p90: 'ms', p95: 'ms' },
      ...{ p99: 'ms', 'p99.9': 'ms', max: 'ms' },
    },
    times.map(({ operation, time, percentiles: of }) => [
      operation === null ? timeNames[time] : `${operation}, ${timeNames[time]}`,
      ...[of.count, of.mean, of.p50, of.p90, of.p95, of.p99, of.p999, of.max],
    ]),
    few ? `p99.9 needs ${P999_NEEDS}.` : '',
  );
}

const requestsTable = (operations: readonly Operation[]): LoadTable =>
  tableOf(
    'requests',
    'Requests',
    {
      ...{ operation: 'text', sent: 'count', accepted: 'count', refused: 'count' },
      ...{ invalid: 'count', 'timed out': 'count', broken: 'count', unfinished: 'count' },
    },
    operations.map((one) => {
      const refused = one.refused.reduce((sum, { count }) => sum + count, 0);
      const { operation, sent, accepted, lies, timed_out, broken, unfinished } = one;
      return [operation, sent, accepted, refused, lies, timed_out, broken, unfinished];
    }),
  );

const ends: Record<Failure['what'], string> = {
  refused: 'refused',
  lie: 'invalid response',
  timed_out: 'timed out',
  broken: 'broken connection',
  unfinished: 'unfinished',
};

function failuresTable(operations: readonly Operation[]): LoadTable {
  const all = operations
    .flatMap(({ operation, sent, ...rest }) =>
      failures({ operation, sent, ...rest }).map((one) => ({ operation, sent, ...one })),
    )
    .sort((a, b) => b.count - a.count);
  const named = (text: string | null) => (text === '-' ? null : text);
  return tableOf(
    'failures',
    'Failed requests',
    {
      ...{ operation: 'text', result: 'text', status: 'count', code: 'text', reason: 'text' },
      ...{ requests: 'count', 'share of sent': 'share' },
    },
    all.map(({ operation, what, status, code, reason, count, sent }) => [
      ...[operation, ends[what], status, named(code), named(reason)],
      ...[count, count / Math.max(1, sent)],
    ]),
  );
}

/** Maximum number of points. More points would be indistinguishable on a screen. */
const MOST_POINTS = 400;

/** Drops the incomplete last second, whose counts would look like a collapse. */
function wholeSeconds({ seconds, measured_s }: LoadResult): readonly Second[] {
  const full = seconds.slice(0, Math.floor(measured_s + 0.001));
  return full.length > 0 ? full : seconds;
}

/** Rounds to microseconds, the resolution of all times. A mean needs no more digits. */
const rounded = (value: number) => Math.round(value * 1e3) / 1e3;

/** Groups the seconds into points: the mean of rates, and the maximum of times. */
function seriesOf(result: LoadResult): LoadSeries {
  const seconds = wholeSeconds(result);
  const width = 2 ** Math.max(0, Math.ceil(Math.log2(seconds.length / MOST_POINTS)));
  const points = Array.from({ length: Math.ceil(seconds.length / width) }, (_, index) =>
    seconds.slice(index * width, (index + 1) * width),
  );
  const line =
    (of: (point: readonly Second[], member: keyof Second) => number | null): LineOf =>
    (name, member, color, dash = '') => ({
      ...{ name, color, dash },
      values: points.map((point) => of(point, member)).map((one) => one && rounded(one)),
    });
  const mean = line(
    (point, member) => point.reduce((sum, one) => sum + (one[member] ?? 0), 0) / point.length,
  );
  const most = line((point, member) =>
    point.reduce<number | null>((top, { [member]: value = null }) => {
      return value === null ? top : Math.max(top ?? 0, value);
    }, null),
  );
  const each = (what: string) =>
    width === 1 ? 'One point per second.' : `Each point is the ${what} of ${width} seconds.`;
  const charts = [
    arrivalsChart(result, mean, each('mean')),
    ...(result.transactions.proposed > 0 ? [finalizedChart(result, mean, each('mean'))] : []),
    timesChart(result, most, each('maximum')),
  ];
  const drawn = charts.filter(({ lines }) => lines[0]!.values.some((value) => value !== null));
  return { width, charts: drawn };
}

type Line = LoadChart['lines'][number];
type LineOf = (name: string, member: keyof Second, color: string, dash?: string) => Line;

function arrivalsChart({ asked }: LoadResult, line: LineOf, each: string): LoadChart {
  const what = asked.workload === 'transactions' ? 'Proposals' : 'Arrivals';
  const isOpen = asked.loop === 'open';
  return {
    title: `${what} over time`,
    caption:
      `${what} per second by result. Failed: refused, timed out, broken or without valid ` +
      `data.${isOpen ? ' Dashed: the schedule.' : ''} ${each}`,
    unit: 'per_s',
    lines: [
      line('accepted', 'accepted', 'c1'),
      line('failed', 'failed', 'c2', '2 3'),
      ...(isOpen ? [line('scheduled', 'intended', 'c8', '5 4')] : []),
    ],
  };
}

function finalizedChart({ asked }: LoadResult, line: LineOf, each: string): LoadChart {
  const final = line('finalized', 'finalized_transactions', 'c3');
  const rate = asked.workload === 'transactions' ? asked.rate : null;
  const values = final.values.map(() => rate);
  const target = { name: 'scheduled', color: 'c8', dash: '5 4', values };
  return {
    title: 'Finalized transactions over time',
    caption: `Transactions per second in finalized blocks. ${each}`,
    unit: 'per_s',
    lines: rate === null ? [final] : [final, target],
  };
}

function timesChart({ asked }: LoadResult, line: LineOf, each: string): LoadChart {
  const how =
    asked.loop === 'open'
      ? 'from the scheduled time.'
      : 'from the time of sending. A closed loop shows a stall of the server as a few long times.';
  return {
    title: 'Response times over time',
    caption:
      `Response times of the requests answered in each second, ${how} Where the lag of the ` +
      `generator is as high as the response times, these do not describe the server. ${each}`,
    unit: 'ms',
    lines: [
      line('p99', 'response_p99', 'c2'),
      line('p95', 'response_p95', 'c5', '9 3 2 3'),
      line('p50', 'response_p50', 'c1', '7 4'),
      line('generator lag', 'lag_max', 'c8', '2 3'),
    ],
  };
}

const MOST_CHARACTERS = 400;

/** Shortens a text of a server to what a page shows. */
const cutText = (text: string): string =>
  text.length <= MOST_CHARACTERS
    ? text
    : `${[...text.slice(0, 2 * MOST_CHARACTERS)].slice(0, MOST_CHARACTERS - 1).join('')}…`;

function cutTexts<T>(value: T): T {
  if (typeof value === 'string') return cutText(value) as T;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(cutTexts) as T;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cutTexts(one)])) as T;
}

const MOST_REASONS = 20;

interface Standing extends Pick<LoadState, 'phase' | 'said' | 'passed_ms' | 'of_ms' | 'search'> {
  /** URL of the network's explorer; null if unknown. */
  page: string | null;
  judged: Pick<LoadResult, 'verdict' | 'reasons'> | null;
  ended: LoadResult['ended'] | null;
}

/** Builds the state that the page shows. @param result null before the first measured second. */
export function createState(
  known: KnownRun,
  result: LoadResult | null,
  { page, judged, ended, ...run }: Standing,
): LoadState {
  const { verdict, reasons } = judged ?? {};
  return cutTexts({
    ...run,
    ...describeLoad(known, result),
    ...{ url: known.server.url, page, planned_s: known.asked.duration_s },
    verdict: verdict ? { verdict, reasons: reasons!.slice(0, MOST_REASONS), ended } : null,
  });
}

export const toLoadState = (result: LoadResult, page: string | null = null): LoadState =>
  createState(result, result, {
    ...{ phase: 'over', said: '', search: null, page, judged: result, ended: result.ended },
    ...{ passed_ms: result.measured_s * 1_000, of_ms: result.asked.duration_s * 1_000 },
  });
