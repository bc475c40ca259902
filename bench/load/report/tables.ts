/** The tables of a report: latencies, requests by what became of them, probes. */
import { type Html, html } from '../../../report/html.js';
import { type Column, code, table } from '../../../report/page.js';
import { shown, time } from '../../../report/shared/numbers.js';
import { changeText, valueText } from '../figures/compare.js';
import { timesOf } from '../figures/histograms.js';
import type { LoadResult, Operation } from '../result.js';

const number = (name: string): Column => ({ name, kind: 'number' });

export function latencyTable(result: LoadResult): Html | null {
  const times = timesOf(result);
  if (times.length === 0) return html`<p>Nothing was answered: there are no times.</p>\n`;
  const columns = [
    { name: 'time' },
    ...['samples', 'mean', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'max'].map(number),
  ];
  const rows = times.map(({ operation, time: name, percentiles }) => {
    const { count, mean, p50, p90, p95, p99, p999, max } = percentiles;
    const all = [mean, p50, p90, p95, p99, p999, max];
    return [operation === null ? name : `${operation}, ${name}`, shown(count), ...all.map(whole)];
  });
  const few = times.some(({ percentiles: { p999 } }) => p999 === null);
  const note = few ? '; p99.9 is shown from 1,000 samples on' : '';
  return table(`Times by percentile${note}`, columns, rows);
}

/** A time in one line. */
const whole = (ms: number | null): Html => html`<span class="whole">${time(ms)}</span>`;

export function operationsTable(operations: readonly Operation[]): Html {
  const ends = ['sent', 'accepted', 'refused', 'lies', 'timed out', 'broken', 'unfinished'];
  const columns = [{ name: 'operation' }, ...ends.map(number)];
  const rows = operations.map((one) => {
    const refused = one.refused.reduce((sum, { count }) => sum + count, 0);
    const { operation, sent, accepted, lies, timed_out, broken, unfinished } = one;
    return [
      operation,
      ...[sent, accepted, refused, lies, timed_out, broken, unfinished].map(shown),
    ];
  });
  return table('Requests of the measured time, by what became of them', columns, rows);
}

const MOST_REFUSALS = 50;

export function refusalsTable(operations: readonly Operation[]): Html | null {
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
      shown(count),
      valueText({ unit: 'share' }, share),
    ]);
  const left = all.length - rows.length;
  return html`${table('Refusals, the most frequent first', columns, rows)}
${left > 0 ? html`<p>${shown(left)} more are in errors.csv.</p>` : null}`;
}

export function probesTable(saturation: NonNullable<LoadResult['saturation']>): Html {
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
      shown(probe.rate),
      shown(Math.round(probe.accepted_per_s)),
      whole(probe.p99),
      probe.holds ? 'yes' : 'no',
      probe.verdict,
      valueText({ unit: 'per_s' }, probe.r_before),
      valueText({ unit: 'per_s' }, probe.r_after),
      changeText('per_s', probe.r_before, probe.r_after),
    ]),
  );
  const found = brackets.map(({ holds, fails, unstable }, index) => {
    const end = fails === null ? 'no rate was found that fails' : `${shown(fails)}/s fails`;
    const moved = unstable ? '; the speed of the machine moved by more than 10 % meanwhile' : '';
    return html`<p>Bracket ${index + 1}: ${shown(holds)}/s holds, ${end}${moved}.</p>\n`;
  });
  return html`${found}<p>${
    overlap ? 'All brackets share a rate.' : 'The brackets share no rate.'
  } The other figures of this report are of the last probe that held.</p>
${table('All probes', columns, rows)}`;
}
