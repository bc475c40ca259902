/**
 * The result of a load run. This one schema gives the type, the JSON Schema and the dictionary in
 * `docs`, and the check of files that are compared. Names end in their unit; latencies are
 * milliseconds with microseconds as decimals; rates are a second.
 */
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';

const strictly = { additionalProperties: false } as const;
const about = (description: string) => ({ description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const rate = (description: string) => Type.Number({ minimum: 0, description });
const milliseconds = (description: string) => Type.Number({ minimum: 0, description });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) =>
  Type.Union([type, Type.Null()]);

/** Of one histogram. Without a sample, all but `count` are null. */
export const Percentiles = Type.Object(
  {
    count: count('samples'),
    min: orNull(milliseconds('the shortest')),
    mean: orNull(milliseconds('the mean')),
    p50: orNull(milliseconds('median')),
    p90: orNull(milliseconds('90th percentile')),
    p95: orNull(milliseconds('95th percentile')),
    p99: orNull(milliseconds('99th percentile')),
    p999: orNull(milliseconds('99.9th percentile; null of fewer than 1,000 samples')),
    max: orNull(milliseconds('the longest')),
    histogram: orNull(
      Type.String(about('HDR histogram of microseconds, compressed, V2, Base64; null when empty')),
    ),
  },
  strictly,
);
export type Percentiles = Static<typeof Percentiles>;

const latency = (description: string): typeof Percentiles => ({
  ...Percentiles,
  ...about(description),
});

/** Of the requests of one kind: what was asked, and what became of each. They add up to `sent`. */
export const Operation = Type.Object(
  {
    operation: Type.String(
      about('vote, propose, read, meme, status or register; with (beside), not of the schedule'),
    ),
    sent: count('requests sent in the measured time'),
    accepted: count('answered 2xx with what the interface says is in them'),
    refused: Type.Array(
      Type.Object(
        {
          status: count('HTTP status'),
          code: Type.String(about('error.code, or - where the answer has none')),
          reason: Type.String(about('error.details.reason, or -')),
          count: count('answers'),
        },
        strictly,
      ),
      about('answers that are no success, the most frequent first'),
    ),
    lies: count('answers of success without the data that makes them one: never accepted'),
    timed_out: count('without an answer at their deadline'),
    broken: count('whose connection failed or broke before the answer'),
    unfinished: count('without an answer when the run stopped'),
    response: latency(
      'of what was accepted, from the time the schedule intended to the answer, waiting for a ' +
        'free connection included',
    ),
    service: latency('of what was accepted, from sending to the answer'),
  },
  { ...strictly, ...about('the requests of one kind, and what became of them') },
);
export type Operation = Static<typeof Operation>;

export const Second = Type.Object(
  {
    second: count('since the measured time began'),
    intended: count('arrivals of the schedule'),
    sent: count('requests sent'),
    accepted: count('arrivals accepted'),
    failed: count('arrivals refused, timed out, broken or lies'),
    finalized_transactions: count('transactions seen finalized'),
    response_p50: orNull(milliseconds('median response time of what was answered in it')),
    response_p95: Type.Optional(
      orNull(milliseconds('95th percentile of it; older results are without')),
    ),
    response_p99: orNull(milliseconds('99th percentile of it')),
    lag_max: orNull(milliseconds("the generator's own longest lag")),
  },
  strictly,
);
export type Second = Static<typeof Second>;

const verdicts = ['VALID', 'UNSTABLE', 'CLIENT_BOUND', 'WORKLOAD_BOUND', 'INVALID'] as const;
/** Verdicts of runs whose figures describe the server. */
export const usableVerdicts: readonly (typeof verdicts)[number][] = ['VALID', 'UNSTABLE'];

/** One probe of `--saturate`. */
export const Probe = Type.Object(
  {
    rate: rate('a second, as it was asked for'),
    accepted_per_s: rate('what was accepted of it'),
    p99: orNull(milliseconds('of the response time')),
    holds: Type.Boolean(
      about('it kept 99 % of its rate and the objectives, and its second half was not worse'),
    ),
    verdict: Type.Enum([...verdicts], { description: 'of the probe as a run' }),
    reasons: Type.Array(Type.String(), about('why it is not VALID, or does not hold')),
    r_before: orNull(rate('R before it; null where libsodium does not load')),
    r_after: orNull(rate('R after it')),
  },
  strictly,
);
export type Probe = Static<typeof Probe>;

export const Bracket = Type.Object(
  {
    holds: rate('the highest rate that held; 0 when none did'),
    fails: orNull(rate('the lowest rate above it that failed; null when none did')),
    unstable: Type.Boolean(about('R moved by more than a tenth while it was sought')),
    probes: Type.Array(Probe),
  },
  strictly,
);
export type Bracket = Static<typeof Bracket>;

export const LoadResult = Type.Object(
  {
    format: Type.Literal('folkmoot-load-1'),
    started: Type.String(about('when the measured time began, RFC 3339')),
    machine: Type.String(about('of the generator: cores x model')),
    node: Type.String(about('version of Node')),
    commit: Type.String(about('of folkmoot, or unknown')),
    seed: Type.String(about('from which keys and choices follow')),
    r: orNull(rate("one core's libsodium verifications a second, on the generator's machine")),
    server: Type.Object(
      {
        url: Type.String(about('without /api')),
        version: orNull(Type.String(about('of its software'))),
        limits_profile: orNull(Type.String(about('spec, bench or off'))),
        durable: orNull(Type.Boolean(about('whether it answers after the entry is on disk'))),
        network_id: orNull(Type.String(about('name of its network'))),
        epoch: orNull(Type.String(about('of its data; another one is another network'))),
      },
      { ...strictly, ...about('what GET /api/v1/meta says; null where it does not') },
    ),
    asked: Type.Object(
      {
        workload: Type.Enum(['votes', 'transactions', 'mixed', 'reads', 'subscribers'], {
          description: 'what was sent',
        }),
        loop: Type.Enum(['open', 'closed'], {
          description: 'open: by a schedule; closed: so many under way',
        }),
        rate: orNull(
          rate('arrivals, or transactions of `transactions`, a second; null in the closed loop'),
        ),
        concurrency: orNull(count('requests under way; null in the open loop')),
        agents: count('agents, each with a key of its own'),
        batch: count('transactions a block'),
        duration_s: Type.Number(about('measured time that was planned')),
        warmup_s: Type.Number(about('before it, sent and not counted')),
        timeout_ms: count('deadline of a request'),
        finality_timeout_ms: count('deadline of a transaction, from its intended time'),
        connections: count('HTTP connections at most'),
      },
      strictly,
    ),
    verdict: Type.Enum([...verdicts], { description: 'whether the figures can be believed' }),
    reasons: Type.Array(Type.String(), about('why it is not VALID, or what else should be known')),
    ended: Type.Enum(['complete', 'interrupted', 'failed'], {
      description: 'failed: the server went away, changed its epoch, or could not go on',
    }),
    measured_s: Type.Number(about('measured time, without warm-up and waiting at the end')),
    arrivals: Type.Object(
      {
        intended: count('arrivals by the schedule'),
        accepted: count('arrivals accepted'),
        accepted_per_s: rate('accepted a second of the measured time'),
        of_target: orNull(Type.Number(about('accepted_per_s as a share of what was asked for'))),
        halves: Type.Array(
          Type.Object(
            {
              accepted: count('of the arrivals intended in it'),
              response_p50: orNull(milliseconds('median of their response times')),
            },
            strictly,
          ),
          about('the first and the second half of the measured time; none if it ended early'),
        ),
        held: Type.Optional(
          Type.Object(
            {
              connections: Type.Number(about('waiting for a free connection')),
              answers: Type.Number(about('waiting for answers on which the next request depends')),
              signatures: Type.Number(about('waiting for signatures of the generator')),
            },
            {
              ...strictly,
              ...about(
                'shares of the measured time in which arrivals waited; absent in older results',
              ),
            },
          ),
        ),
        limit: Type.Optional(
          orNull(
            Type.Object(
              {
                per_s: rate('arrivals a second that the workload offered'),
                option: Type.Enum(['--agents', '--batch'], {
                  description: 'option that raises it',
                }),
                value: count('value of the option at which the workload offers the rate'),
              },
              {
                ...strictly,
                ...about('limit that the workload itself sets; null where it sets none'),
              },
            ),
          ),
        ),
      },
      strictly,
    ),
    transactions: Type.Object(
      {
        proposed: count('in proposals sent in the measured time'),
        accepted: count('in proposals that were accepted'),
        finalized: count('in blocks seen finalized, through the event stream'),
        timed_out: count('not final at their deadline'),
        unfinished: count('neither final nor late when the run stopped'),
        tps: rate('finalized a second of the measured time'),
      },
      strictly,
    ),
    finality: latency('of a transaction, from its intended time to its finality seen'),
    delivery: Type.Object(
      {
        subscribers: count('connections'),
        expected: count('deliveries: events caused, times subscribers'),
        delivered: count('deliveries seen'),
        holes: count('deliveries missing, or numbers left out, that nobody announced'),
        disconnects: count('connections that the server closed'),
        deliveries_per_s: rate('seen a second of the measured time'),
        latency: latency('from when the cause was to be sent to its event at a subscriber'),
      },
      strictly,
    ),
    operations: Type.Array(Operation),
    generator: Type.Object(
      {
        lag: latency('how much later than it could the generator sent'),
        of_response: Type.Optional(
          orNull(
            Type.Object(
              {
                p50: orNull(Type.Number(about('at the median'))),
                p90: orNull(Type.Number(about('at the 90th percentile'))),
                p95: orNull(Type.Number(about('at the 95th percentile'))),
                p99: orNull(Type.Number(about('at the 99th percentile'))),
              },
              {
                ...strictly,
                ...about(
                  'lag as a share of response time, of the fastest operation; null in the ' +
                    'closed loop, absent in older results',
                ),
              },
            ),
          ),
        ),
        utilization: Type.Number(about('of its event loop, 0 to 1')),
        prepared_ahead: Type.Number(about('share of signatures made before the measured time')),
        keys: count('keys that signed'),
        messages: count('signed messages, no two alike'),
      },
      strictly,
    ),
    seconds: Type.Array(Second),
    saturation: orNull(
      Type.Object(
        {
          slo: Type.Array(Type.String(), about('what had to hold, such as p99<=200ms')),
          brackets: Type.Array(Bracket),
          overlap: Type.Boolean(about('all brackets share a rate')),
        },
        {
          ...strictly,
          ...about('of --saturate; the other figures are of its last probe that held'),
        },
      ),
    ),
    tiers: Type.Array(
      Type.Object(
        {
          name: Type.String(about('of the tier')),
          per_s: rate('votes and proposals a second'),
          of_r: Type.Number(about('as a share of R')),
        },
        { ...strictly, ...about('of `npm run bench`, where they were measured together') },
      ),
    ),
  },
  { ...strictly, $id: 'folkmoot-load-1', title: 'What folkmoot load measured' },
);
export type LoadResult = Static<typeof LoadResult>;

type SchemaTree = Record<string, unknown>;

const resultSchema = LoadResult as unknown as SchemaTree;

export function loadResultJsonSchema(): SchemaTree {
  const { $id: _, ...schema } = resultSchema;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:folkmoot:load-result',
    ...schema,
  };
}

interface Meaning {
  /** As in `operations[].response`. */
  path: string;
  meaning: string;
}

/** What every figure means, in the order of the file. What is there twice is explained once. */
export function meanings(): Meaning[] {
  const explained = new Set<unknown>();
  const visit = (path: string, schema: SchemaTree): Meaning[] => {
    const inner = schema.anyOf ? (schema.anyOf as SchemaTree[])[0]! : schema;
    const text = schema.description ?? inner.description;
    const own = path !== '' && text !== undefined ? [{ path, meaning: String(text) }] : [];
    if (inner.items) return [...own, ...visit(`${path}[]`, inner.items as SchemaTree)];
    if (!inner.properties || explained.has(inner.properties)) return own;
    explained.add(inner.properties);
    const members = Object.entries(inner.properties as Record<string, SchemaTree>);
    const prefix = path === '' ? '' : `${path}.`;
    return [...own, ...members.flatMap(([name, one]) => visit(`${prefix}${name}`, one))];
  };
  return visit('', resultSchema);
}
