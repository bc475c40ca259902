/** Means, deviations and intervals against values that are known. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Sample } from '../../../dist/sim/sweep/index.js';

function statisticsOf(values: readonly number[]) {
  const sample = new Sample();
  for (const value of values) sample.add(value);
  return sample.statistics();
}

test('statistics: of nothing and of one number little can be said', () => {
  expect(statisticsOf([])).toEqual({ n: 0, mean: null, sd: null, low: null, high: null });
  expect(statisticsOf([4])).toEqual({ n: 1, mean: 4, sd: null, low: null, high: null });
});

test('statistics: five numbers, by hand', () => {
  // t(0.975; 4) = 2.776445105, sd = sqrt(2.5), half = t * sd / sqrt(5).
  const { n, mean, sd, low, high } = statisticsOf([1, 2, 3, 4, 5]);
  expect([n, mean, sd]).toEqual([5, 3, 1.58113883]);
  expect([low, high]).toEqual([1.03675684, 4.96324316]);
});

test.each([
  // Quantiles of t at 0.975, NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
  [1, 12.706],
  [2, 4.303],
  [9, 2.262],
  [29, 2.045],
  [99, 1.984],
])('statistics: the interval at %i degrees of freedom is that of the tables', (freedom, t) => {
  const n = freedom + 1;
  // Half of them 0, half 1, or one over: the half width divided by the standard error is t.
  const { mean, sd, high } = statisticsOf(Array.from({ length: n }, (_, index) => index % 2));
  expect(((high! - mean!) * Math.sqrt(n)) / sd!).toBeCloseTo(t, 3);
});

test('statistics: numbers that are large and alike lose no digits', () => {
  const { mean, sd } = statisticsOf([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]);
  expect([mean, sd]).toEqual([1_000_000_010, 5.47722558]);
});

test('statistics: as the sums over all numbers say, in whatever order', () => {
  const numbers = fc.array(fc.integer({ min: -1e6, max: 1e6 }), { minLength: 2, maxLength: 50 });
  fc.assert(
    fc.property(numbers, (values) => {
      const mean = values.reduce((sum, value) => sum + value) / values.length;
      const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      const sd = Math.sqrt(squares / (values.length - 1));
      const found = statisticsOf(values);
      expect(Math.abs(found.mean! - mean)).toBeLessThanOrEqual(1e-8 * Math.abs(mean) + 1e-6);
      expect(Math.abs(found.sd! - sd)).toBeLessThanOrEqual(1e-8 * sd + 1e-6);
      expect(found.low!).toBeLessThanOrEqual(found.mean!);
      expect(found.high!).toBeGreaterThanOrEqual(found.mean!);
    }),
  );
});
