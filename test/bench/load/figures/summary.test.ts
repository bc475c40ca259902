/** What a load run prints: the summary, and a line a probe. */
import { expect, test } from 'vitest';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import { loadSummary as linesOf } from '../../../../dist/cli/commands/load/summary.js';
import { loadResult, saturation } from '../fixture.js';

const loadSummary = (result: LoadResult) => linesOf(result).join('\n');

test('summary: the verdict and why come first, then what was asked and accepted', () => {
  const reasons = ['the halves of the run accepted 5,900 and 4,000 arrivals'];
  const text = loadSummary(loadResult({}, { verdict: 'UNSTABLE', reasons }));
  const [first, second] = text.split('\n');
  expect(first).toMatch(/^verdict +UNSTABLE$/);
  expect(second!.trim()).toBe(reasons[0]);
  expect(text).toMatch(/^load +votes, open loop, 1,000\/s, 1,000 agents, .* 2 s warm-up$/m);
  expect(text).toMatch(/^arrivals +9,900 of 10,000 accepted: 990\/s, 99 % of the rate$/m);
});

test('summary: brackets, what had to hold, and what the other figures are of', () => {
  const text = loadSummary(loadResult({}, { saturation: saturation() }));
  expect(text).toMatch(/^bracket +holds 5,600, fails 6,100; R 12,276 to 12,400$/m);
  expect(text).toMatch(/p99<=200ms; .*overlap; .*last passed probe$/m);
});

test('summary: one bracket in which nothing held, where R is not known', () => {
  const [first] = saturation().brackets;
  const probe = { ...first!.probes[3]!, r_before: null, r_after: null };
  const bracket = { ...first!, holds: 0, fails: 1, probes: [probe] };
  const found = { slo: [], brackets: [bracket], overlap: true };
  const text = loadSummary(loadResult({}, { r: null, saturation: found }));
  expect(text).toMatch(/^bracket +holds 0, fails 1; R unknown$/m);
  expect(text).toMatch(/last probe$/m);
});

test('summary: a run that was cut short says so in its verdict', () => {
  const cut = loadResult({}, { ended: 'interrupted', measured_s: 3.1234 });
  const [first] = loadSummary(cut).split('\n');
  expect(first).toMatch(/^verdict +VALID; .*interrupted after 3\.1 of 10 s$/);
});

test('summary: too few samples for a p99.9 are said, and not made up for', () => {
  const result = loadResult({ rate: 1, seconds: 15 });
  expect(result.operations[0]!.response.p999).toBe(null);
  const lines = loadSummary(result).split('\n');
  const row = lines.find((line) => line.startsWith('vote, response'))!;
  expect(row.split(/ +/).at(-2)).toBe('-');
  expect(lines.at(-1)).toMatch(/^-: too few samples/);
  expect(loadSummary(loadResult())).not.toContain('too few');
});
