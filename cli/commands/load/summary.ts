/** Text summary of a load run. */
import { early } from '../../../bench/load/compare.js';
import { type LoadResult, P999_NEEDS } from '../../../bench/load/result.js';
import { formatMs } from '../../../report/shared/format.js';
import { serverLine } from './progress.js';

type Operation = LoadResult['operations'][number];
type Percentiles = Operation['response'];
type Outage = NonNullable<LoadResult['outages']>[number];
type LoadNode = NonNullable<LoadResult['nodes']>[number];

const count = (value: number) => value.toLocaleString('en-US');
const perS = (value: number) =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 2 : 0 });
const percent = (share: number) => `${perS(100 * share)} %`;

export function loadSummary(result: LoadResult): string[] {
  const rows: [string, string][] = [
    ['verdict', verdictText(result)],
    ...result.reasons.map((reason): [string, string] => ['', reason]),
    ['server', serverLine(result.server)],
    ['load', loadLine(result)],
    ...saturation(result),
    ['arrivals', arrivals(result)],
    ...transactions(result),
    ...delivery(result),
    ...result.operations.flatMap(fates),
    ...(result.outages ?? []).map((one): [string, string] => ['outage', outageText(one)]),
    ...(result.nodes ?? []).map((one): [string, string] => ['node', nodeText(one)]),
    ['generator', generator(result)],
    ['machine', machine(result)],
    ['seed', result.seed],
  ];
  const lines = rows.map(([name, value]) => `${name.padEnd(16)} ${value}`.trimEnd());
  return [...lines, '', ...latencies(result)];
}

/** Adds the reason for an early end. */
const verdictText = (result: LoadResult): string =>
  result.ended === 'complete' ? result.verdict : `${result.verdict}; the run ${early(result)}`;

function loadLine({ asked: wanted }: LoadResult): string {
  const { workload, loop, rate, concurrency, agents, batch, duration_s, warmup_s } = wanted;
  const much = loop === 'open' ? `${perS(rate ?? 0)}/s` : `${concurrency} concurrent`;
  const who = agents > 0 ? `, ${count(agents)} agents` : '';
  const blocks = batch > 0 ? `, ${count(batch)} transactions per block` : '';
  const time = `${duration_s} s after ${warmup_s} s warm-up`;
  return `${workload}, ${loop} loop, ${much}${who}${blocks}, ${time}`;
}

function arrivals({ arrivals: all, ended, measured_s }: LoadResult): string {
  const share = all.of_target === null ? '' : `, ${percent(all.of_target)} of the rate`;
  const early = ended === 'complete' ? '' : ` (${ended} after ${measured_s.toFixed(1)} s)`;
  const of = `${count(all.accepted)} of ${count(all.intended)} accepted`;
  return `${of}: ${perS(all.accepted_per_s)}/s${share}${early}`;
}

/** Formats the brackets, each with its range of R. */
function saturation({ saturation: found }: LoadResult): [string, string][] {
  if (!found) return [];
  const rows = found.brackets.map(({ holds, fails, unstable, probes }): [string, string] => {
    const speeds = probes.flatMap(({ r_before, r_after }) =>
      [r_before ?? [], r_after ?? []].flat(),
    );
    const r =
      speeds.length === 0
        ? 'R unknown'
        : `R ${perS(Math.min(...speeds))} to ${perS(Math.max(...speeds))}`;
    const upper = fails === null ? 'no rate failed' : `fails ${perS(fails)}`;
    const trust = unstable ? ': the speed of the machine varied' : '';
    return ['bracket', `holds ${perS(holds)}, ${upper}; ${r}${trust}`];
  });
  const several = found.overlap ? 'the brackets overlap' : 'the brackets do not overlap';
  const held = found.brackets.some(({ holds }) => holds > 0);
  const notes = [
    ...(found.slo.length > 0 ? [`objectives: ${found.slo.join(', ')}`] : []),
    ...(rows.length > 1 ? [several] : []),
    `figures below: last ${held ? 'passed ' : ''}probe`,
  ];
  return [...rows, ['', notes.join('; ')]];
}

function transactions({ transactions: all, finality }: LoadResult): [string, string][] {
  if (all.proposed === 0) return [];
  const { proposed, finalized, timed_out, unfinished, tps } = all;
  const blocks = finality.independent ? ` in ${count(finality.independent)} blocks` : '';
  const open = `${count(timed_out)} timed out, ${count(unfinished)} unfinished`;
  return [
    ['TPS', `${perS(tps)} finalized per second`],
    ['transactions', `${count(finalized)} of ${count(proposed)} finalized${blocks}, ${open}`],
  ];
}

