/** The rules for a run's verdict, case by case. */
import {
  attribute,
  type Evidence,
  judgeRun,
  lagShares,
} from '../../../../dist/bench/load/verdict.js';
import { loadVerdictText } from '../../../../dist/report/shared/verdicts.js';
import { nothing, outage } from '../fixture.js';

/** Evidence from a run without problems. */
const well: Evidence = {
  ended: 'complete',
  targetPerS: 1_000,
  sentPerS: 1_000,
  acceptedPerS: 1_000,
  lagP90: 1,
  lagP99: 2,
  responseP99: 20,
  utilization: 0.3,
  attribution: { attributed: ['vote.p50'], others: [] },
  held: { connections: 0, answers: 0.04, signatures: 0 },
  limit: { perS: 2_000, option: '--agents', value: 700 },
  isFailing: false,
  connections: { count: 128, serviceP50: 10 },
  transactions: { proposed: 200, timed_out: 2 },
  delivery: { subscribers: 100, expected: 200, holes: 2, disconnects: 1 },
  halves: [
    { accepted: 5_000, response_p50: 3 },
    { accepted: 5_000, response_p50: 3 },
  ],
};

const closed: Partial<Evidence> = { targetPerS: null };
const slow: Partial<Evidence> = { sentPerS: 700, acceptedPerS: 700, responseP99: 3_000 };
/**
 * Evidence from a run in which all requests were accepted and arrivals mostly waited for `what`.
 */
const waiting = (what: keyof Evidence['held'], perS = 500): Partial<Evidence> => ({
  ...{ sentPerS: 500, acceptedPerS: 500 },
  held: { connections: 0, answers: 0, signatures: 0, [what]: 0.9 },
  limit: { perS, option: '--agents', value: 30 },
});
const tooLittle = waiting('answers');
const half = { connections: 0.4, answers: 0.5, signatures: 0 };
const halves = (first: [number, number], second: [number, number]): Partial<Evidence> => ({
  halves: [
    { accepted: first[0], response_p50: first[1] },
    { accepted: second[0], response_p50: second[1] },
  ],
});

