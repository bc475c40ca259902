/** Means, deviations and intervals against known values. */
import { LEVEL_97_5, studentQuantile } from '../../../../dist/sim/numbers.js';
import {
  boundsOfMean,
  computeStatistics,
  cubeRoot,
  type IntervalKind,
  Sample,
  subtractRounded,
  wilson,
} from '../../../../dist/sim/sweep/statistics.js';
import { fc, forAll } from '../../../support/property.js';

const of = (values: readonly number[], kind: IntervalKind = 't_log') =>
  computeStatistics(Sample.of(values), kind);

const kinds = ['share', 't_log', 't_skew'] as const;
const nothing = { sd: null, low: null, high: null, interval: null };

test.each(kinds)('statistics: gives no interval for empty and single samples (%s)', (kind) => {
  expect(of([], kind)).toEqual({ n: 0, mean: null, ...nothing });
  expect(of([0.4], kind)).toEqual({ n: 1, mean: 0.4, ...nothing });
});

test.each([
  't_log',
  't_skew',
] as const)('statistics: gives no interval for equal numbers (%s)', (kind) => {
  const empty = { low: null, high: null, interval: null };
  expect(of([7, 7, 7], kind)).toEqual({ n: 3, mean: 7, sd: 0, ...empty });
  // 0.1 + 0.1 + 0.1 is not 0.3: rounding errors are not variance.
  expect(of([0.1, 0.1, 0.1], kind)).toEqual({ n: 3, mean: 0.1, sd: 0, ...empty });
});

test('statistics: counts each run as one trial for a share without variance', () => {
  // Newcombe 1998, table I, method 4: 0 of 20 gives 0 to 0.2005 by his program.
  expect(of(Array(20).fill(0), 'share')).toMatchObject({ n: 20, mean: 0, sd: 0, low: 0 });
  expect(of(Array(20).fill(0), 'share').high).toBeCloseTo(0.2005, 4);
  const { low, high } = of([0.5, 0.5, 0.5, 0.5, 0.5], 'share');
  expect(high! - low!).toBeGreaterThan(0.6);
  expect(of(Array(5).fill(1), 'share')).toMatchObject({ mean: 1, high: 1 });
  expect(of(Array(5).fill(1), 'share').low).toBeLessThan(0.5);
});

test.each([
  // Newcombe 1998, Statistics in Medicine 17, table I: score with continuity correction.
  [81, 263, 0.2535, 0.3682],
  [15, 148, 0.0598, 0.1644],
  [0, 20, 0, 0.2005],
  [1, 29, 0.0018, 0.1963],
])("wilson: equals Newcombe's interval for %i of %i", (hits, trials, low, high) => {
  const found = wilson(hits / trials, trials);
  expect([found.low, found.high]).toEqual([expect.closeTo(low, 4), expect.closeTo(high, 4)]);
});

test.each([2, 3, 5])('wilson: in %i trials, less than half a hit has a bound of 0', (trials) => {
  // The continuity correction subtracts half a hit, so a smaller count is reduced to zero.
  expect([wilson(0.4 / trials, trials).low, wilson(1 - 0.4 / trials, trials).high]).toEqual([0, 1]);
  const { mean, high } = of([...Array<number>(trials - 1).fill(1), 0.98], 'share');
  expect(high).toBeGreaterThan(mean!);
});

test.each([
  // At 0.975; NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, and scipy 1.17 for more.
  [1, 12.7062047361747],
  [2, 4.30265272974946],
  [3, 3.18244630528371],
  [4, 2.77644510519779],
  [9, 2.262157162798205],
  [29, 2.0452296421327],
  [99, 1.9842169515864174],
  [1999, 1.9611514201705613],
  [2001, 1.9611502326224413],
  [99_999, 1.9599877077718442],
])('student: has the known quantile at %i degrees of freedom', (freedom, quantile) => {
  expect(studentQuantile(freedom)).toBeCloseTo(quantile, 9);
});

test.each([
  [1, 25.451699579357076],
  [2, 6.2053468169570225],
  [29, 2.363846054],
  [99_999, 2.241436445],
])('student: has the quantile of 97.5 percent at %i degrees of freedom', (freedom, quantile) => {
  expect(studentQuantile(freedom, LEVEL_97_5)).toBeCloseTo(quantile, 6);
  expect(studentQuantile(freedom)).toBeLessThan(quantile);
});

test('student: computes the cube root', () => {
  forAll([fc.double({ min: -1e6, max: 1e6, noNaN: true })], (x) => {
    expect(Math.abs(cubeRoot(x * x * x) - x)).toBeLessThan(1e-9 * Math.abs(x) + 1e-100);
  });
});

test('statistics: equals five numbers computed by hand', () => {
  // t(0.975; 4) = 2.776445105, sd = sqrt(2.5), half = t * sd / sqrt(5). Hall's correction is 0.
  const { n, mean, sd, low, high, interval } = of([1, 2, 3, 4, 5], 't_skew');
  expect([n, mean, sd, interval]).toEqual([5, 3, 1.58113883, 't_skew']);
  expect([low, high]).toEqual([1.03675684, 4.96324316]);
  // Upper end: 3 * exp(half / 3). Lower end: mean - half.
  expect(of([1, 2, 3, 4, 5])).toMatchObject({ low: 1.03675684, interval: 't_log' });
  expect(of([1, 2, 3, 4, 5]).high).toBeCloseTo(3 * Math.exp(1.96324316 / 3), 7);
});

