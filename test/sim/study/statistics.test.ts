/** Statistics of studies: published values, and coverage of the intervals by simulation. */

import { estimateCorrelation } from '../../../dist/sim/measure/correlation.js';
import { Streams } from '../../../dist/sim/rng.js';
import {
  adjustEffects,
  estimateEffect,
  type Observation,
} from '../../../dist/sim/study/effects.js';
import { countNeeded, findDetectable } from '../../../dist/sim/study/power.js';
import { wilsonScore } from '../../../dist/sim/sweep/statistics.js';

const standard = { error: 0.05, power: 0.8 };

test.each([
  [[0.591, 0.754], 129],
  [[0.466, 0.333], 212],
  [[0.5, 0.5], null],
])('power: the rates %j need %j runs an arm', (rates, needed) => {
  expect(countNeeded(rates, standard)).toBe(needed);
});

test('power: the smallest detectable difference needs the number of runs', () => {
  for (const [rate, runs] of [
    [0.591, 129],
    [0.1, 40],
    [0, 25],
  ] as const) {
    const { up, down } = findDetectable(rate, runs, standard);
    expect(countNeeded([rate, rate + up!], standard)).toBe(runs);
    if (rate === 0) expect(down).toBeNull();
  }
  expect(findDetectable(0.5, 2, standard)).toEqual({ up: null, down: null });
  // Ten runs of each question with a correlation of 0.2 need 2.8 times as many runs.
  const clustered = countNeeded([0.591, 0.754], { ...standard, inflation: 2.8 })!;
  expect(clustered).toBe(Math.ceil(128.9414 * 2.8));
});

test.each([
  [0, 0, 0.1332],
  [15, 0.4074, 0.766],
  [25, 0.8668, 1],
])('Wilson: %i of 25 runs are between %d and %d', (hits, low, high) => {
  const found = wilsonScore(hits / 25, 25);
  expect(found.low).toBeCloseTo(low, 4);
  expect(found.high).toBeCloseTo(high, 4);
});

const rng = new Streams('coverage').of('world', 'study');
const draw = (rate: number) => Number(rng.chance(rate));

/** Returns the share of repetitions in which the interval holds the value. */
function coverage(
  times: number,
  once: () => { low: number | null; high: number | null },
  of: number,
) {
  let held = 0;
  for (let time = 0; time < times; time += 1) {
    const { low, high } = once();
    if (low !== null && high !== null && low <= of && of <= high) held += 1;
  }
  return held / times;
}

const observe = (values: (number | null)[], cluster = (at: number) => at): Observation[] =>
  values.map((value, at) => ({ pair: String(at), cluster: String(cluster(at)), value }));

test('coverage: rates of one arm, alone and in clusters', () => {
  const each = [0.05, 0.2, 0.4, 0.6, 0.8, 0.95].map((rate) =>
    coverage(
      400,
      () => estimateEffect(observe(Array.from({ length: 50 }, () => draw(rate))), []).arms[0],
      rate,
    ),
  );
  expect(each.reduce((sum, one) => sum + one, 0) / each.length).toBeGreaterThan(0.93);
  expect(Math.min(...each)).toBeGreaterThan(0.9);
  // Ten questions of different difficulty, ten runs each. Separate runs would be too sure.
  const clustered = () => {
    const hard = Array.from({ length: 10 }, () => draw(0.5) * 0.6 + 0.2);
    const values = Array.from({ length: 100 }, (_, at) => draw(hard[at % 10]!));
    return { values, cluster: (at: number) => at % 10 };
  };
  const byQuestion = coverage(
    400,
    () => {
      const { values, cluster } = clustered();
      return estimateEffect(observe(values, cluster), []).arms[0];
    },
    0.5,
  );
  const byRun = coverage(400, () => estimateEffect(observe(clustered().values), []).arms[0], 0.5);
  expect(byQuestion).toBeGreaterThan(0.92);
  expect(byRun).toBeLessThan(0.85);
});

test('coverage: differences of pairs, and the error of their test', () => {
  const pairsOf = (common: number, changed: number) => {
    const a = Array.from({ length: 60 }, () => draw(common));
    return estimateEffect(
      observe(a),
      observe(a.map((value) => (draw(changed) ? draw(0.9) : value))),
    );
  };
  // A tenth of the outcomes is drawn anew: the rate moves from 0.6 to 0.63.
  expect(coverage(400, () => pairsOf(0.6, 0.1), 0.03)).toBeGreaterThan(0.93);
  let found = 0;
  for (let time = 0; time < 400; time += 1) {
    const arm = () => observe(Array.from({ length: 40 }, () => draw(0.4)));
    const family = [0, 1, 2, 3].map(() => estimateEffect(arm(), arm()));
    if (adjustEffects(family).some(({ p_holm }) => p_holm <= 0.05)) found += 1;
  }
  expect(found / 400).toBeLessThanOrEqual(0.05);
});

test('effects: missing outcomes bound the rate, and leave their pairs out', () => {
  const a = observe([1, 0, null, 1]);
  const { arms, pairs, higher, lower } = estimateEffect(a, observe([1, 1, 1, null]));
  expect(arms[0]).toMatchObject({ n: 3, missing: 1, mean_least: 0.5, mean_most: 0.75 });
  expect(arms[1]).toMatchObject({ n: 3, missing: 1, mean: 1, mean_least: 0.75, mean_most: 1 });
  expect([pairs, higher, lower]).toEqual([2, 1, 0]);
});

/** Errors of nine copies: with the square root of rho each follows a common draw. */
function copies(blocks: number, rho: number) {
  return Array.from({ length: blocks }, () => {
    const common = draw(0.3);
    const follows = Math.sqrt(rho);
    const errors = Array.from({ length: 9 }, () => (draw(follows) ? common : draw(0.3)));
    return { agents: 9, errors: errors.reduce((sum, one) => sum + one, 0) };
  });
}

test('correlation: nine copies with .4375 count as two, with an interval that covers two', () => {
  const { effective, effective_low, effective_high } = estimateCorrelation(copies(2_000, 0.4375))!;
  expect(effective).toBeCloseTo(2, 0);
  expect(effective_low).toBeLessThan(2);
  expect(effective_high).toBeGreaterThan(2);
  const of = () => estimateCorrelation(copies(100, 0.4375))!;
  const interval = (): { low: number; high: number } => {
    const { effective_low: low, effective_high: high } = of();
    return { low, high };
  };
  expect(coverage(300, interval, 2)).toBeGreaterThan(0.91);
});

test('correlation: is unknown with few blocks, and without errors', () => {
  expect(estimateCorrelation(copies(19, 0.4))).toBeNull();
  expect(
    estimateCorrelation(Array.from({ length: 50 }, () => ({ agents: 9, errors: 0 }))),
  ).toBeNull();
  expect(
    estimateCorrelation(Array.from({ length: 50 }, () => ({ agents: 1, errors: 1 }))),
  ).toBeNull();
  const alike = Array.from({ length: 40 }, (_, at) => ({ agents: 9, errors: at % 2 ? 9 : 0 }));
  const { effective, correlation } = estimateCorrelation(alike)!;
  expect(correlation).toBeCloseTo(1, 9);
  expect(effective).toBeCloseTo(1, 9);
});