test.each<[string, Partial<Evidence>, string]>([
  ['nothing wrong', {}, 'VALID'],
  ['99 % of the rate', { acceptedPerS: 990 }, 'VALID'],
  ['less than 99 % of the rate', { acceptedPerS: 989 }, 'INVALID'],
  ['a slow server', slow, 'INVALID'],
  ['a server that refuses, with a late generator', { acceptedPerS: 900, lagP99: 15 }, 'INVALID'],
  ['nothing accepted', { ...closed, acceptedPerS: 0 }, 'INVALID'],
  ['a server that is gone', { ended: 'failed' }, 'INVALID'],
  ['an outage', { outages: [outage()] }, 'UNSTABLE'],
  ['an outage that lasts', { outages: [outage({ end_ms: null })] }, 'INVALID'],
  ['an outage and too low a rate', { outages: [outage()], acceptedPerS: 989 }, 'INVALID'],
  ['late transactions', { transactions: { proposed: 200, timed_out: 3 } }, 'INVALID'],
  ['missing deliveries', { delivery: { ...well.delivery, holes: 3 } }, 'INVALID'],
  ['disconnected subscribers', { delivery: { ...well.delivery, disconnects: 2 } }, 'INVALID'],
  ['an interruption', { ended: 'interrupted', halves: null }, 'INCOMPLETE'],
  ['an interruption of a slow server', { ...slow, ended: 'interrupted' }, 'INCOMPLETE'],
  ['an interruption before any response', { ended: 'interrupted', acceptedPerS: 0 }, 'INCOMPLETE'],
  ['a generator too late to send all', { ...slow, lagP99: 1_600 }, 'CLIENT_BOUND'],
  ['a slow server with a slightly late generator', { ...slow, lagP99: 25 }, 'INVALID'],
  ['a generator too busy to send all', { ...slow, utilization: 0.96 }, 'CLIENT_BOUND'],
  ['a busy generator that sends all', { utilization: 0.99 }, 'VALID'],
  ['response times that consist mostly of lag', { lagP99: 15, responseP99: 29 }, 'CLIENT_BOUND'],
  ['much constant lag', { lagP90: 90, lagP99: 99, responseP99: 300 }, 'CLIENT_BOUND'],
  ['little constant lag', { lagP90: 12, lagP99: 15, responseP99: 300 }, 'VALID'],
  ['response times with lag below one half', { lagP99: 15, responseP99: 31 }, 'VALID'],
  ['a closed loop on a busy generator', { ...closed, utilization: 0.96 }, 'CLIENT_BOUND'],
  ['a closed loop, late for a tenth', { ...closed, lagP90: 11, lagP99: 15 }, 'CLIENT_BOUND'],
  ['a closed loop, late for a hundredth', { ...closed, lagP99: 40 }, 'VALID'],
  ['a workload that waits', tooLittle, 'WORKLOAD_BOUND'],
  ['a workload that waits, and refusals', { ...tooLittle, acceptedPerS: 450 }, 'INVALID'],
  ['a workload whose proposals fail', { ...tooLittle, isFailing: true }, 'INVALID'],
  ['a workload that offers enough at its typical pace', waiting('answers', 1_000), 'INVALID'],
  ['a workload that no option can improve', { ...tooLittle, limit: null }, 'INVALID'],
  ['a workload that waits half of the time', { ...tooLittle, held: half }, 'INVALID'],
  ['a server that keeps all connections busy', waiting('connections'), 'INVALID'],
  ['a generator that cannot sign in time', waiting('signatures'), 'CLIENT_BOUND'],
  ['a late generator and a workload that waits', { ...tooLittle, lagP99: 1_600 }, 'CLIENT_BOUND'],
  ['a closed loop whose workload waits', { ...tooLittle, ...closed }, 'VALID'],
  ['halves with different rates', { ...closed, ...halves([500, 3], [440, 3]) }, 'UNSTABLE'],
  ['halves that differ by chance', { ...closed, ...halves([8, 3], [6, 3]) }, 'VALID'],
  ['halves with different response times', halves([5_000, 3], [5_000, 6.1]), 'UNSTABLE'],
  ['halves that differ by under two milliseconds', halves([5_000, 0.5], [5_000, 2.4]), 'VALID'],
])('verdict: %s', (_, change, expected) => {
  const { verdict, reasons } = judgeRun({ ...well, ...change });
  expect(verdict).toBe(expected);
  // A failed run already has its reason.
  if (expected !== 'VALID' && (change.ended ?? 'complete') === 'complete')
    expect(reasons).not.toEqual([]);
});

test('verdict: reasons contain the deciding figures', () => {
  const { reasons } = judgeRun({ ...well, ...slow, lagP99: 2_500.4 });
  expect(reasons.map(({ key }) => key)).toEqual(['GENERATOR_LATE', 'RATE_MISSED']);
  expect(reasons[0]!.text).toContain('2,500 ms');
  expect(reasons[1]!.text).toContain('700 of 1,000');
});

test('verdict: notes lag that response times include on a valid run', () => {
  const { verdict, reasons } = judgeRun({ ...well, lagP99: 15, responseP99: 100 });
  expect(verdict).toBe('VALID');
  expect(reasons[0]).toMatchObject({ key: 'LAG_INCLUDED', text: expect.stringContaining('15 ms') });
});

test('verdict: rounds a share below 99 % down', () => {
  const [reason] = judgeRun({ ...well, acceptedPerS: 989.96 }).reasons;
  for (const part of ['989.9 of 1,000', '98.9 %']) expect(reason!.text).toContain(part);
});

