/**
 * The result of a load run. This schema gives the type, the documents and the checks of files.
 * Names end in their unit. Latencies are in milliseconds with three decimals, rates are per second.
 */
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';

const strictly = { additionalProperties: false } as const;
const about = (description: string) => ({ description });
const text = (description: string) => Type.String({ description });
type Members = Parameters<typeof Type.Object>[0];
const object = <T extends Members>(members: T) => Type.Object(members, strictly);
const described = <T extends Members>(description: string, members: T) =>
  Type.Object(members, { ...strictly, description });
const rows = <T extends Members>(description: string, members: T) =>
  Type.Array(object(members), { description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const rate = (description: string) => Type.Number({ minimum: 0, description });
const milliseconds = (description: string) => Type.Number({ minimum: 0, description });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) =>
  Type.Union([type, Type.Null()]);

/** Independent samples of a 99.9th percentile. With fewer, it is just the maximum. */
export const LEAST_P999 = 1_000;
/** Text of the samples that a 99.9th percentile needs. */
export const P999_NEEDS = '1,000 samples; for finality, 1,000 blocks; for delivery, 1,000 updates';

/** A latency histogram. If there are no samples, all members except `count` are null. */
export const Percentiles = object({
  count: count('samples'),
  independent: Type.Optional(
    count(
      'independent samples: blocks for finality, updates for delivery; absent if all samples are',
    ),
  ),
  min: orNull(milliseconds('minimum')),
  mean: orNull(milliseconds('mean')),
  p50: orNull(milliseconds('median')),
  p90: orNull(milliseconds('90th percentile')),
  p95: orNull(milliseconds('95th percentile')),
  p99: orNull(milliseconds('99th percentile')),
  p999: orNull(milliseconds('99.9th percentile; null with fewer than 1,000 independent samples')),
  max: orNull(milliseconds('maximum')),
  histogram: orNull(text('HDR histogram of microseconds, compressed, V2, Base64; null when empty')),
});
export type Percentiles = Static<typeof Percentiles>;

const latency = (description: string): typeof Percentiles => ({
  ...Percentiles,
  ...about(description),
});

/** Outcomes of requests of one kind. The outcome counts add up to `sent`. */
export const Operation = described('requests of one kind, by outcome', {
  operation: Type.String(
    about('vote, propose, read, meme, status or register; (beside) if outside the schedule'),
  ),
  sent: count('requests sent in the measured time'),
  accepted: count('answered 2xx with the data that the protocol requires'),
  refused: rows('error responses, most frequent first', {
    status: count('HTTP status'),
    code: text('error.code of the response, or -'),
    reason: text('error.details.reason, or -'),
    count: count('responses'),
  }),
  lies: count('2xx responses without the required data; not accepted'),
  timed_out: count('no response within the timeout'),
  broken: count('connection failed or lost before the response'),
  unfinished: count('no response when the run stopped'),
  response: latency(
    'accepted requests, from the scheduled time to the response, including the wait for a ' +
      'free connection',
  ),
  service: latency('accepted requests, from sending to the response'),
});
export type Operation = Static<typeof Operation>;

export const Second = object({
  second: count('since the start of the measured time'),
  intended: count('scheduled arrivals'),
  sent: count('requests sent'),
  accepted: count('arrivals accepted'),
  failed: count('arrivals refused, timed out, broken or invalid'),
  finalized_transactions: count('transactions observed as finalized'),
  response_p50: orNull(milliseconds('median response time of requests answered in this second')),
  response_p95: Type.Optional(
    orNull(milliseconds('95th percentile of the same; absent in older results')),
  ),
  response_p99: orNull(milliseconds('99th percentile of the same')),
  lag_max: orNull(milliseconds('longest lag of the load generator')),
});
export type Second = Static<typeof Second>;

const shardMembers = {
  number: count('number of the generator, from 1'),
  count: count('generators of the run'),
  start_at: text('start of the warm-up, RFC 3339'),
  clock_offset_ms: orNull(Type.Number(about('server clock minus clock of the generator'))),
  clock_uncertainty_ms: orNull(milliseconds('largest error of clock_offset_ms')),
  clock_moved_ms: orNull(Type.Number(about('change of clock_offset_ms during the run'))),
};

const verdicts = [
  'VALID',
  'UNSTABLE',
  'CLIENT_BOUND',
  'WORKLOAD_BOUND',
  'INVALID',
  'INCOMPLETE',
] as const;
const verdict = (description: string) => Type.Enum([...verdicts], { description });
/** Verdicts of runs whose figures describe the server. */
export const usableVerdicts: readonly (typeof verdicts)[number][] = ['VALID', 'UNSTABLE'];

export const Probe = object({
  rate: rate('target rate'),
  accepted_per_s: rate('accepted arrivals per second'),
  p99: orNull(milliseconds('99th percentile of the response time')),
  holds: Type.Boolean(
    about('the probe met 99 % of its rate and the objectives, and its second half was not worse'),
  ),
  verdict: verdict('verdict of the probe as a run'),
  reasons: Type.Array(Type.String(), about('reasons why it is not VALID or does not hold')),
  r_before: orNull(rate('R before the probe; null if libsodium does not load')),
  r_after: orNull(rate('R after the probe')),
});
export type Probe = Static<typeof Probe>;

export const Bracket = object({
  holds: rate('highest rate that held; 0 if none did'),
  fails: orNull(rate('lowest failing rate above it; null if none failed')),
  error: Type.Optional(
    Type.Number(
      about('chance that the highest rate is outside of the bracket; absent in older results'),
    ),
  ),
  unstable: Type.Boolean(about('R changed by more than 10 % during the search')),
  probes: Type.Array(Probe),
});
export type Bracket = Static<typeof Bracket>;

export const Outage = described('a time in which no server was reachable', {
  start_ms: Type.Integer(
    about('first failure after the last response, from the start of the measured time'),
  ),
  end_ms: orNull(
    Type.Integer(about('first successful response afterwards; null if there was none')),
  ),
  duration_ms: count('end_ms minus start_ms; until the end of the run if end_ms is null'),
  failed: rows('requests of the measured time that failed in the outage', {
    operation: text('as in operations'),
    count: count('failed requests'),
  }),
  rate_before: orNull(
    rate(
      'finalized transactions per second in the 10 s before the outage, or accepted arrivals ' +
        'if none are proposed; null if less than 1 s was measured',
    ),
  ),
  recovery_ms: orNull(
    milliseconds(
      'from end_ms to the start of the first second with 90 % of rate_before, without ' +
        'transactions or arrivals of the time before; null if there was none',
    ),
  ),
});
export type Outage = Static<typeof Outage>;

export const LoadResult = Type.Object(
  {
    format: Type.Literal('folkmoot-load-1'),
    started: text('start of the measured time, RFC 3339'),
    machine: text('machine of the load generator: cores x model'),
    node: text('version of Node.js'),
    commit: text('commit of folkmoot, or unknown'),
    seed: text('source of keys and random choices'),
    r: orNull(
      rate('libsodium verifications per second of one core, on the machine of the load generator'),
    ),
    server: described('from GET /api/v1/meta; null if not reported', {
      url: text('server URL without /api'),
      version: orNull(text('version of the server')),
      limits_profile: orNull(text('spec, bench or off')),
      durable: orNull(
        Type.Boolean(about('true if the server responds after the entry is on disk')),
      ),
      network_id: orNull(text('network id')),
      epoch: orNull(text('epoch of its data; changes with a new network')),
    }),
    asked: object({
      workload: text('workload, or requests of the scenarios of a file'),
      loop: Type.Enum(['open', 'closed'], {
        description: 'open: fixed schedule; closed: fixed number of requests in flight',
      }),
      rate: orNull(rate('arrivals per second, or transactions per second; null in a closed loop')),
      concurrency: orNull(count('requests in flight; null in an open loop')),
      agents: count('agents, each with its own key'),
      batch: count('transactions per block'),
      duration_s: Type.Number(about('planned measured time')),
      warmup_s: Type.Number(about('warm-up before the measured time, not counted')),
      timeout_ms: count('request timeout'),
      finality_timeout_ms: count('finality timeout of a transaction, from its scheduled time'),
      connections: count('maximum HTTP connections'),
      keep_going: Type.Optional(
        Type.Boolean(about('true if the run continued while no server was reachable')),
      ),
      file: Type.Optional(text('text of the load file; absent without one')),
    }),
    verdict: verdict('validity of the figures'),
    reasons: Type.Array(Type.String(), about('reasons why the run is not VALID, and notes')),
    ended: Type.Enum(['complete', 'interrupted', 'failed'], {
      description: 'failed: the server was unreachable, changed its epoch, or could not continue',
    }),
    measured_s: Type.Number(about('measured time, without warm-up and final wait')),
    arrivals: object({
      intended: count('scheduled arrivals'),
      accepted: count('arrivals accepted'),
      accepted_per_s: rate('accepted arrivals per second of the measured time'),
      of_target: orNull(Type.Number(about('accepted_per_s as a share of the target rate'))),
      halves: rows('first and second half of the measured time; empty if it ended early', {
        accepted: count('accepted arrivals of those scheduled in this half'),
        response_p50: orNull(milliseconds('median response time of these')),
      }),
      held: Type.Optional(
        described('shares of the measured time in which arrivals waited; absent in older results', {
          connections: Type.Number(about('waiting for a free connection')),
          answers: Type.Number(about('waiting for responses on which the next request depends')),
          signatures: Type.Number(about('waiting for signatures of the load generator')),
        }),
      ),
      limit: Type.Optional(
        orNull(
          described('limit of the workload itself; null unless the verdict is WORKLOAD_BOUND', {
            per_s: rate('arrivals per second offered by the workload'),
            option: Type.Enum(['--agents', '--batch'], {
              description: 'option that raises this rate',
            }),
            value: count('value of the option at which the workload offers the target rate'),
          }),
        ),
      ),
    }),
    transactions: object({
      proposed: count('transactions in proposals sent during the measured time'),
      accepted: count('transactions in accepted proposals'),
      finalized: count('transactions in finalized blocks, seen in the event stream'),
      timed_out: count('transactions not final by their deadline'),
      unfinished: count('transactions neither final nor late when the run stopped'),
      tps: rate('finalized transactions per second of the measured time'),
    }),
    finality: latency(
      'from the scheduled time of a transaction to the observation of its finality',
    ),
    scenarios: Type.Optional(
      rows('scenarios of a load file; absent without one', {
        name: text('name of the scenario'),
        executor: text('executor'),
        mix: text('requests with their shares'),
        arrivals: Type.Enum(['uniform', 'poisson', 'trace'], { description: 'arrival law' }),
        intended: count('scheduled arrivals, or iterations begun'),
        sent: count('arrivals sent'),
        accepted: count('arrivals accepted'),
        dropped: count('arrivals that were never sent'),
        accepted_per_s: rate('accepted arrivals per second of the measured time'),
        response: latency('accepted arrivals, from the scheduled time to the response'),
        lag: latency('lag of the load generator in this scenario'),
        verdict: verdict('verdict on this scenario'),
      }),
    ),
    delivery: object({
      subscribers: count('subscriber connections'),
      expected: count('expected deliveries: events caused, multiplied by subscribers'),
      delivered: count('deliveries received'),
      holes: count('missing deliveries or event numbers without a gap message'),
      disconnects: count('connections closed by the server'),
      deliveries_per_s: rate('deliveries per second of the measured time'),
      latency: latency('from the scheduled time of the cause to its event at a subscriber'),
    }),
    operations: Type.Array(Operation),
    generator: object({
      lag: latency('delay between the earliest possible and the actual sending time'),
      of_response: Type.Optional(
        orNull(
          described(
            'lag as a share of response time, of the fastest operation; null in a ' +
              'closed loop, absent in older results',
            {
              p50: orNull(Type.Number(about('at the median'))),
              p90: orNull(Type.Number(about('at the 90th percentile'))),
              p95: orNull(Type.Number(about('at the 95th percentile'))),
              p99: orNull(Type.Number(about('at the 99th percentile'))),
            },
          ),
        ),
      ),
      attributed: Type.Optional(
        Type.Array(
          Type.String(),
          about(
            'quantiles of response times attributed to the server, such as vote.p99: at most ' +
              '10 % is generator lag or waiting for the workload; absent in older results',
          ),
        ),
      ),
      utilization: Type.Number(about('event loop utilization, 0 to 1')),
      prepared_ahead: Type.Number(about('share of signatures made before the measured time')),
      keys: count('keys that signed'),
      messages: count('signed messages, all distinct'),
    }),
    seconds: Type.Array(Second),
    faults: Type.Optional(
      rows('faults of a load file; absent without them', {
        name: text('name of the fault'),
        action: text('what it does: kill, stop, pause, slow, start, signal or run'),
        server: orNull(text('name of the server; null for a command')),
        start_ms: Type.Integer(about('begin, from the start of the measured time')),
        end_ms: Type.Integer(about('planned end')),
        until_ms: Type.Integer(about('end of its effect: 10 s after its end, or the next fault')),
        arrivals: count('arrivals scheduled from its start to the end of its effect'),
        errors: count('of these, not accepted'),
        downtime_ms: count('longest time in it without an accepted response'),
        recovery_ms: orNull(
          count(
            'from its end to the start of the first second with 90 % of the usual accepted ' +
              'arrivals, of those scheduled after its end; null if there was none',
          ),
        ),
        sensitivity: orNull(
          described(
            'area between the distributions of response times with and without the fault; null ' +
              'with fewer than five seconds without one',
            {
              ms: milliseconds('score'),
              low_ms: milliseconds('lower end of its 95 % interval; 0 if chance explains it'),
              high_ms: milliseconds('upper end of its 95 % interval'),
            },
          ),
        ),
      }),
    ),
    outages: Type.Optional(Type.Array(Outage, about('absent without --keep-going'))),
    nodes: Type.Optional(
      rows('servers of --url; absent with one server', {
        url: text('server URL without /api'),
        sent: count('measured requests sent to this server'),
        accepted: count('of these, accepted'),
        failed: count('of these, not accepted, with a known outcome'),
        down_ms: count('time in which it was unreachable, in milliseconds'),
      }),
    ),
    saturation: orNull(
      described('search of --saturate; the other figures are from its last probe that held', {
        slo: Type.Array(Type.String(), about('objectives, such as p99<=200ms')),
        brackets: Type.Array(Bracket),
        overlap: Type.Boolean(about('true if all brackets have a rate in common')),
      }),
    ),
    tiers: Type.Array(
      described('tiers of `npm run bench`, if measured together', {
        name: text('name of the tier'),
        per_s: rate('votes and proposals per second'),
        of_r: Type.Number(about('per_s relative to R')),
      }),
    ),
    shard: Type.Optional(
      described('part of a run on several generators; absent with one generator', shardMembers),
    ),
    shards: Type.Optional(
      rows('parts of a merged result; absent in other results', {
        ...shardMembers,
        verdict: verdict('verdict of this part'),
        ended: Type.Enum(['complete', 'interrupted', 'failed'], {
          description: 'end of this part',
        }),
        sent: count('scheduled requests that this generator sent'),
        accepted: count('arrivals accepted from it'),
        finalized: count('transactions that it saw finalized'),
        lag_p99: orNull(milliseconds('99th percentile of its lag')),
      }),
    ),
  },
  { ...strictly, $id: 'folkmoot-load-1', title: 'Result of folkmoot load' },
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
  /** Member path, such as `operations[].response`. */
  path: string;
  meaning: string;
}

/** Returns the meaning of every figure, in file order. Repeated schemas are described once. */
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
