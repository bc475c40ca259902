/** Sobol's sequence against independent implementations. */
import { Streams } from '../../../dist/sim/rng.js';
import { MOST_DIMENSIONS, sobolPoints } from '../../../dist/sim/sweep/design.js';

test.each([
  // scipy 1.17.1: qmc.Sobol(20, scramble=False, bits=32), which also uses the numbers of Joe and
  // Kuo. Each coordinate is multiplied by 2^32, in hexadecimal digits without trailing zeros.
  [1, '8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8'],
  [2, 'c 4 4 4 c c 4 c c c c c 4 4 c 4 c 4 c 4'],
  [3, '4 c c c 4 4 c 4 4 4 4 4 c c 4 c 4 c 4 c'],
  [5, 'e e 2 6 e a e 6 6 2 6 e e 2 e 6 e 6 6 a'],
  [21, 'f8 98 58 c8 a8 58 68 b8 18 08 78 88 48 88 b8 68 28 f8 a8 a8'],
  [63, '04 cc 5c 74 dc 24 94 24 d4 94 6c ac 8c c4 54 c4 14 64 f4 3c'],
])('sequence: has point %i of scipy in 20 dimensions', (index, expected) => {
  expect(MOST_DIMENSIONS).toBe(20);
  const bits = sobolPoints(MOST_DIMENSIONS)(index).map((place) => place * 2 ** 32);
  const shown = bits.map((one) => one.toString(16).padStart(8, '0').replace(/0+$/, '') || '0');
  expect(shown.join(' ')).toBe(expected);
});

test('sequence: has the first points in three dimensions of Bratley and Fox (1988)', () => {
  expect([0, 1, 2, 3].map(sobolPoints(3))).toEqual([
    [0, 0, 0],
    [0.5, 0.5, 0.5],
    [0.75, 0.25, 0.25],
    [0.25, 0.75, 0.75],
  ]);
});

test('sequence: puts each of 2^12 points in a separate stratum, shifted or not', () => {
  for (const rng of [undefined, new Streams('1').of('world', 'sobol')]) {
    const pointOf = sobolPoints(MOST_DIMENSIONS, rng);
    const points = Array.from({ length: 4_096 }, (_, index) => pointOf(index));
    for (let dimension = 0; dimension < MOST_DIMENSIONS; dimension += 1) {
      const strata = new Set(points.map((point) => Math.floor(point[dimension]! * 4_096)));
      expect(strata.size).toBe(4_096);
    }
  }
});

test('sequence: fills the square of two adjacent dimensions evenly', () => {
  const pointOf = sobolPoints(2);
  const boxes = new Set(
    Array.from({ length: 1_024 }, (_, index) => {
      const [x, y] = pointOf(index) as [number, number];
      return `${Math.floor(x * 32)} ${Math.floor(y * 32)}`;
    }),
  );
  expect(boxes.size).toBe(1_024);
});
