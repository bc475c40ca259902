/** The few figures that matter most, and what the run is made on. */
import type { LoadFigures, LoadShown } from '../../../api/view/load.js';
import { shown, time } from '../../../report/shared/numbers.js';
import { Fact } from '../../parts/lists/fact.js';
import { plain } from '../../parts/text.js';
import { percent, perSecond } from './words.js';

type Named = [name: string, value: string];

export function KeyFacts({ load }: { load: LoadShown }) {
  const { figures, r } = load;
  const all = figures ? figuresOf(load, figures) : [];
  const known: Named[] = r === null ? all : [...all, ['R, one core verifies', perSecond(r)]];
  if (known.length === 0) return null;
  return (
    <section class="panel" aria-label="Figures so far">
      <Facts all={[...known, ...shareOfR(load)]} />
    </section>
  );
}

function figuresOf({ asked }: LoadShown, figures: LoadFigures): Named[] {
  const { arrivals, response, transactions, delivery, errors, operations, times } = figures;
  const share = arrivals.of_target;
  const several = operations.filter(({ operation }) => !operation.includes(' ')).length > 1;
  const slowest = several ? ' (slowest operation)' : '';
  // Of that workload a second counts transactions, and an arrival is a proposal of some.
  const proposals = asked.workload === 'transactions';
  const rate =
    asked.rate === null ? `${shown(asked.concurrency)} at a time` : perSecond(asked.rate);
  const finality = times.find((one) => one.time === 'finality');
  const delivered = times.find((one) => one.time === 'delivery');
  return [
    [proposals && asked.rate !== null ? 'asked transactions' : 'asked', rate],
    [
      proposals ? 'accepted proposals' : 'accepted',
      `${perSecond(arrivals.accepted_per_s)}${share === null ? '' : ` (${percent(share)})`}`,
    ],
    ...(transactions ? [['finalized transactions', perSecond(transactions.tps)] as Named] : []),
    [`median response${slowest}`, `${time(response.p50)}${serviceText(asked, times)}`],
    [`p95 response${slowest}`, time(response.p95)],
    [`p99 response${slowest}`, time(response.p99)],
    ...(finality ? [['p99 finality', time(finality.p99)] as Named] : []),
    ...(delivered ? [['p99 delivery', time(delivered.p99)] as Named] : []),
    ...(delivery ? [['deliveries', perSecond(delivery.deliveries_per_s)] as Named] : []),
    ['not accepted', percent(errors)],
  ];
}

/** In the open loop the response has the wait before the request was sent; service has not. */
function serviceText({ loop }: LoadShown['asked'], times: LoadFigures['times']): string {
  const medians = times.flatMap(({ time: kind, operation, p50 }) =>
    kind === 'service' && !operation?.includes(' ') ? (p50 ?? []) : [],
  );
  if (loop === 'closed' || medians.length === 0) return '';
  return ` (service ${time(Math.max(...medians))})`;
}

/** Of what is signed: each vote, and each transaction. */
function shareOfR({ asked, figures, r }: LoadShown): Named[] {
  if (!figures || !r) return [];
  const { arrivals, transactions } = figures;
  const rates: Record<string, number | undefined> = {
    votes: arrivals.accepted_per_s,
    transactions: transactions?.tps,
  };
  const rate = Object.hasOwn(rates, asked.workload) ? rates[asked.workload] : undefined;
  if (rate === undefined) return [];
  return [[`${asked.workload}, as a share of R`, shown(Math.round((1_000 * rate) / r) / 1_000)]];
}

export function Surroundings({ load: { asked, server, figures } }: { load: LoadShown }) {
  const { generator } = figures ?? {};
  const durable = server.durable === null ? '–' : server.durable ? 'yes' : 'no';
  const all: Named[] = [
    ['server', server.version === null ? '–' : `folkmoot ${server.version}`],
    ['limits', server.limits_profile ?? '–'],
    ['durable before it answers', durable],
    ['network', server.network_id ?? '–'],
    ['agents', shown(asked.agents)],
    ['transactions a block', shown(asked.batch)],
    ['warm-up, then measured', `${shown(asked.warmup_s)} s, ${shown(asked.duration_s)} s`],
    ['deadline of a request', time(asked.timeout_ms)],
    ['deadline of finality', time(asked.finality_timeout_ms)],
    ['HTTP connections, at most', shown(asked.connections)],
    ...(generator
      ? ([
          ['lag of the generator, p99', time(generator.lag_p99)],
          ['event loop of the generator', `busy ${percent(generator.utilization)}`],
        ] as Named[])
      : []),
  ];
  return (
    <section class="panel" aria-labelledby="load-around">
      <header>
        <h2 id="load-around">Server and generator</h2>
      </header>
      <Facts all={all} />
    </section>
  );
}

const Facts = ({ all }: { all: readonly Named[] }) => (
  <dl class="facts">
    {all.map(([name, value]) => (
      <Fact key={name} name={name}>
        <bdi>{plain(value)}</bdi>
      </Fact>
    ))}
  </dl>
);
