/** Figures by name: the few that matter most, and what the run was made on. */
import type { Html } from '../../../report/html.js';
import { code, type Fact, facts } from '../../../report/page.js';
import { shown, time } from '../../../report/shared/numbers.js';
import { valueText } from '../figures/compare.js';
import { figureOf, scheduled } from '../figures/figures.js';
import type { LoadResult } from '../result.js';

/** What cannot be said is left out. */
export function keyFacts(result: LoadResult): Html {
  const { arrivals, saturation, r } = result;
  const { accepted_per_s: rate, of_target: share } = arrivals;
  const slowest = scheduled(result).length > 1 ? ' (slowest operation)' : '';
  return facts([
    ...(saturation ? [{ name: 'rates that held', value: held(saturation) }] : []),
    ...figure(result, 'tps', 'finalized transactions'),
    {
      name: 'accepted',
      value: `${perSecond(rate)}${share === null ? '' : ` (${percent(share)})`}`,
    },
    ...withService(result, 'p50', `median response${slowest}`),
    ...withService(result, 'p99', `p99 response${slowest}`),
    ...figure(result, 'finality.p99', 'p99 finality'),
    ...figure(result, 'delivery.p99', 'p99 delivery'),
    ...figure(result, 'errors', 'not accepted'),
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
  return [{ name: `${what}, as a share of R`, value: shown(Math.round((rate / r) * 1e3) / 1e3) }];
}

function figure(result: LoadResult, name: string, title: string): Fact[] {
  const one = figureOf(name)!;
  const value = one.of(result);
  return value === null ? [] : [{ name: title, value: valueText(one, value) }];
}

/** In the open loop the response has the wait before the request was sent; service has not. */
function withService(result: LoadResult, name: 'p50' | 'p99', title: string): Fact[] {
  const [response] = figure(result, name, title);
  const [service] = figure(result, `service.${name}`, title);
  if (!response || !service || result.asked.loop === 'closed') return response ? [response] : [];
  return [{ name: title, value: `${response.value} (service ${service.value})` }];
}

function held({ brackets }: NonNullable<LoadResult['saturation']>): string {
  const rates = brackets.map(({ holds }) => holds);
  return rates.length === 0
    ? 'none'
    : `${shown(Math.min(...rates))} to ${perSecond(Math.max(...rates))}`;
}

export const deliveryFacts = (delivery: LoadResult['delivery']): Html =>
  facts([
    { name: 'connections', value: shown(delivery.subscribers) },
    { name: 'deliveries', value: `${shown(delivery.delivered)} of ${shown(delivery.expected)}` },
    { name: 'a second', value: perSecond(delivery.deliveries_per_s) },
    { name: 'holes that nobody announced', value: shown(delivery.holes) },
    { name: 'closed by the server', value: shown(delivery.disconnects) },
  ]);

export function surroundings({ server, asked, generator, machine, seed }: LoadResult): Html {
  const { loop, rate, concurrency } = asked;
  const load = loop === 'open' ? `open, ${perSecond(rate)}` : `closed, ${shown(concurrency)}`;
  return facts([
    { name: 'server', value: server.version === null ? '–' : `folkmoot ${server.version}` },
    { name: 'limits', value: server.limits_profile ?? '–' },
    { name: 'durable before it answers', value: yesOrNo(server.durable) },
    { name: 'network', value: server.network_id ?? '–' },
    { name: 'loop', value: load },
    { name: 'agents', value: shown(asked.agents) },
    { name: 'transactions a block', value: shown(asked.batch) },
    {
      name: 'warm-up, then measured',
      value: `${shown(asked.warmup_s)} s, ${shown(asked.duration_s)} s`,
    },
    { name: 'deadline of a request', value: time(asked.timeout_ms) },
    { name: 'deadline of finality', value: time(asked.finality_timeout_ms) },
    { name: 'HTTP connections, at most', value: shown(asked.connections) },
    { name: 'event loop of the generator', value: `busy ${percent(generator.utilization)}` },
    { name: 'signed ahead', value: percent(generator.prepared_ahead) },
    { name: 'keys', value: shown(generator.keys) },
    { name: 'signed messages', value: shown(generator.messages) },
    { name: 'seed', value: code(seed) },
    { name: 'machine of the generator', value: machine, wide: true },
  ]);
}

const yesOrNo = (value: boolean | null): string => (value === null ? '–' : value ? 'yes' : 'no');

const percent = (share: number): string => valueText({ unit: 'share' }, share);
const perSecond = (rate: number | null): string => valueText({ unit: 'per_s' }, rate);