test('verdict: names the option, and the connections that a rate needs', () => {
  const [workload] = judgeRun({ ...well, ...waiting('answers') }).reasons;
  expect(workload).toMatchObject({
    key: 'WORKLOAD_LIMIT',
    text: expect.stringContaining('--agents 30'),
  });
  const few = { ...waiting('connections'), connections: { count: 8, serviceP50: 400 } };
  expect(judgeRun({ ...well, ...few }).reasons).toContainEqual({
    key: 'CONNECTIONS_LIMIT',
    text: expect.stringContaining('--connections 400'),
  });
});

const times = (p50: number, p90: number, p95: number, p99: number) => {
  return { ...nothing(), count: 100, ...{ p50, p90, p95, p99 } };
};
const operationOf = (name: string, response: ReturnType<typeof times>, service = response) => {
  const none = { refused: [], lies: 0, timed_out: 0, broken: 0, unfinished: 0 };
  return { operation: name, sent: 100, accepted: 100, ...none, response, service };
};
const lag = times(0.6, 1, 2, 30);
const both = [
  operationOf('read', times(0.8, 10, 10, 20)),
  operationOf('vote', times(7, 20, 40, 200)),
];

test('lag: shares of response times are those of the fastest operation', () => {
  expect(lagShares(lag, both)).toEqual({ p50: 0.6 / 0.8, p90: 0.1, p95: 0.2, p99: 1 });
  expect(lagShares(nothing(), [])).toEqual({ p50: null, p90: null, p95: null, p99: null });
});

test('attribution: quantiles with more than a tenth of lag are not those of the server', () => {
  const idle = { connections: 0.9, answers: 0.04, signatures: 0 };
  const attribution = attribute(lag, both, idle);
  const servers = ['read.p90', 'vote.p50', 'vote.p90', 'vote.p95'];
  expect(attribution.attributed).toEqual(servers);
  const others = attribution.others.map(({ name }) => name);
  expect(others).toEqual(['read.p50', 'read.p95', 'read.p99', 'vote.p99']);
  const { verdict, reasons } = judgeRun({ ...well, attribution });
  expect([verdict, reasons.map(({ key }) => key)]).toEqual(['VALID', ['NOT_ATTRIBUTED']]);
  for (const name of [...servers, ...others]) expect(reasons[0]!.text).toContain(name);
  // The text of the verdict does not attribute the figures either.
  expect(loadVerdictText('VALID', false)).not.toMatch(/figures/);
  expect(attribute(null, both, idle).others).toEqual([]);
});

test('attribution: waiting before sending is not the time of the server, unless it is', () => {
  const sent = [operationOf('vote', times(50, 100, 120, 138), times(49, 95, 85, 87))];
  const none = { ...nothing(), count: 100, p50: 0.1, p90: 0.1, p95: 0.1, p99: 0.1 };
  const waits = (change: Partial<Evidence['held']>) =>
    attribute(none, sent, { connections: 0, answers: 0, signatures: 0, ...change }).attributed;
  const all = ['vote.p50', 'vote.p90', 'vote.p95', 'vote.p99'];
  expect(waits({ answers: 0.05 })).toEqual(['vote.p50', 'vote.p90']);
  expect(waits({ signatures: 0.05 })).toEqual(['vote.p50', 'vote.p90']);
  expect(waits({ answers: 0.049 })).toEqual(all);
  // Waiting for a free connection is waiting for the server.
  expect(waits({ connections: 0.9 })).toEqual(all);
});

test.each<[number, number, string[]]>([
  [0.049, 0, []],
  [0.05, 0, ['WORKLOAD_WAITED']],
  [0.15, 0.06, ['WORKLOAD_WAITED', 'UNSIGNED_NOTED']],
])('verdict: notes waits of %d and %d', (answers, signatures, keys) => {
  const held = { connections: 0, answers, signatures };
  const keysOf = (change: Partial<Evidence>) =>
    judgeRun({ ...well, held, ...change }).reasons.map(({ key }) => key);
  expect([keysOf({}), keysOf({ acceptedPerS: 900 })]).toEqual([keys, ['RATE_MISSED', ...keys]]);
});
