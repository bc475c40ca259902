/** `--saturate` finds the capacity of a server with a known capacity. */
import type { LoadResult } from '../../../../bench/load/result.js';
import { toProbe } from '../../../../dist/bench/load/saturation.js';
import { folkmoot } from '../../../support/cli.js';
import { full } from '../../../support/counts.js';
import { loadResult } from '../fixture.js';
import { expectSound } from '../generator.js';
import { type Behaviour, reads } from '../known/behaviour.js';
import { knownServer } from '../known/known-server.js';

const CAPACITY = 400;
const DURATION_S = 4;
const REPEAT = 3;
/** Returns the highest rate that can hold, because a rate holds if 99 % is accepted. */
const most = (beforehandS: number) => (CAPACITY * (1 + beforehandS / DURATION_S)) / 0.99;

const limited: [string, Behaviour, string[], number][] = [
  // The requests from the first fifth of a second pass at once.
  ['refuses above its capacity', { on: reads, does: 'limit', perSecond: CAPACITY }, [], most(0.2)],
  // The queue may grow until the wait at its end reaches the objective.
  [
    'serves requests one by one',
    { on: reads, does: 'queue', eachMs: 1_000 / CAPACITY },
    ['--slo', 'p99=300ms'],
    most(0.3),
  ],
];

async function search(url: string, slo: readonly string[]): Promise<LoadResult> {
  const probes = ['--rate', '300', '--duration', `${DURATION_S}s`, '--warmup', '0s'];
  const args = ['load', '--url', url, '--workload', 'reads', '--json', '--saturate', ...probes];
  const ended = await folkmoot([...args, '--repeat', `${REPEAT}`, ...slo]);
  expect([0, 14], ended.stderr).toContain(ended.code);
  const result = JSON.parse(ended.stdout) as LoadResult;
  expectSound(result);
  expect(ended.code).toBe(['VALID', 'UNSTABLE'].includes(result.verdict) ? 0 : 14);
  return result;
}

// Three brackets take minutes, so only the full test run has them.
test.runIf(full).each(limited)(
  'saturate: the brackets of a server that %s are around its capacity',
  async (_, behaviour, slo, mostHeld) => {
    const server = await knownServer({ behaviours: [behaviour] });
    const { brackets } = (await search(server.url, slo)).saturation!;
    expect(brackets).toHaveLength(REPEAT);
    for (const { holds, fails, probes } of brackets) {
      expect(holds, JSON.stringify(probes)).toBeLessThanOrEqual(mostHeld);
      expect(holds).toBeGreaterThan(0);
      expect(fails).toBeGreaterThan(holds);
      // Responses to requests in flight at the end count too: 128 connections, each for a third of
      // a second.
      const { accepted_per_s } = probes.reduce((a, b) => (a.rate > b.rate ? a : b));
      expect(accepted_per_s).toBeLessThan((CAPACITY * (DURATION_S + 0.6)) / DURATION_S);
    }
    // Other programs may cause a probe to fail, which only lowers the result.
    const failed = brackets.map(({ fails }) => fails ?? 0);
    expect(Math.max(...failed)).toBeGreaterThan(0.95 * CAPACITY);
  },
);

type Half = { accepted: number; response_p50: number };
const halves = (...[a, b, c, d]: [number, number, number, number]): Half[] => [
  { accepted: a, response_p50: b },
  { accepted: c, response_p50: d },
];
const unstable = (...all: [number, number, number, number]) => ({
  ...{ verdict: 'UNSTABLE' as const, halves: halves(...all) },
});

test.each<[string, boolean, { verdict?: LoadResult['verdict']; share?: number; halves?: Half[] }]>([
  ['that is met', true, {}],
  ['of which less than 99 % is accepted', false, { share: 0.98 }],
  ['of an invalid run', false, { verdict: 'INVALID' }],
  ['whose queue grows', false, unstable(500, 40, 500, 120)],
  ['whose medians differ by less than a hundredth of the time', true, unstable(500, 4, 500, 50)],
  ['that is met less in the second half', false, unstable(560, 4, 430, 4)],
  ['of a server that warms up', true, unstable(430, 120, 560, 40)],
  ['of a run that ended early', true, { halves: [] }],
])('probe: a rate %s holds: %s', (_, expected, { verdict = 'VALID', share = 1, halves: two }) => {
  const { arrivals, ...rest } = loadResult({ rate: 100 });
  const result = {
    ...rest,
    verdict,
    arrivals: { ...arrivals, of_target: share, halves: two ?? arrivals.halves },
  };
  const r = { r_before: null, r_after: null };
  const { holds, reasons, verdict: shown } = toProbe(result, { rate: 100, objectives: [], r });
  expect(holds).toBe(expected);
  // A failed probe states a reason.
  if (!holds && share === 1 && shown !== 'INVALID') expect(reasons[0]).toMatch(/half/);
});

test('probe: a violated objective fails the probe, and is its first reason', () => {
  const objectives = [{ text: 'p99<=1ms', missed: () => 'p99<=1ms: 9 ms' }];
  const result = loadResult({ rate: 100 }, { reasons: ['another'] });
  const kept = { ...result, arrivals: { ...result.arrivals, of_target: 1 } };
  const r = { r_before: 9_000, r_after: 9_100 };
  const probe = toProbe(kept, { rate: 100, objectives, r });
  expect(probe).toMatchObject({ holds: false, ...r, reasons: ['p99<=1ms: 9 ms', 'another'] });
});
