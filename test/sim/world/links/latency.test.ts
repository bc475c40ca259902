/** Latencies: each distribution matches theory, tails included, in whole milliseconds. */
import { ln } from '../../../../dist/sim/numbers.js';
import { parseTrace } from '../../../../dist/sim/scenario/files.js';
import {
  createLatencySampler,
  createSampler,
  shortestMs,
} from '../../../../dist/sim/world/latency.js';
import { type Cumulative, DISTANT, distance, drawn, theory, whole } from './distributions.js';

type Latency = Parameters<typeof createLatencySampler>[0];

const DRAWS = 100_000;
const seeds = [1, 2, 3, 4, 5];
const none = new Map<string, (place: number) => number>();
const samplerFor = (latency: object) => createLatencySampler(latency as Latency, none);

/** Distribution, mean, spread, theory, standard deviation, and shape if one is given. */
type Case = [string, mean: number, spread: number, Cumulative, deviation: number, shape?: number];
const cases: Case[] = [
  ['uniform', 200, 100, theory.uniform(200, 100), 100 / Math.sqrt(3)],
  ['normal', 500, 80, theory.normal(500, 80), 80],
  ['exponential', 500, 400, theory.exponential(500, 400), 400],
  ['lognormal', 300, 200, theory.lognormal(300, 200), 200],
  ['pareto', 300, 100, theory.pareto(300, 1 + Math.sqrt(10)), 100],
  ['pareto', 300, 100, theory.pareto(300, 1.5), Number.NaN, 1.5],
];

describe.each(cases)('latency %s', (...[
  distribution,
  mean,
  spread_ms,
  expected,
  spread,
  shape,
]) => {
  const given = { distribution, mean_ms: mean, spread_ms };
  const draw = samplerFor(shape === undefined ? given : { ...given, shape });

  test.each(seeds)('passes a Kolmogorov-Smirnov test at 10^5 draws, seed %d', (seed) => {
    expect(distance(drawn(draw, DRAWS, seed), whole(expected))).toBeLessThan(DISTANT);
  });

  test('has the expected count beyond each quantile, out to one in 10^5', () => {
    const values = drawn(draw, 10 * DRAWS, 9);
    for (const ms of [mean / 2, mean, 2 * mean, 3 * mean, 5 * mean, 10 * mean].map(Math.round)) {
      const beyond = 10 * DRAWS * (1 - whole(expected)(ms));
      const found = values.filter((value) => value > ms).length;
      expect(Math.abs(found - beyond), `over ${ms}`).toBeLessThanOrEqual(1 + 4 * Math.sqrt(beyond));
    }
  });

  test('has the requested mean and spread, and is never below its minimum', () => {
    const values = drawn(draw, 10 * DRAWS, 7);
    const found = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(values.every((value) => Number.isInteger(value))).toBe(true);
    expect(Math.min(...values.slice(0, DRAWS))).toBeGreaterThanOrEqual(shortestMs(draw));
    if (Number.isNaN(spread)) return;
    expect(Math.abs(found - mean)).toBeLessThan(0.01 * mean);
    const variance = values.reduce((sum, value) => sum + (value - found) ** 2, 0) / values.length;
    expect(Math.abs(Math.sqrt(variance) / spread - 1)).toBeLessThan(0.05);
  });
});

test('latency: the test rejects a table of 64 quantiles', () => {
  const coarse = createSampler((place) => 100 - 400 * ln(1 - (Math.floor(place * 64) + 0.5) / 64));
  const exact = whole(theory.exponential(500, 400));
  for (const seed of seeds) {
    expect(distance(drawn(coarse, DRAWS, seed), exact)).toBeGreaterThan(DISTANT);
  }
  // One draw in 64 lies beyond 4.16 spreads. With this table, all of these are at 4.85 spreads.
  expect(Math.max(...drawn(coarse, DRAWS, 1))).toBe(100 + Math.round(400 * Math.log(128)));
});

test('latency: the table gives the value of its quantiles, draw by draw', () => {
  const quantile = (place: number) => 100 - 400 * ln(1 - place);
  const draw = createSampler(quantile);
  for (const hash of [0, 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1, ...drawn((at) => at, 10_000, 3)]) {
    const exact = Math.max(10, Math.round(quantile((hash + 0.5) / 2 ** 32)));
    expect([draw(hash), draw(hash)]).toEqual([exact, exact]);
  }
});

test.each([
  ...['constant', 'uniform', 'normal', 'exponential', 'lognormal', 'pareto'],
])('latency %s: is never under 10 ms, and constant without spread', (distribution) => {
  for (const spread_ms of [0, 5, 1_000]) {
    const draw = samplerFor({ distribution, mean_ms: 1, spread_ms });
    expect([Math.min(...drawn(draw, 10_000, 1)), shortestMs(draw)]).toEqual([10, 10]);
  }
  const alike = samplerFor({ distribution, mean_ms: 250, spread_ms: 0 });
  expect(new Set(drawn(alike, 10_000, 1))).toEqual(new Set([250]));
});

const sampled = (text: string) =>
  createLatencySampler(
    { distribution: 'empirical', mean_ms: 1, spread_ms: 0, file: 'a.csv' },
    new Map([['a.csv', parseTrace(text)]]),
  );

test('latency empirical: a line for each time: draws each time in proportion to its lines', () => {
  const draw = sampled('# pings\nms\n20\n300\r\n20\n\n41.6\n');
  const values = drawn(draw, DRAWS, 4);
  const share = (ms: number) => values.filter((value) => value === ms).length / DRAWS;
  expect(new Set(values)).toEqual(new Set([20, 42, 300]));
  for (const [ms, expected] of [
    [20, 0.5],
    [42, 0.25],
    [300, 0.25],
  ] as const) {
    expect(Math.abs(share(ms) - expected)).toBeLessThan(0.01);
  }
  expect(shortestMs(draw)).toBe(20);
});

test('latency empirical: quantiles: interpolates linearly', () => {
  const draw = sampled('quantile,ms\n0,100\n0.5,120\n0.9,300\n1,1000\n');
  const curve: Cumulative = (ms) => {
    if (ms <= 120) return Math.max(0, (ms - 100) / 40);
    return ms <= 300 ? 0.5 + (0.4 * (ms - 120)) / 180 : Math.min(1, 0.9 + (0.1 * (ms - 300)) / 700);
  };
  for (const seed of seeds) {
    expect(distance(drawn(draw, DRAWS, seed), whole(curve))).toBeLessThan(DISTANT);
  }
});
