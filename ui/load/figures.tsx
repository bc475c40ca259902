/**
 * Figures of a load run: those that matter most, the surroundings, failures, times by percentile,
 * and the search for the highest rate that holds.
 */
import type {
  LoadFailure,
  LoadFigures,
  LoadProbe,
  LoadSearch,
  LoadState,
  LoadTimes,
} from '../../api/view/load-state.js';
import { format, formatMs } from '../../report/shared/format.js';
import { countScale, DotKey, Dots } from '../components/chart.js';
import { cleanText } from '../components/labels.js';
import { Fact, Figure, Rows, Scroll } from '../components/lists.js';
import { percent, perSecond, roundShown } from './run.js';

type Named = [name: string, value: string];

export function KeyFacts({ load }: { load: LoadState }) {
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

function figuresOf({ asked }: LoadState, figures: LoadFigures): Named[] {
  const { arrivals, response, transactions, delivery, errors, operations, times } = figures;
  const share = arrivals.of_target;
  const several = operations.filter(({ operation }) => !operation.includes(' ')).length > 1;
  const slowest = several ? ' (slowest operation)' : '';
  // Of that workload a second counts transactions, and an arrival is a proposal of some.
  const proposals = asked.workload === 'transactions';
  const rate =
    asked.rate === null ? `${format(asked.concurrency)} at a time` : perSecond(asked.rate);
  const finality = times.find((one) => one.time === 'finality');
  const delivered = times.find((one) => one.time === 'delivery');
  return [
    [proposals && asked.rate !== null ? 'asked transactions' : 'asked', rate],
    [
      proposals ? 'accepted proposals' : 'accepted',
      `${perSecond(arrivals.accepted_per_s)}${share === null ? '' : ` (${percent(share)})`}`,
    ],
    ...(transactions ? [['finalized transactions', perSecond(transactions.tps)] as Named] : []),
    [`median response${slowest}`, `${formatMs(response.p50)}${serviceText(asked, times)}`],
    [`p95 response${slowest}`, formatMs(response.p95)],
    [`p99 response${slowest}`, formatMs(response.p99)],
    ...(finality ? [['p99 finality', formatMs(finality.p99)] as Named] : []),
    ...(delivered ? [['p99 delivery', formatMs(delivered.p99)] as Named] : []),
    ...(delivery ? [['deliveries', perSecond(delivery.deliveries_per_s)] as Named] : []),
    ['not accepted', percent(errors)],
  ];
}

/** In the open loop the response has the wait before the request was sent; service has not. */
function serviceText({ loop }: LoadState['asked'], times: LoadFigures['times']): string {
  const medians = times.flatMap(({ time: kind, operation, p50 }) =>
    kind === 'service' && !operation?.includes(' ') ? (p50 ?? []) : [],
  );
  if (loop === 'closed' || medians.length === 0) return '';
  return ` (service ${formatMs(Math.max(...medians))})`;
}

/** Of what is signed: each vote, and each transaction. */
function shareOfR({ asked, figures, r }: LoadState): Named[] {
  if (!figures || !r) return [];
  const { arrivals, transactions } = figures;
  const rates: Record<string, number | undefined> = {
    votes: arrivals.accepted_per_s,
    transactions: transactions?.tps,
  };
  const rate = Object.hasOwn(rates, asked.workload) ? rates[asked.workload] : undefined;
  if (rate === undefined) return [];
  return [[`${asked.workload}, as a share of R`, format(Math.round((1_000 * rate) / r) / 1_000)]];
}

export function Surroundings({ load: { asked, server, figures } }: { load: LoadState }) {
  const { generator } = figures ?? {};
  const durable = server.durable === null ? '–' : server.durable ? 'yes' : 'no';
  const all: Named[] = [
    ['server', server.version === null ? '–' : `folkmoot ${server.version}`],
    ['limits', server.limits_profile ?? '–'],
    ['durable before it answers', durable],
    ['network', server.network_id ?? '–'],
    ['agents', format(asked.agents)],
    ['transactions a block', format(asked.batch)],
    ['warm-up, then measured', `${format(asked.warmup_s)} s, ${format(asked.duration_s)} s`],
    ['deadline of a request', formatMs(asked.timeout_ms)],
    ['deadline of finality', formatMs(asked.finality_timeout_ms)],
    ['HTTP connections, at most', format(asked.connections)],
    ...(generator
      ? ([
          ['lag of the generator, p99', formatMs(generator.lag_p99)],
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
        <bdi>{cleanText(value)}</bdi>
      </Fact>
    ))}
  </dl>
);

const ends: Record<LoadFailure['what'], string> = {
  refused: 'refused',
  lie: 'answered 2xx without the data',
  timed_out: 'timed out',
  broken: 'connection broke',
  unfinished: 'unfinished',
};

const FAILURES_SHOWN = 8;

export function Failures({ figures }: { figures: LoadFigures }) {
  const { failures, failures_omitted: more, operations } = figures;
  const answered = operations.reduce((sum, { accepted, failed }) => sum + accepted + failed, 0);
  if (failures.length === 0) {
    return (
      <section class="panel" aria-labelledby="load-failures">
        <header>
          <h2 id="load-failures">What was not accepted</h2>
        </header>
        <p>
          {answered === 0
            ? 'Nothing has been answered yet.'
            : `Nothing: all ${format(answered)} requests that were answered were accepted.`}
        </p>
      </section>
    );
  }
  const kinds = failures.length + more;
  const rest =
    kinds > FAILURES_SHOWN
      ? ` The ${format(kinds - FAILURES_SHOWN)} rarer ones are in the table.`
      : '';
  return (
    <Figure
      title="What was not accepted"
      caption={
        'Requests that were refused, with status, code and reason; that timed out or broke; and ' +
        `lies: answers of success without what the interface promises.${rest}`
      }
      picture={() => <FailureBars failures={failures.slice(0, FAILURES_SHOWN)} />}
      table={() => <FailureTable failures={failures} more={more} />}
    />
  );
}

function FailureBars({ failures }: { failures: readonly LoadFailure[] }) {
  const most = failures[0]?.count ?? 1;
  return (
    <ul class="load-bars">
      {failures.map((one, index) => (
        <li key={index}>
          <span>
            <bdi>{failureName(one)}</bdi>
          </span>
          <b>{format(one.count)}</b>
          <i style={{ width: `${(100 * one.count) / most}%` }} />
        </li>
      ))}
    </ul>
  );
}

const failureName = ({ operation, what, status, code, reason }: LoadFailure): string => {
  const why = [status, code, reason].filter((word) => word !== null && word !== '-');
  return `${cleanText(operation, 40)}: ${
    what === 'refused' ? cleanText(why.join(' ' + ''), 120) : ends[what]
  }`;
};

function FailureTable({ failures, more }: { failures: readonly LoadFailure[]; more: number }) {
  return (
    <>
      <Rows
        caption="Requests that were not accepted, the most frequent first"
        head={['operation', 'what', 'status', 'code', 'reason', 'requests', 'of sent']}
        numeric={[2, 5, 6]}
        rows={failures.map((one) => [
          cleanText(one.operation, 40),
          ends[one.what],
          one.status ?? '–',
          <bdi key="code">{cleanText(one.code ?? '–', 80)}</bdi>,
          <bdi key="reason">{cleanText(one.reason ?? '–', 120)}</bdi>,
          format(one.count),
          percent(one.share),
        ])}
      />
      {more > 0 && <p>{format(more)} kinds more are in errors.csv of --out.</p>}
    </>
  );
}

export function Search({ search }: { search: LoadSearch }) {
  const { probes, brackets, rate } = search;
  const most = probes.reduce((top, one) => Math.max(top, one.rate, one.accepted_per_s), rate ?? 0);
  return (
    <Figure
      title="The search for the rate that holds"
      caption={
        'Each mark is a run at a fixed rate: full where it held, open where it did not ' +
        `(${['99 % of the rate', ...search.slo.map((one) => cleanText(one, 60))].join(', ')}). ` +
        `On ` +
        'the dashed line all that was asked for was accepted.'
      }
      picture={() => (
        <>
          <ul class="load-brackets">
            {rate !== null && <li>Trying {format(roundShown(rate))} a second.</li>}
            {brackets.map(({ holds, fails }, index) => (
              <li key={index}>
                <DotKey series={index} />{' '}
                {`Bracket ${index + 1}: ${format(roundShown(holds))}/s holds, `}
                {fails === null
                  ? 'nothing failed above it'
                  : `${format(roundShown(fails))}/s fails`}
                .
              </li>
            ))}
          </ul>
          {probes.length === 0 ? (
            <p class="faint">No run of the search is over yet.</p>
          ) : (
            <Dots
              label="Rates that were asked for, and what was accepted. The table has the figures."
              dots={probes.map((one) => ({
                ...{ asked: one.rate, had: one.accepted_per_s, full: one.holds },
                series: one.bracket - 1,
              }))}
              scale={countScale('accepted a second', most)}
              most={most}
              across="asked for a second"
            />
          )}
        </>
      )}
      table={() => <SearchTable probes={probes} omitted={search.probes_omitted} />}
    />
  );
}

function SearchTable({ probes, omitted }: { probes: readonly LoadProbe[]; omitted: number }) {
  return (
    <>
      <Rows
        caption="Runs of the search, the newest first"
        head={['bracket', 'rate', 'accepted', 'p99', 'holds', 'verdict', 'R', 'why']}
        numeric={[1, 2, 3, 6]}
        rows={probes
          .toReversed()
          .map((one) => [
            one.bracket,
            format(roundShown(one.rate)),
            format(roundShown(one.accepted_per_s)),
            formatMs(one.p99),
            one.holds ? 'yes' : 'no',
            one.verdict,
            format(one.r_before === null ? null : Math.round(one.r_before)),
            <bdi key="why">{cleanText(one.reason, 200)}</bdi>,
          ])}
      />
      {omitted > 0 && <p>{format(omitted)} earlier ones are left out here.</p>}
    </>
  );
}

const timeTexts: Record<LoadTimes['time'], string> = {
  response: 'response',
  service: 'service',
  finality: 'finality of transactions',
  delivery: 'delivery to subscribers',
  lag: 'lag of the generator',
};

export function Times({ times }: { times: readonly LoadTimes[] }) {
  return (
    <section class="panel" aria-labelledby="load-times">
      <header>
        <h2 id="load-times">Times by percentile</h2>
        <p>
          Response runs from when a request was meant to be sent, service from when it was sent:
          what lies between is waiting that a user has too.
        </p>
      </header>
      {times.length === 0 ? (
        <p class="faint">Nothing has been answered yet.</p>
      ) : (
        <Scroll name="Times, operation by operation">
          <Rows
            caption="Of all that was answered so far"
            head={['time', 'samples', 'median', 'p95', 'p99', 'longest']}
            numeric={[1, 2, 3, 4, 5]}
            rows={times.map((one) => [
              one.operation === null
                ? timeTexts[one.time]
                : `${cleanText(one.operation, 40)}, ${timeTexts[one.time]}`,
              format(one.count),
              ...[one.p50, one.p95, one.p99, one.max].map(formatMs),
            ])}
          />
        </Scroll>
      )}
    </section>
  );
}
