/** The report of a load run: one page; whether it can be believed first, then what it measured. */
import { type Chart, figure } from '../../../report/figure.js';
import { type Html, html } from '../../../report/html.js';
import { madeBy, page, section } from '../../../report/page.js';
import type { LoadResult } from '../result.js';
import { again } from './again.js';
import { errorsChart } from './charts/errors.js';
import { percentileChart } from './charts/percentiles.js';
import { saturationChart, tiersChart } from './charts/rates.js';
import { finalizedChart, throughputChart, timesChart } from './charts/seconds.js';
import { deliveryFacts, keyFacts, surroundings } from './facts.js';
import { latencyTable, operationsTable, probesTable, refusalsTable } from './tables.js';
import { titleOf, verdictBox } from './verdict.js';

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
    section('Do it again', again(result)),
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
