/** Printed output of a load run: the summary, and one line per probe. */
import { expect, test } from 'vitest';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import { secondText } from '../../../../dist/cli/commands/load/progress.js';
import { loadSummary as linesOf } from '../../../../dist/cli/commands/load/summary.js';
import { loadResult, outage, saturation } from '../fixture.js';

const loadSummary = (result: LoadResult) => linesOf(result).join('\n');

test('summary: the verdict and its reasons come first, then target and accepted', () => {
  const reasons = ['halves of the run differ: 5,900 and 4,000 arrivals accepted'];
  const text = loadSummary(loadResult({}, { verdict: 'UNSTABLE', reasons }));
  const [first, second] = text.split('\n');
  expect(first).toMatch(/^verdict +UNSTABLE$/);
  expect(second!.trim()).toBe(reasons[0]);
  expect(text).toMatch(/^load +votes, open loop, 1,000\/s, 1,000 agents, .* 2 s warm-up$/m);
  expect(text).toMatch(/^arrivals +9,900 of 10,000 accepted: 990\/s, 99 % of the rate$/m);
});

test('summary: shows brackets, objectives, and the origin of the other figures', () => {
  const text = loadSummary(loadResult({}, { saturation: saturation() }));
  expect(text).toMatch(/^bracket +holds 5,600, fails 6,100; R 12,276 to 12,400$/m);
  expect(text).toMatch(/p99<=200ms; .*overlap; .*last passed probe$/m);
});

test('summary: shows a bracket in which no rate held, and an unknown R', () => {
  const [first] = saturation().brackets;
  const probe = { ...first!.probes[3]!, r_before: null, r_after: null };
  const bracket = { ...first!, holds: 0, fails: 1, probes: [probe] };
  const found = { slo: [], brackets: [bracket], overlap: true };
  const text = loadSummary(loadResult({}, { r: null, saturation: found }));
  expect(text).toMatch(/^bracket +holds 0, fails 1; R unknown$/m);
  expect(text).toMatch(/last probe$/m);
});

test('summary: reports an early end with the verdict', () => {
  const cut = loadResult({}, { ended: 'interrupted', verdict: 'INCOMPLETE', measured_s: 3.1234 });
  const [first] = loadSummary(cut).split('\n');
  expect(first).toMatch(/^verdict +INCOMPLETE; .*interrupted after 3\.1 of 10 s$/);
});

test('summary: shows each outage, and the requests of each server', () => {
  const open = outage({ start_ms: 9_000, end_ms: null, duration_ms: 1_000, recovery_ms: null });
  const counts = { sent: 1_500, accepted: 1_400, failed: 100, down_ms: 2_000 };
  const nodes = [{ url: 'http://a:1', ...counts }];
  const text = loadSummary(loadResult({}, { outages: [outage(), open], nodes }));
  expect(text).toMatch(/^outage +from 3 s for 2 s: failed 120 vote; recovered in 400 ms$/m);
  expect(text).toMatch(/^outage +from 9 s until the end: failed 120 vote$/m);
  expect(text).toMatch(/^node +http:\/\/a:1, 1,400 of 1,500 accepted, 100 failed, .* 2 s$/m);
});

test('progress: a second without a response has no p99', () => {
  const [second] = loadResult().seconds;
  expect(secondText({ ...second!, response_p99: 12.34 })).toMatch(/, p99 12\.3 ms$/);
  expect(secondText({ ...second!, accepted: 0, response_p99: null })).not.toMatch(/p99|NaN/);
});

test('summary: reports too few samples for a p99.9', () => {
  const result = loadResult({ rate: 1, seconds: 15 });
  expect(result.operations[0]!.response.p999).toBe(null);
  const lines = loadSummary(result).split('\n');
  const row = lines.find((line) => line.startsWith('vote, response'))!;
  expect(row.split(/ +/).at(-2)).toBe('-');
  expect(lines.at(-1)).toMatch(/^-: too few samples/);
  expect(loadSummary(loadResult())).not.toContain('too few');
});