function delivery({ delivery: all }: LoadResult): [string, string][] {
  if (all.subscribers === 0) return [];
  const { subscribers, expected, delivered, holes, disconnects, deliveries_per_s } = all;
  const events = `${count(delivered)} of ${count(expected)}, ${perS(deliveries_per_s)}/s`;
  const bad = `${count(holes)} gaps, ${count(disconnects)} disconnects`;
  return [['deliveries', `${events}, to ${count(subscribers)} subscribers; ${bad}`]];
}

function outageText({ start_ms, end_ms, duration_ms, failed, recovery_ms }: Outage): string {
  const requests = failed.map((one) => `${count(one.count)} ${one.operation}`).join(', ');
  const end = end_ms === null ? 'until the end' : `for ${formatMs(duration_ms)}`;
  const back = recovery_ms === null ? 'not recovered' : `recovered in ${formatMs(recovery_ms)}`;
  const after = end_ms === null ? '' : `; ${back}`;
  return `from ${formatMs(start_ms)} ${end}: failed ${requests || 'none'}${after}`;
}

const nodeText = ({ url, sent, accepted, failed, down_ms }: LoadNode): string =>
  `${url}, ${count(accepted)} of ${count(sent)} accepted, ${count(failed)} failed` +
  (down_ms > 0 ? `, unreachable for ${formatMs(down_ms)}` : '');

/** Formats the outcomes of one operation's requests. */
function fates(one: Operation): [string, string][] {
  const others = [
    ...one.refused.map(({ status, code, reason, count: times }) => {
      const named = [status, code, reason].filter((word) => word !== '-').join(' ');
      return `${count(times)} refused: ${named}`;
    }),
    ...(one.lies > 0 ? [`${count(one.lies)} answered 2xx without valid data`] : []),
    ...(one.timed_out > 0 ? [`${count(one.timed_out)} timed out`] : []),
    ...(one.broken > 0 ? [`${count(one.broken)} broken connections`] : []),
    ...(one.unfinished > 0 ? [`${count(one.unfinished)} unfinished`] : []),
  ];
  const first = `${count(one.accepted)} of ${count(one.sent)} accepted`;
  return [[one.operation, first], ...others.map((text): [string, string] => ['', text])];
}

function generator({ generator: { lag, utilization, keys, messages } }: LoadResult): string {
  const late = lag.p99 === null ? '' : `lag ${lag.p99.toFixed(1)} ms at p99, `;
  const signed =
    messages > 0 ? `, ${count(messages)} messages signed with ${count(keys)} keys` : '';
  return `${late}event loop utilization ${percent(utilization)}${signed}`;
}

function machine({ machine: name, node, r }: LoadResult): string {
  const speed = r === null ? '' : `, R ${perS(r)} verifications/s per core`;
  return `${name}, node ${node}${speed}`;
}

const columns = ['p50', 'p90', 'p95', 'p99', 'p999', 'max'] as const;

const TOO_FEW = `-: too few samples (p99.9 needs ${P999_NEEDS})`;

/** Formats the table of latencies. Rows without samples are omitted. */
function latencies(result: LoadResult): string[] {
  const rows: [string, Percentiles][] = [
    ...result.operations.flatMap(({ operation, response, service }): [string, Percentiles][] => [
      [`${operation}, response`, response],
      [`${operation}, service`, service],
    ]),
    ['finality', result.finality],
    ['delivery', result.delivery.latency],
  ];
  const seen = rows.filter(([, { count: samples }]) => samples > 0);
  if (seen.length === 0) return ['no latencies: no request was accepted'];
  const width = Math.max(...seen.map(([name]) => name.length), 16);
  const cell = (text: string) => text.padStart(10);
  const head = columns.map((name) => cell(name === 'p999' ? 'p99.9' : name)).join('');
  const few = seen.filter(([, { p999 }]) => p999 === null).length > 0;
  return [
    `${'milliseconds'.padEnd(width)}${head}`,
    ...seen.map(([name, values]) => {
      const cells = columns.map((column) => cell(values[column]?.toFixed(2) ?? '-'));
      return `${name.padEnd(width)}${cells.join('')}`;
    }),
    ...(few ? [TOO_FEW] : []),
  ];
}