test('statistics: a left-skewed sample has the mirrored interval of its negation', () => {
  const values = [9.9, 9.8, 9.7, 9.5, 6.1];
  const { low, interval } = of(values);
  const mirrored = of(
    values.map((value) => -value),
    't_skew',
  );
  expect([low, interval]).toEqual([-mirrored.high!, 't_log']);
});

test('statistics: t_log has no negative bound, and t_skew replaces it for negative values', () => {
  expect(of([0, 0, 0, 1, 9]).low).toBe(0);
  expect(of([-1, 0, 0, 1, 9])).toMatchObject({ interval: 't_skew' });
});

test('statistics: does not pool the correlated votes of one run', () => {
  // 20 votes in each of six runs: 60 of 120 in all, but whole runs approve or reject.
  const alike = of([0, 1, 0, 1, 0, 1], 'share');
  const pooled = wilson(0.5, 120);
  expect(alike).toMatchObject(rounded(wilson(0.5, 6)));
  expect(alike.high! - alike.low!).toBeGreaterThan(3 * (pooled.high - pooled.low));
  // If runs vary no more than votes would, the interval follows from the variance of runs.
  const even = of([0.45, 0.5, 0.55, 0.5, 0.45, 0.55], 'share');
  expect(even.high! - even.low!).toBeLessThan(0.12);
});

const rounded = ({ low, high }: { low: number; high: number }) => ({
  low: Number(low.toPrecision(9)),
  high: Number(high.toPrecision(9)),
});

test('statistics: keeps the digits of large and nearly equal numbers', () => {
  const { mean, sd } = of([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]);
  expect([mean, sd]).toEqual([1_000_000_010, 5.47722558]);
});

test('statistics: equals the sums over all numbers, in any order', () => {
  const numbers = fc.array(fc.integer({ min: -1e6, max: 1e6 }), { minLength: 2, maxLength: 50 });
  forAll([numbers], (values) => {
    const mean = values.reduce((sum, value) => sum + value) / values.length;
    const sum = (power: number) => values.reduce((all, one) => all + (one - mean) ** power, 0);
    const sd = Math.sqrt(sum(2) / (values.length - 1));
    const found = of(values, 't_skew');
    expect(Math.abs(found.mean! - mean)).toBeLessThanOrEqual(1e-8 * Math.abs(mean) + 1e-6);
    expect(Math.abs(found.sd! - sd)).toBeLessThanOrEqual(1e-8 * sd + 1e-6);
    if (sd === 0) {
      expect(found.interval).toBe(null);
      return;
    }
    const n = values.length;
    const corrected = n < 3 ? 0 : Math.sqrt(n * (n - 1)) / (n - 2);
    const skewness = (corrected * (sum(3) / n)) / (sum(2) / n) ** 1.5;
    expect(Sample.of(values).moments()!.skewness).toBeCloseTo(skewness, 6);
    expect(found.low!).toBeLessThanOrEqual(found.mean!);
    expect(found.high!).toBeGreaterThanOrEqual(found.mean!);
  });
});

test('statistics: keeps the interval of a share within 0 and 1, around the mean', () => {
  const shares = fc.array(
    fc.integer({ min: 0, max: 1_000 }).map((one) => one / 1_000),
    {
      minLength: 2,
      maxLength: 40,
    },
  );
  forAll([shares], (values) => {
    const { low, mean, high } = of(values, 'share');
    expect(low!).toBeGreaterThanOrEqual(0);
    expect(low!).toBeLessThanOrEqual(mean!);
    expect(mean!).toBeLessThanOrEqual(high!);
    expect(high!).toBeLessThanOrEqual(1);
    expect(high! - low!).toBeGreaterThan(0);
  });
});

test('statistics: gives mean 0 for numbers that cancel, with the digits of decimals', () => {
  const pairs: [number, number][] = [
    [0.8, 0.6],
    [0.3, 0.5],
    [0.7, 0.6],
    [0.2, 0.3],
  ];
  const differences = pairs.map(([a, b]) => subtractRounded(a, b));
  expect([differences, of(differences, 't_skew').mean]).toEqual([[0.2, -0.2, 0.1, -0.1], 0]);
  forAll(
    [fc.array(fc.integer({ min: -9_999, max: 9_999 }), { minLength: 1, maxLength: 30 })],
    (numbers) => {
      const values = [...numbers, -numbers.reduce((a, b) => a + b, 0)].map((one) => one / 1_000);
      expect(Math.abs(of(values, 't_skew').mean!)).toBe(0);
    },
  );
  expect(subtractRounded(1e300, 1)).toBe(1e300);
  expect(subtractRounded(5e-324, 0)).toBe(5e-324);
});

test('statistics: bounds the mean over all runs, with missing values at either end', () => {
  const run = (value: number) => ({ low: value, high: value });
  const missing = { low: 0, high: 1 };
  expect(boundsOfMean([run(0.5), run(1), missing, missing])).toEqual({
    mean_least: 0.375,
    mean_most: 0.875,
  });
  expect(boundsOfMean([run(4), { low: 0, high: Number.POSITIVE_INFINITY }])).toEqual({
    mean_least: 2,
    mean_most: null,
  });
  expect(boundsOfMean([])).toEqual({ mean_least: null, mean_most: null });
});
