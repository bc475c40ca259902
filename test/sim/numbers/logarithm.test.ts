/** Logarithm, exponential and quantiles with the same bits on every machine. */
import { createHash } from 'node:crypto';
import { exp, ln, normalQuantile } from '../../../dist/sim/numbers.js';
import { Streams } from '../../../dist/sim/rng.js';

const rng = new Streams('numbers').of('world', 'points');
const count = 20_000;
/** Numbers of all magnitudes, including the smallest and those near 1. */
const sizes = Array.from({ length: count }, () => (1 + rng.real()) * 2 ** (rng.int(2_098) - 1_074));
const nearOne = Array.from({ length: count }, () => 1 + rng.normal() / 2 ** rng.int(50));
const exponents = Array.from({ length: count }, () => 1_454 * rng.real() - 745);

function ulp(value: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  view.setBigUint64(0, view.getBigUint64(0) + 1n);
  return view.getFloat64(0) - Math.abs(value);
}

/** Largest error in units in the last place. */
const worst = (points: number[], ours: (x: number) => number, theirs: (x: number) => number) =>
  points.reduce((most, x) => Math.max(most, Math.abs(ours(x) - theirs(x)) / ulp(theirs(x))), 0);

/** Hash over the bits of all values; different rounding gives a different hash. */
const bitsOf = (points: number[], of: (x: number) => number) =>
  createHash('sha256').update(Float64Array.from(points, of)).digest('hex').slice(0, 16);

test('ln: is within two units in the last place of Math.log', () => {
  expect(
    worst(
      [...sizes, ...nearOne].filter((x) => x > 0),
      ln,
      Math.log,
    ),
  ).toBeLessThanOrEqual(2);
});

test.each([
  [1, 0],
  [2, Math.LN2],
  [10, Math.LN10],
  [0.5, -Math.LN2],
  [Number.MIN_VALUE, -744.4400719213812],
  [Number.MAX_VALUE, 709.782712893384],
  [0, Number.NEGATIVE_INFINITY],
  [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  [-1, Number.NaN],
  [Number.NaN, Number.NaN],
])('ln: of %d is %d', (x, expected) => {
  expect(ln(x)).toBe(expected);
});

test('ln: has the same bits everywhere', () => {
  expect(bitsOf([...sizes, ...nearOne], ln)).toBe('bf24aa2ac748eec4');
});

test('exp: is within two units in the last place of Math.exp', () => {
  expect(worst([...exponents, ...nearOne], exp, Math.exp)).toBeLessThanOrEqual(2);
});

test.each([
  [0, 1],
  [2, 7.38905609893065],
  [-1, 0.36787944117144233],
  [710, Number.POSITIVE_INFINITY],
  [-746, 0],
  [Number.NEGATIVE_INFINITY, 0],
  [Number.NaN, Number.NaN],
])('exp: of %d is %d', (x, expected) => {
  expect(exp(x)).toBe(expected);
});

test('exp: has the same bits everywhere', () => {
  expect(bitsOf([...exponents, ...nearOne], exp)).toBe('23568ca6a837b5ae');
});

// The first three values are published with AS 241; the others are in every table.
test.each([
  [0.25, -0.6744897501960817],
  [0.001, -3.090232306167813],
  [1e-20, -9.262340089798409],
  [0.5, 0],
  [0.95, 1.6448536269514722],
  [0.975, 1.959963984540054],
  [0.995, 2.5758293035489004],
])('normalQuantile: at %d is %d', (p, expected) => {
  expect(Math.abs(normalQuantile(p) - expected)).toBeLessThanOrEqual(1e-14 * Math.abs(expected));
});

test('normalQuantile: increases, is symmetric, and is infinite at the ends', () => {
  const values = Array.from({ length: 4_095 }, (_, at) => (at + 1) / 4_096).map(normalQuantile);
  expect(values.every((value, at) => at === 0 || value > values[at - 1]!)).toBe(true);
  for (const [at, value] of values.entries()) expect(value + values[4_094 - at]!).toBe(0);
  expect([0, 1, 2].map(normalQuantile)).toEqual([-Infinity, Infinity, Number.NaN]);
});

test('normalQuantile: has the same bits everywhere', () => {
  expect(
    bitsOf(
      sizes.map((x) => x / (1 + x)).filter((p) => p < 1),
      normalQuantile,
    ),
  ).toBe('2652e2cdab18a4ee');
});
