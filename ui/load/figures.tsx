/**
 * Figures for a load run: key figures, server and generator, failures, percentiles, and the search
 * for the highest sustained rate.
 */
import type {
  LoadFailure,
  LoadFigures,
  LoadProbe,
  LoadSearch,
  LoadSlowest,
  LoadState,
  LoadTimes,
} from '../../api/contract/load.js';
import { format, formatMs, plural } from '../../report/shared/format.js';
import { countScale, DotKey, Dots } from '../components/chart.js';
import { cleanText } from '../components/labels.js';
import { Fact, Figure, Rows, Scroll } from '../components/lists.js';
import { percent, perSecond, roundShown } from './run.js';

type Named = [name: string, value: string];

export function KeyFacts({ load }: { load: LoadState }) {
  const { figures, r } = load;
  const all = figures ? figuresOf(load, figures) : [];
  const known: Named[] = r === null ? all : [...all, ['R, verifications per core', perSecond(r)]];
  if (known.length === 0) return null;
  return (
    <section class="panel" aria-label="Key figures">
      <Facts all={[...known, ...shareOfR(load)]} />
    </section>
  );
}

function figuresOf({ asked }: LoadState, figures: LoadFigures): Named[] {
  const { arrivals, response, transactions, delivery, errors, times } = figures;
  const share = arrivals.of_target;
  // In this workload the rate counts transactions, but an arrival is a proposal with several
  // transactions.
  const proposals = asked.workload === 'transactions';
  const rate =
    asked.rate === null ? `concurrency ${format(asked.concurrency)}` : perSecond(asked.rate);
  const finality = times.find((one) => one.time === 'finality');
  const delivered = times.find((one) => one.time === 'delivery');
  return [
    [proposals && asked.rate !== null ? 'intended transactions' : 'intended', rate],
    [
      proposals ? 'accepted proposals' : 'accepted',
      `${perSecond(arrivals.accepted_per_s)}${share === null ? '' : ` (${percent(share)})`}`,
    ],
    ...(transactions ? [['finalized transactions', perSecond(transactions.tps)] as Named] : []),
    ...slowestOf('median response', asked, response.p50),
    ...slowestOf('p95 response', asked, response.p95),
    ...slowestOf('p99 response', asked, response.p99),
    ...(finality ? [['p99 finality', formatMs(finality.p99)] as Named] : []),
    ...(delivered ? [['p99 delivery', formatMs(delivered.p99)] as Named] : []),
    ...(delivery ? [['deliveries', perSecond(delivery.deliveries_per_s)] as Named] : []),
    ['failed', percent(errors)],
  ];
}

/**
 * Returns the response time of the slowest operation and, in an open loop, its service time.
 * Response time includes the wait before sending, and service time does not.
 */
function slowestOf(
  title: string,
  { loop }: LoadState['asked'],
  found: LoadSlowest | null,
): Named[] {
  if (!found) return [[title, '–']];
  const { operation, response, service, attributed } = found;
  const notes = [
    ...(loop === 'open' && service !== null ? [`service ${formatMs(service)}`] : []),
    ...(attributed ? [] : ['not attributed to the server']),
  ];
  const more = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  return [[`${title}, ${cleanText(operation, 40)}`, `${formatMs(response)}${more}`]];
}

/** Rate of signed items as a fraction of R. */
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
    ['durable before response', durable],
    ['network', server.network_id ?? '–'],
    ['agents', format(asked.agents)],
    ['transactions per block', format(asked.batch)],
    ['warm-up, measured time', `${format(asked.warmup_s)} s, ${format(asked.duration_s)} s`],
    ['request timeout', formatMs(asked.timeout_ms)],
    ['finality timeout', formatMs(asked.finality_timeout_ms)],
    ['maximum HTTP connections', format(asked.connections)],
    ...(generator
      ? ([
          ['generator lag, p99', formatMs(generator.lag_p99)],
          ['generator event loop utilization', percent(generator.utilization)],
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
  lie: '2xx response without data',
  timed_out: 'timed out',
  broken: 'broken connection',
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
          <h2 id="load-failures">Failed requests</h2>
        </header>
        <p>
          {answered === 0 ? 'No responses yet.' : `No failures in ${plural(answered, 'response')}.`}
        </p>
      </section>
    );
  }
  const kinds = failures.length + more;
  const rest =
    kinds > FAILURES_SHOWN ? ` The table lists ${format(kinds - FAILURES_SHOWN)} more kinds.` : '';
  return (
    <Figure
      title="Failed requests"
      caption={
        'Number of failed requests by operation and result; refusals with status, code and ' +
        `reason. n = ${plural(answered, 'response')}.${rest}`
      }
      chart={() => <FailureBars failures={failures.slice(0, FAILURES_SHOWN)} />}
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
        caption="Failed requests, most frequent first"
        head={['operation', 'result', 'status', 'code', 'reason', 'requests', 'share of sent']}
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
      {more > 0 && <p>{plural(more, 'more kind')}: see errors.csv in the --out folder.</p>}
    </>
  );
}

export function Search({ search }: { search: LoadSearch }) {
  const { probes, brackets, rate } = search;
  const most = probes.reduce((top, one) => Math.max(top, one.rate, one.accepted_per_s), rate ?? 0);
  const targets = ['99 % of the rate', ...search.slo.map((one) => cleanText(one, 60))];
  return (
    <Figure
      title="Search for the sustained rate"
      caption={
        'Accepted versus intended rate, per second. One mark per run at a fixed rate: filled if ' +
        `the run met the targets (${targets.join(', ')}), hollow if not. Dashed line: all ` +
        `intended requests accepted. n = ${plural(probes.length, 'run')}.`
      }
      chart={() => (
        <>
          <ul class="load-brackets">
            {rate !== null && <li>Testing {perSecond(rate)}.</li>}
            {brackets.map(({ holds, fails }, index) => (
              <li key={index}>
                <DotKey series={index} /> {`Bracket ${index + 1}: ${perSecond(holds)} passes, `}
                {fails === null ? 'no higher rate failed' : `${perSecond(fails)} fails`}.
              </li>
            ))}
          </ul>
          {probes.length === 0 ? (
            <p class="faint">No finished runs yet.</p>
          ) : (
            <Dots
              label="Accepted versus intended rates. The same data is in the table."
              dots={probes.map((one) => ({
                ...{ asked: one.rate, had: one.accepted_per_s, full: one.holds },
                series: one.bracket - 1,
              }))}
              scale={countScale('accepted per second', most)}
              most={most}
              across="intended per second"
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
        caption="Runs of the search, newest first"
        head={['bracket', 'rate', 'accepted', 'p99', 'passed', 'verdict', 'R', 'reason']}
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
      {omitted > 0 && <p>{plural(omitted, 'earlier run is', 'earlier runs are')} omitted.</p>}
    </>
  );
}

const timeTexts: Record<LoadTimes['time'], string> = {
  response: 'response',
  service: 'service',
  finality: 'finality of transactions',
  delivery: 'delivery to subscribers',
  lag: 'generator lag',
};

export function Times({ times }: { times: readonly LoadTimes[] }) {
  return (
    <section class="panel" aria-labelledby="load-times">
      <header>
        <h2 id="load-times">Times by percentile</h2>
        <p>
          Response time starts at the scheduled send time, service time at the actual send time. The
          difference is queueing delay.
        </p>
      </header>
      {times.length === 0 ? (
        <p class="faint">No responses yet.</p>
      ) : (
        <Scroll name="Times by operation">
          <Rows
            caption="All responses so far"
            head={['time', 'samples', 'median', 'p95', 'p99', 'maximum']}
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
